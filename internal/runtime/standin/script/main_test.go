package script

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/standin"
	"orchestrate/internal/untrusted"
)

// played is what one run of the program left.
type played struct {
	code   int
	stderr string
	out    runtime.Outcome
	events []runtime.Event
}

// play runs the program in dir with a script (none when empty), as the supervisor
// would see it.
func play(t *testing.T, dir, script string, args ...string) played {
	t.Helper()
	return playWith(t, dir, "the prompt", script, args...)
}

// playWith is play with a prompt of its own.
func playWith(t *testing.T, dir, prompt, script string, args ...string) played {
	t.Helper()
	t.Chdir(dir)
	if script != "" {
		file := filepath.Join(t.TempDir(), "script.yaml")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--script="+file)
	}
	var stdout, stderr bytes.Buffer
	code := Main(args, strings.NewReader(prompt), &stdout, &stderr)
	d := standin.NewDecoder(runtime.DecoderSpec{})
	p := played{code: code, stderr: stderr.String()}
	for line := range bytes.Lines(stdout.Bytes()) {
		p.events = append(p.events, d.Stdout(bytes.TrimSuffix(line, []byte("\n")))...)
	}
	p.out = d.Outcome()
	return p
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestScriptedSteps(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	p := play(t, dir, `
version: 1
jobs:
  fix:
    - say: hello
    - model: some-model
    - write: {path: a/b.txt, content: "one\n"}
    - append: {path: a/b.txt, content: "two\n"}
    - read: a/b.txt
    - write: {path: gone, content: x}
    - delete: gone
    - write: {path: $ORCHESTRATE_OUT/report.md, content: r}
    - tool: {name: Bash, input: go test}
    - stderr: a warning
    - wait_for: a/b.txt
    - sleep: 1ms
    - usage: {input: 7}
    - attempt: 2
      say: only in the second attempt
    - answer: all done
`, "--job=fix", "--out="+out)
	if p.code != 0 || p.stderr != "a warning\n" {
		t.Fatalf("exit %d, stderr %q", p.code, p.stderr)
	}
	if got := content(t, filepath.Join(dir, "a/b.txt")); got != "one\ntwo\n" {
		t.Errorf("a/b.txt holds %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone")); !os.IsNotExist(err) {
		t.Errorf("gone is still there: %v", err)
	}
	if got := content(t, filepath.Join(out, "report.md")); got != "r" {
		t.Errorf("report.md holds %q", got)
	}
	if !p.out.Completed || p.out.ErrorFlag || p.out.Answer != untrusted.From("REHEARSAL: all done") || p.out.ObservedModel != "some-model" {
		t.Errorf("outcome %+v", p.out)
	}
	if p.out.SessionID != "rehearsal-fix-1" || p.out.Usage == nil || *p.out.Usage.InputTokens != 7 || p.out.Usage.CostUSD != nil {
		t.Errorf("outcome %+v", p.out)
	}
	for _, e := range p.events {
		if (e.Kind == runtime.EventText || e.Kind == runtime.EventAnswer) && !strings.HasPrefix(e.Text.Unshown(), standin.Mark) {
			t.Errorf("unmarked text: %+v", e)
		}
		if strings.Contains(e.Text.Unshown(), "second attempt") {
			t.Error("a step of attempt 2 was played in attempt 1")
		}
	}
}

func TestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		steps     string
		code      int
		completed bool
		flag      bool
		reason    runtime.Reason
		answer    string
	}{
		"well":               {"[answer: x]", 0, true, false, "", "REHEARSAL: x"},
		"well, exit 3":       {"[answer: x, exit: 3]", 3, true, false, "", "REHEARSAL: x"},
		"error flag":         {"[error: {reason: auth, text: t}]", 0, true, true, "auth", ""},
		"error flag, exit 1": {"[error: {reason: crash}, exit: 1]", 1, true, true, "crash", ""},
		"no completion":      {"[no_completion: true]", 0, false, false, "", ""},
		"empty answer":       {`[answer: ""]`, 0, true, false, "", ""},
		"denied and went on": {"[deny: {tool: Write, boundary: b}]", 0, true, false, "permission", "REHEARSAL: the job's answer"},
	} {
		t.Run(name, func(t *testing.T) {
			steps := strings.NewReplacer("[", "\n    - ", "}, ", "}\n    - ", "x, ", "x\n    - ", "]", "\n").Replace(c.steps)
			p := play(t, t.TempDir(), "version: 1\njobs:\n  j:"+steps, "--job=j")
			if p.code != c.code || p.out.Completed != c.completed || p.out.ErrorFlag != c.flag || p.out.Reason != c.reason || p.out.Answer != untrusted.From(c.answer) {
				t.Errorf("exit %d, outcome %+v, stderr %s", p.code, p.out, p.stderr)
			}
		})
	}
}

func TestAFaultyScriptPlaysNothing(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"unknown key":  {"version: 1\njobs: {j: [{shout: x}]}", "shout"},
		"two actions":  {"version: 1\njobs: {j: [{say: x, exit: 1}]}", "jobs.j[0]: a step has exactly one action; this one has 2"},
		"no action":    {"version: 1\njobs: {j: [{attempt: 1}]}", "this one has 0"},
		"two mistakes": {"version: 1\njobs: {a: [{exit: 300}], b: [{error: {text: t}}]}", "jobs.a[0]: exit is 300; allowed is 0 to 255\njobs.b[0]: error needs a reason"},
		"version":      {"version: 2\n", "version is 2"},
		"empty":        {"\n", "version is 0"},
		"check result": {"version: 1\nchecks: {j: {unit: maybe}}", `checks.j.unit is "maybe"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, t.TempDir(), c.script, "--job=j")
			if p.code != 2 || !strings.Contains(p.stderr, c.want) || p.out.Completed {
				t.Errorf("exit %d, completed %v, stderr %q; want %q", p.code, p.out.Completed, p.stderr, c.want)
			}
		})
	}
}

func TestAStepThatCannotBePlayedEndsWithoutCompletion(t *testing.T) {
	p := play(t, t.TempDir(), "version: 1\njobs: {j: [{delete: nothing}]}", "--job=j")
	if p.code != 1 || p.out.Completed || !strings.Contains(p.stderr, "step 0 of job j") {
		t.Errorf("exit %d, outcome %+v, stderr %q", p.code, p.out, p.stderr)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"--job=j", "extra"}, {"--no-such-flag"}, {"--job=j", "--script=/no/such/file"}} {
		if p := play(t, t.TempDir(), "", args...); p.code != 2 || p.stderr == "" || p.out.Completed {
			t.Errorf("%q: exit %d, stderr %q", args, p.code, p.stderr)
		}
	}
}

func TestPlainRehearsalOfAnObserver(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	p := play(t, dir, "", "--job=scout", "--task=scout", "--access=read", "--out="+out, "--output=r/report.md", "--expected=a map")
	if p.code != 0 || p.out.Answer != untrusted.From("REHEARSAL: a map") || !p.out.Completed {
		t.Errorf("exit %d, outcome %+v, stderr %s", p.code, p.out, p.stderr)
	}
	if got := content(t, filepath.Join(out, "r/report.md")); !strings.HasPrefix(got, standin.Mark) {
		t.Errorf("report.md holds %q", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the working folder holds %v (%v)", left, err)
	}
}

func TestPlainRehearsalOfAWriter(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no owned path":   {nil, "REHEARSAL-fix.md"},
		"a tree":          {[]string{"--owned=src/session/**", "--owned=other/**"}, "src/session/REHEARSAL-fix.md"},
		"one extension":   {[]string{"--owned=src/*.go"}, "src/_rehearsal-fix.go"},
		"a deep one":      {[]string{"--owned=src/**/*_test.go"}, "src/_rehearsal-fix_test.go"},
		"alternatives":    {[]string{"--owned={docs,src}/**"}, "docs/REHEARSAL-fix.md"},
		"a file":          {[]string{"--owned=docs/new.md"}, "docs/new.md"},
		"a folder":        {[]string{"--owned=have"}, "have/REHEARSAL-fix.md"},
		"declared output": {[]string{"--owned=src/**", "--output=src/out.txt"}, "src/out.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "have"), 0o700); err != nil {
				t.Fatal(err)
			}
			p := play(t, dir, "", append([]string{"--job=fix", "--task=implement", "--access=edit"}, c.args...)...)
			if p.code != 0 {
				t.Fatalf("exit %d, stderr %s", p.code, p.stderr)
			}
			var got []string
			err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					rel, _ := filepath.Rel(dir, path)
					got = append(got, filepath.ToSlash(rel))
				}
				return err
			})
			if err != nil || len(got) != 1 || got[0] != c.want {
				t.Errorf("wrote %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestPlainRehearsalChangesAFileThatIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	play(t, dir, "", "--job=fix", "--access=edit", "--owned=main.go")
	if got := content(t, filepath.Join(dir, "main.go")); got != "package main\n\n" {
		t.Errorf("main.go holds %q", got)
	}
}
