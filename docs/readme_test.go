package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The README's commands are run as they stand, each block in one shell, on a
// machine whose HOME is empty: the first time it has no agent, then the one or the
// other. The agents are fakes that speak the real wire formats.

const arbiterAsked = "You are the arbiter"

// obliging is the scenario of a signed-in agent that does what the starter asks.
const obliging = `
runs:
  - match: "` + arbiterAsked + `"
    steps: [{verdict: {}}]
  - match: "Write CONTRIBUTING.md"
    steps:
      - write: {path: CONTRIBUTING.md, content: "make\n"}
      - answer: written from what the scouts found
  - steps: [{answer: "make, says Makefile"}]
`

func TestReadmeCommandsWorkAsTheyStand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and installs both programs")
	}
	m := newMachine(t)
	clone := m.session(m.root, m.path)
	clone.run(t, blocks(t, "clone"), allWell)
	installed := filepath.Join(m.home, "go", "bin")
	t.Run("spec", func(t *testing.T) { validSpecs(t, m, installed) })
	fake := m.buildFake(t)
	for _, tc := range []struct {
		name     string
		clis     []string
		scenario string
		accept   func(t *testing.T, r result)
	}{
		{"no agent", nil, "", blockedWithAWayOn},
		{"only claude", []string{"claude"}, obliging, allWell},
		{"only codex", []string{"codex"}, obliging, allWell},
		{"both", []string{"claude", "codex"}, obliging, allWell},
		{"claude signed out", []string{"claude"}, "signed_out: true", blockedWithAWayOn},
		{"codex signed out", []string{"codex"}, "signed_out: true", blockedWithAWayOn},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			fresh := m.withHome(t)
			s := fresh.session(fresh.repository(t), installed+":"+fake.as(t, tc.clis, tc.scenario)+":"+m.path)
			s.run(t, blocks(t, "repository"), tc.accept)
		})
	}
}

// validSpecs: a spec that the README shows is one that orchestrate takes.
func validSpecs(t *testing.T, m machine, installed string) {
	specs := fences(t, "yaml")
	if len(specs) == 0 {
		t.Fatal("the README shows no spec")
	}
	for _, text := range specs {
		dir := m.repository(t)
		if err := os.WriteFile(filepath.Join(dir, "jobs.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code := m.session(dir, installed+":"+m.path).sh(t, "orchestrate plan jobs.yaml")
		if code != 3 { // there is no agent on this machine
			t.Errorf("exit status %d for:\n%s\n%s", code, text, out)
		}
	}
}

// result is one command of a block and how it ended.
type result struct {
	command, out string
	code         int
}

func allWell(t *testing.T, r result) {
	t.Helper()
	if r.code != 0 {
		t.Errorf("%s: exit status %d\n%s", r.command, r.code, r.out)
	}
	if strings.HasPrefix(r.command, "orchestrate run") && !strings.Contains(r.out, "- Arbiter: pass\n") {
		t.Errorf("%s: no verdict pass:\n%s", r.command, r.out)
	}
}

var (
	blocked = regexp.MustCompile(`(?im)^\s*blocked\W|^needs a person: job \S+ is blocked\W|^\S+ is un(available|verified):`)
	wayOn   = regexp.MustCompile(`(?im)^\s*next\b|\bNext: \S`)
)

// blockedWithAWayOn: what needs an agent may be blocked, but never without a next
// step for each block; all else works.
func blockedWithAWayOn(t *testing.T, r result) {
	t.Helper()
	want := 0
	switch verb := strings.Fields(r.command + " -")[1]; {
	case !strings.HasPrefix(r.command, "orchestrate "):
	case verb == "run", verb == "plan", verb == "wait":
		want = 3
	case verb == "doctor":
		want = 1
	}
	if r.code != want {
		t.Errorf("%s: exit status %d, want %d\n%s", r.command, r.code, want, r.out)
	}
	if want == 0 {
		return
	}
	blocks, ways := len(blocked.FindAllString(r.out, -1)), len(wayOn.FindAllString(r.out, -1))
	if blocks == 0 || ways < blocks {
		t.Errorf("%s: %d blocks, %d next steps:\n%s", r.command, blocks, ways, r.out)
	}
}

// blocks are the README's shell blocks that are marked for a place.
func blocks(t *testing.T, place string) (all []string) {
	t.Helper()
	marked := regexp.MustCompile("(?s)<!-- test: " + place + " -->\n```sh\n(.*?)```")
	for _, m := range marked.FindAllStringSubmatch(read(t, "../README.md"), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Fatalf("the README has no block for %q", place)
	}
	return all
}

// TestEveryShellBlockIsTested: a block without a mark would be run by nobody.
func TestEveryShellBlockIsTested(t *testing.T) {
	marked := len(blocks(t, "clone")) + len(blocks(t, "repository"))
	if n := len(fences(t, "sh")); n != marked {
		t.Errorf("the README has %d sh blocks, %d of them marked for the test", n, marked)
	}
}

// fences are the README's fenced blocks in a language.
func fences(t *testing.T, language string) (all []string) {
	t.Helper()
	fenced := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```")
	for _, m := range fenced.FindAllStringSubmatch(read(t, "../README.md"), -1) {
		all = append(all, m[1])
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// machine is a computer on which nobody has done anything yet.
type machine struct {
	root string   // of this module
	home string   // empty at first
	tmp  string   // all temporary files of what it runs
	path string   // PATH without any agent
	env  []string // beside HOME, TMPDIR and PATH
}

func newMachine(t *testing.T) machine {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	m := machine{root: root, path: pathWithoutAgents(t)}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		if value := strings.TrimSpace(string(out)); value != "" {
			m.env = append(m.env, name+"="+value)
		}
	}
	m.env = append(m.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	return m.withHome(t)
}

func (m machine) withHome(t *testing.T) machine {
	t.Helper()
	m.home, m.tmp = t.TempDir(), t.TempDir()
	return m
}

// pathWithoutAgents is PATH; a folder with an agent in it is replaced by one with
// links to everything else.
func pathWithoutAgents(t *testing.T) string {
	t.Helper()
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if there(filepath.Join(dir, "claude")) || there(filepath.Join(dir, "codex")) {
			dir = withoutAgents(t, dir)
		}
		dirs = append(dirs, dir)
	}
	return strings.Join(dirs, ":")
}

func withoutAgents(t *testing.T, dir string) string {
	t.Helper()
	links := t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "claude" || e.Name() == "codex" {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(links, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return links
}

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

// repository makes a repository with one commit.
func (m machine) repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := m.session(dir, m.path)
	if out, code := s.sh(t, "git init -q && git -c user.name=t -c user.email=t@example.invalid commit -q --allow-empty -m start"); code != 0 {
		t.Fatal(out)
	}
	return dir
}

func (m machine) goBuild(t *testing.T, out, pkg string) {
	t.Helper()
	s := m.session(m.root, m.path)
	if text, code := s.sh(t, "go build -o '"+out+"' "+pkg); code != 0 {
		t.Fatal(text)
	}
}

// fakes is the executable that can be any agent.
type fakes struct{ exe string }

func (m machine) buildFake(t *testing.T) fakes {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "fakecli")
	m.goBuild(t, exe, "./internal/runtime/fakecli/cmd/fakecli")
	return fakes{exe}
}

// as makes a folder in which the fake goes by the given names.
func (f fakes) as(t *testing.T, names []string, scenario string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.Link(f.exe, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "fakecli.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// session is a person's terminal: blocks are typed into one shell after another,
// in the same folder.
type session struct {
	dir string
	env []string
}

func (m machine) session(dir, path string) session {
	return session{dir: dir, env: append([]string{"HOME=" + m.home, "TMPDIR=" + m.tmp, "PATH=" + path}, m.env...)}
}

// mark separates the commands of a block in its output.
const mark = "@@ ended with "

// run types the lines of each block and holds every command against accept.
func (s session) run(t *testing.T, blocks []string, accept func(*testing.T, result)) {
	t.Helper()
	for _, block := range blocks {
		var typed strings.Builder
		lines := strings.Split(strings.TrimSpace(block), "\n")
		for _, line := range lines {
			typed.WriteString(line + "\nprintf '\\n" + mark + "%s\\n' \"$?\"\n")
		}
		out, _ := s.sh(t, typed.String())
		parts := strings.Split(out, mark)
		if len(parts) != len(lines)+1 {
			t.Fatalf("the shell ended early:\n%s", out)
		}
		for i, line := range lines {
			code, _ := ended(parts[i+1])
			_, printed := ended(parts[i])
			accept(t, result{command: line, out: printed, code: code})
		}
	}
}

// ended splits what follows a mark into the exit status and the output of the next
// command.
func ended(after string) (code int, rest string) {
	number, rest, _ := strings.Cut(after, "\n")
	code, err := strconv.Atoi(number)
	if err != nil {
		return -1, after // before the first mark
	}
	return code, rest
}

// sh runs a script and returns all it printed, and its exit status.
func (s session) sh(t *testing.T, script string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
