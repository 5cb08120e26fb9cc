//go:build linux

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// holds demands that the last run's report.md can be relied on: each file that it names
// is where it says, each branch there, and each of its commands works when pasted at
// the workspace root: `holds [ROOT [TOP]]`, where ROOT is the workspace root and TOP the
// repository's; both are the current folder if not named. What changes anything is done
// in copies, except for taking over the work, which is last.
func holds(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, 2, "holds [ROOT [TOP]]")
	args = append(args, []string{".", "."}[min(len(args), 2):]...)
	p := printed{ts: ts, run: ts.Getenv("RUN"), root: ts.MkAbs(args[0]), top: ts.MkAbs(args[1])}
	p.text = ts.ReadFile(filepath.Join(p.run, "report.md"))
	p.report = document(ts, filepath.Join(p.run, "report.json"))
	p.read()
	if p.files == 0 || len(p.blocks) == 0 {
		ts.Fatalf("%d files, %d commands in report.md", p.files, len(p.blocks))
	}
	p.paste()
}

// printed is a report that is held against what is there.
type printed struct {
	ts             *testscript.TestScript
	run, root, top string
	text           string
	report         map[string]any
	files          int
	blocks         []string
}

var (
	span        = regexp.MustCompile("`` (.+?) ``|`([^`]+)`")
	backslashed = regexp.MustCompile(`\\([^\w\s])`)
	tiers       = regexp.MustCompile(`^(C[1-3]/)?R[0-3]$`)
	citation    = regexp.MustCompile(`^(file|artifact|command|commit) `)
	fileName    = regexp.MustCompile(`/|\.(md|json|jsonl|txt|patch|out|err)$`)
	bare        = regexp.MustCompile(`[\w@+.-]+(/[\w@+.-]+)+`)
)

// said are the columns of tables that hold words of others, which may look like files.
var said = []string{"command", "error", "reason", "check", "assertion", "why", "why this runtime", "answer", "question", "evidence", "model", "agent"}

// read walks the lines.
func (p *printed) read() {
	fence, block, head := "", "", []string(nil)
	for _, line := range strings.Split(p.text, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence, block = line, ""
		case fence != "" && line == strings.TrimRight(fence, "abcdefghijklmnopqrstuvwxyz"):
			if strings.HasSuffix(fence, "`sh") {
				p.blocks = append(p.blocks, strings.TrimSuffix(block, "\n"))
			}
			fence = ""
		case fence != "":
			block += line + "\n"
		case strings.HasPrefix(line, "|"):
			head = p.row(line, head)
		default:
			head = nil
			p.line(line)
		}
	}
}

// row looks at those cells of a table that are the engine's own.
func (p *printed) row(line string, head []string) []string {
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	if head == nil {
		return cells
	}
	for i, c := range cells {
		if i < len(head) && !slices.Contains(said, strings.TrimSpace(head[i])) {
			p.line(c)
		}
	}
	return head
}

func (p *printed) line(line string) {
	for _, at := range span.FindAllStringSubmatchIndex(line, -1) {
		text := span.FindStringSubmatch(line[at[0]:at[1]])
		name := text[1] + text[2]
		switch {
		case strings.HasSuffix(line[:at[0]], "branch "):
			p.must(exec.Command("git", "-C", p.top, "rev-parse", "--verify", "-q", "refs/heads/"+name).Run(), "branch", name, line)
		case strings.HasPrefix(name, "orchestrate "), tiers.MatchString(name), citation.MatchString(name), !fileName.MatchString(name):
		default:
			p.must(p.there(name), "file", name, line)
			p.files++
		}
	}
	for _, word := range bare.FindAllString(backslashed.ReplaceAllString(span.ReplaceAllString(line, ""), "$1"), -1) {
		word = strings.TrimRight(word, ".")
		if job, _, _ := strings.Cut(word, "/"); p.isJob(job) {
			p.must(p.there(word), "file", word, line)
			p.files++
		}
	}
}

func (p *printed) isJob(name string) bool {
	_, err := os.Stat(filepath.Join(p.run, name, "status.json"))
	return err == nil
}

// there finds a file as the report says that it is named.
func (p *printed) there(name string) error {
	places := []string{name}
	if !filepath.IsAbs(name) {
		places = []string{filepath.Join(p.run, name), filepath.Join(p.root, name)}
	}
	var errs []error
	for _, place := range places {
		_, err := os.Stat(place)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (p *printed) must(err error, what, name, where string) {
	if err != nil {
		p.ts.Fatalf("report.md names the %s %q, which is not there (%v): %s", what, name, err, where)
	}
}

// paste carries out the commands in their order.
func (p *printed) paste() {
	patched, again := p.copied("patched"), p.copied("again")
	var last []string
	for _, block := range p.blocks {
		switch {
		case strings.HasPrefix(block, "orchestrate integrate "):
			last = append(last, block)
		case strings.HasPrefix(block, "orchestrate "):
			want := []any{p.report["exitStatus"]}
			if given, _ := p.report["approvals"].([]any); len(given) > 0 {
				want = append(want, 3) // an approval counts once: a person is asked again
			}
			p.pasted(again, block, want...)
		case strings.HasPrefix(block, "git "):
			p.pasted(patched, block, 0)
		default:
			p.pasted(p.root, block, p.exits(block)...)
		}
	}
	for _, block := range last {
		p.pasted(p.root, block, 0)
	}
}

// copied is the workspace root in a copy of the repository.
func (p *printed) copied(name string) string {
	to := filepath.Join(p.ts.Getenv("WORK"), "."+name+" it's a copy")
	p.ts.Check(os.RemoveAll(to))
	p.ts.Check(p.ts.Exec("cp", "-a", p.top, to))
	rel, err := filepath.Rel(p.top, p.root)
	p.ts.Check(err)
	return filepath.Join(to, rel)
}

// exits are the statuses with which a job's command ended in the run.
func (p *printed) exits(command string) (all []any) {
	reproduce, _ := p.report["reproduce"].([]any)
	jobs, _ := p.report["jobs"].([]any)
	for _, c := range reproduce {
		c, _ := c.(map[string]any)
		if c["command"] != command {
			continue
		}
		for _, j := range jobs {
			status, _ := j.(map[string]any)["status"].(map[string]any)
			if status["id"] == c["job"] {
				all = append(all, status["exitCode"])
			}
		}
	}
	if all == nil {
		p.ts.Fatalf("report.json does not have the command %s", command)
	}
	return all
}

func (p *printed) pasted(dir, block string, want ...any) {
	cmd := exec.Command("sh", "-c", block)
	cmd.Dir = dir
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "WORK", "GIT_CONFIG_NOSYSTEM", "GORACE", "DEPLOY_TOKEN"} {
		cmd.Env = append(cmd.Env, name+"="+p.ts.Getenv(name))
	}
	out, err := cmd.CombinedOutput()
	status := fmt.Sprint(cmd.ProcessState.ExitCode())
	neverRan := slices.Contains(want, nil) && status != "127"
	if !neverRan && !slices.ContainsFunc(want, func(w any) bool { return fmt.Sprint(w) == status }) {
		p.ts.Fatalf("in %s:\n%s\nended with %s (%v), want %v:\n%s", dir, block, status, err, want, out)
	}
}
