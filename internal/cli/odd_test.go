//go:build linux

package cli_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// odd is one kind of repository, and what becomes of a writer in a worktree of it.
type odd struct {
	name string
	make string // shell; makes the checkout in $C, which does not exist yet
	job  string // fields of the job beside id; "" = it changes f.txt and makes new.txt
	at   string // folder of the checkout that the run starts in
	by   string // program that runs it, "" = none
	// Either it works and its patch holds exactly these files, "" = f.txt new.txt …
	files string
	note  string // pattern of a note of plan; "" = none is asked for
	// … or plan refuses the job with a detail and a next step that match …
	refused, way string
	status       int // of that plan, 0 = 3
	// … or the attempt fails with evidence that matches.
	fails string
}

const ordinary = `command: [sh, -c, 'echo more >> f.txt; echo new > new.txt']`

func TestOddRepositories(t *testing.T) {
	page, err := os.ReadFile("../../docs/repositories.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range odds() {
		if !bytes.Contains(page, []byte("| "+o.name+" |")) {
			t.Errorf("docs/repositories.md has no row %q", o.name)
		}
	}
	rows := make([]string, len(odds()))
	t.Run("each", func(t *testing.T) {
		for i, o := range odds() {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				rows[i] = newOddity(t, o).tell()
			})
		}
	})
	t.Logf("the table:\n| repository | what happens | way out |\n| --- | --- | --- |\n%s", strings.Join(rows, "\n"))
}

// oddity is a repository that was made, and the spec that is run in it.
type oddity struct {
	*testing.T
	odd
	checkout, spec string
	env            []string
}

func newOddity(t *testing.T, o odd) *oddity {
	t.Helper()
	work := t.TempDir()
	h := &oddity{T: t, odd: o, checkout: filepath.Join(work, "checkout"), spec: filepath.Join(work, "jobs.yaml")}
	home := filepath.Join(work, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "XDG_")
	}), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "C="+h.checkout, "W="+work)
	h.sh(oddTools + o.make)
	if to, err := os.ReadFile(filepath.Join(work, "checkout-is")); err == nil {
		h.checkout = strings.TrimSuffix(string(to), "\n")
	}
	job := o.job
	if job == "" {
		job = ordinary
	}
	text := "version: 1\narbiter: {mode: checks-only}\ndefaults: {timeout: 1m, runtime: exec, effect: scoped-write, isolation: worktree, expected_output: x, checks: [\"true\"]}\njobs:\n  - {id: w, " + job + "}\n"
	if err := os.WriteFile(h.spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// oddTools are what the makers share: a person with a name, and a first commit.
const oddTools = `set -e
git config --global user.name "A Person"; git config --global user.email person@example.com
git config --global init.defaultBranch main; git config --global protocol.file.allow always
git config --global advice.detachedHead false
mark() { printf '#!/bin/sh\necho "$0" >> "%s/ran"\ncat\n' "$W" > "$1"; chmod +x "$1"; }
start() { git init -q "$@" "$C"; cd "$C"; echo one > f.txt; git add f.txt; git commit -qm start; }
lib() { git init -q "$W/lib"; (cd "$W/lib"; echo lib > l.txt; git add .; git commit -qm lib); }
`

func (h *oddity) sh(script string, env ...string) {
	h.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env, cmd.Dir = append(h.env[:len(h.env):len(h.env)], env...), filepath.Dir(h.spec)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("%v\n%s", err, out)
	}
}

// git asks the checkout as the person would.
func (h *oddity) git(args ...string) string {
	h.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env, cmd.Dir = h.env, h.checkout
	out, err := cmd.Output()
	if err != nil {
		h.Errorf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func (h *oddity) orchestrate(args ...string) (out string, status int) {
	h.Helper()
	words := append([]string{"orchestrate"}, args...)
	if h.by != "" {
		words = append([]string{h.by}, words...)
	}
	cmd := exec.Command(words[0], words[1:]...)
	var all bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.env, filepath.Join(h.checkout, h.at), &all, &all
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		h.Fatal(err)
	}
	return all.String(), cmd.ProcessState.ExitCode()
}

func (h *oddity) match(what, pattern, text string) string {
	h.Helper()
	found := regexp.MustCompile(pattern).FindString(text)
	if found == "" {
		h.Errorf("%s has no %q:\n%s", what, pattern, text)
	}
	return found
}

// tell plans and runs, holds what happens against what is wanted, and is the row of the
// table.
func (h *oddity) tell() string {
	before := h.state()
	planned, status := h.orchestrate("plan", h.spec)
	if h.refused != "" {
		if status != cmp.Or(h.status, 3) {
			h.Errorf("plan ended with %d:\n%s", status, planned)
		}
		return h.row("refused before dispatch: "+h.match("the plan", h.refused, planned), h.match("the plan", h.way, planned))
	}
	if status != 0 {
		h.Fatalf("plan ended with %d:\n%s", status, planned)
	}
	happens := "works"
	if h.note != "" {
		happens += "; plan says: " + h.match("the plan", h.note, planned)
	}
	ran, status := h.orchestrate("run", h.spec)
	if marks, err := os.ReadFile(h.marks()); err == nil {
		h.Errorf("programs of the repository ran:\n%s", marks)
	}
	if after := h.state(); after != before {
		h.Errorf("the status of the checkout was\n%s\nand is\n%s", before, after)
	}
	dir := regexp.MustCompile(`(?m)^run \S+ in (.+)$`).FindStringSubmatch(ran)
	if dir == nil {
		h.Fatalf("run ended with %d:\n%s", status, ran)
	}
	if h.fails != "" {
		if status != 1 {
			h.Errorf("run ended with %d", status)
		}
		return h.row("the attempt fails, its work is kept: "+h.match("the report", h.fails, h.read(dir[1], "report.md")), h.way)
	}
	if status != 0 {
		h.Fatalf("run ended with %d:\n%s\n%s", status, ran, h.read(dir[1], "report.md"))
	}
	h.holds(filepath.Join(dir[1], "w", "changes.patch"))
	if wrong := regexp.MustCompile(`(?m)^(dangling|notice).*\n`).ReplaceAllString(h.git("fsck", "--no-progress"), ""); wrong != "" {
		h.Errorf("git fsck: %s", wrong)
	}
	return h.row(happens, h.way)
}

// marks is where programs of the repository leave that they ran.
func (h *oddity) marks() string { return filepath.Join(filepath.Dir(h.spec), "ran") }

// state is what the person sees of the checkout. That the person's own git runs programs
// of the repository is forgotten.
func (h *oddity) state() string {
	h.Helper()
	if h.refused != "" {
		return ""
	}
	said := h.git("status", "--porcelain")
	if err := os.RemoveAll(h.marks()); err != nil {
		h.Error(err)
	}
	return said
}

func (h *oddity) read(dir, name string) string {
	h.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		h.Error(err)
	}
	return string(data)
}

// holds makes sure that a patch holds just what the job did, and that git takes it where
// the files of the checkout are those of the base.
func (h *oddity) holds(patch string) {
	h.Helper()
	want := h.files
	if want == "" {
		want = "f.txt new.txt"
	}
	cmd := exec.Command("git", "apply", "--numstat", "-z", patch)
	cmd.Env, cmd.Dir = h.env, filepath.Dir(h.spec)
	out, err := cmd.Output()
	if err != nil {
		h.Errorf("git apply --numstat: %v", err)
	}
	var names []string
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") { // added, deleted, name
		_, line, _ = strings.Cut(line, "\t")
		names = append(names, line[strings.IndexByte(line, '\t')+1:])
	}
	if got := strings.Join(names, " "); got != want {
		h.Errorf("the patch holds %q, want %q", got, want)
	}
	h.sh(`cd "`+"$CHECKOUT"+`"; export GIT_INDEX_FILE="$W/index" GIT_NO_REPLACE_OBJECTS=1; git read-tree HEAD; git apply --check --cached "$PATCH"`, "CHECKOUT="+h.checkout, "PATCH="+patch)
}

func (h *oddity) row(happens, way string) string {
	clean := strings.NewReplacer(h.checkout, "CHECKOUT", filepath.Dir(h.spec), "W", "|", `\|`, "\n", " ")
	return fmt.Sprintf("| %s | %s | %s |", h.name, clean.Replace(happens), clean.Replace(way))
}
