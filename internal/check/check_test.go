package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// fakeRunner answers by the first word of the command.
type fakeRunner struct {
	answers map[string]Result
	ran     []Command
	during  func()
}

func (f *fakeRunner) Run(_ context.Context, c Command) (Result, error) {
	f.ran = append(f.ran, c)
	if f.during != nil {
		f.during()
	}
	r, ok := f.answers[c.Argv[len(c.Argv)-1]]
	if !ok {
		return Result{}, errors.New("the supervisor is gone")
	}
	return r, nil
}

func exit(n int) *int { return &n }

func TestRunRecordsEveryCheck(t *testing.T) {
	dir := t.TempDir()
	runner := &fakeRunner{answers: map[string]Result{
		"good": {ExitCode: exit(0), Duration: 1500 * time.Millisecond}, "bad": {ExitCode: exit(3)}, "slow": {TimedOut: true},
		"absent": {SpawnError: "no such file"}, "killed": {},
	}}
	recorded := map[string]string{}
	checks := []spec.Check{
		{Shell: "good", Timeout: time.Minute},
		{Name: "unit", Run: []string{"go", "bad"}},
		{Shell: "slow", Timeout: time.Second},
		{Shell: "absent"},
		{Shell: "killed"},
		{Shell: "lost"},
		{Assert: "it reads well"},
		{Name: "s1", Shell: "rm -rf /"},
		{Name: "s2", Shell: "x"},
	}
	got, err := Run(context.Background(), checks, Env{
		Runner: runner, Job: "fix", Dir: "/tree", RunDir: dir, Environ: []string{"A=b"},
		Scripted: map[string]bool{"s1": true, "s2": false},
		Redact:   func(s string) string { return s },
		Record: func(rel string, r ledger.CheckResult) error {
			recorded[rel] = r.Status
			return nil
		},
	})
	if err == nil {
		t.Error("a check that cannot be started gives no error")
	}
	want := []string{Passed, Failed, TimedOut, NotRun, Failed, NotRun, ForArbiter, Scripted, Failed}
	var statuses []string
	for _, c := range got {
		statuses = append(statuses, c.Status)
	}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Error(diff)
	}
	if len(recorded) != len(checks) || recorded["fix/checks/2.json"] != Failed {
		t.Errorf("recorded: %v", recorded)
	}
	if got[1].Name != "unit" || got[0].Name != "check-1" || got[1].Command != "go bad" || got[0].DurationMs != 1500 || *got[1].ExitCode != 3 {
		t.Errorf("results: %+v", got[:2])
	}
	if len(runner.ran) != 6 {
		t.Fatalf("%d checks ran, want 6: scripted ones and assertions do not", len(runner.ran))
	}
	first := runner.ran[0]
	if diff := cmp.Diff(Command{
		Job: "fix", Argv: []string{"sh", "-c", "good"}, Dir: "/tree", Timeout: time.Minute, Env: []string{"A=b"},
		Stdout: filepath.Join(dir, "fix", "checks", "1.out"), Stderr: filepath.Join(dir, "fix", "checks", "1.err"),
	}, first); diff != "" {
		t.Error(diff)
	}
	for i, ok := range []bool{true, false, false, false, false, false, true, true, false} {
		if OK(got[i]) != ok {
			t.Errorf("OK(%s) = %v", got[i].Status, !ok)
		}
	}
}

// TestSetUpEndsAtItsFirstFailure, and is kept apart from the checks.
func TestSetUpEndsAtItsFirstFailure(t *testing.T) {
	dir := t.TempDir()
	runner := &fakeRunner{answers: map[string]Result{"good": {ExitCode: exit(0)}, "bad": {ExitCode: exit(3)}}}
	var recorded []string
	got, err := Run(context.Background(), []spec.Check{{Shell: "good"}, {Shell: "bad"}, {Shell: "good"}}, Env{
		Runner: runner, Job: "fix", Dir: "/tree", RunDir: dir, Setup: true,
		Record: func(rel string, _ ledger.CheckResult) error {
			recorded = append(recorded, rel)
			return nil
		},
	})
	if err != nil || len(got) != 2 || got[1].Status != Failed || got[1].Output != "fix/setup/2.out" {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"fix/setup/1.json", "fix/setup/2.json"}, recorded); diff != "" {
		t.Error(diff)
	}
	if len(runner.ran) != 2 || runner.ran[1].Stderr != filepath.Join(dir, "fix", "setup", "2.err") {
		t.Errorf("%+v", runner.ran)
	}
	_, err = Run(context.Background(), []spec.Check{{Name: "deps", Shell: "lost"}}, Env{
		Runner: runner, Job: "fix", RunDir: dir, Setup: true, Record: func(string, ledger.CheckResult) error { return nil },
	})
	if err == nil || !strings.Contains(err.Error(), "set-up command deps of fix") {
		t.Errorf("%v", err)
	}
}

func TestCancelledChecksAreNotFailures(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	runner := &fakeRunner{answers: map[string]Result{"a": {}}, during: cancel}
	got, err := Run(ctx, []spec.Check{{Shell: "a"}, {Shell: "b"}}, Env{
		Runner: runner, Job: "j", RunDir: t.TempDir(), Record: func(string, ledger.CheckResult) error { return nil },
	})
	if err != nil || got[0].Status != NotRun || got[1].Status != NotRun || len(runner.ran) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestShownCommandCanBePasted(t *testing.T) {
	got := Shown(spec.Check{Run: []string{"go", "test", "./...", "-run", "A B", "it's", ""}})
	if want := `go test ./... -run 'A B' 'it'\''s' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOwnership(t *testing.T) {
	for _, c := range []struct {
		name         string
		owned        []string
		cwd          string
		changed, out []string
	}{
		{"nothing said owns the cwd", nil, ".", []string{"a", "b/c"}, nil},
		{"nothing said, in a folder", nil, "pkg", []string{"pkg/a", "pkgs/b", "c"}, []string{"pkgs/b", "c"}},
		{"deep pattern", []string{"src/session/**"}, ".", []string{"src/session/a/b.go", "src/other.go"}, []string{"src/other.go"}},
		{"one level", []string{"*.md"}, ".", []string{"a.md", "docs/a.md"}, []string{"docs/a.md"}},
		{"plain folder name", []string{"src/session"}, ".", []string{"src/session/x", "src/sessions"}, []string{"src/sessions"}},
		{"with a slash at its end", []string{"./src/"}, ".", []string{"src/x"}, nil},
		{"plain file", []string{"go.mod"}, ".", []string{"go.mod", "go.sum"}, []string{"go.sum"}},
		{"relative to the cwd", []string{"a/**"}, "pkg [1]", []string{"pkg [1]/a/x", "a/x"}, []string{"a/x"}},
		{"odd names", []string{"ünï */**"}, ".", []string{"ünï \"q\"/a\nb"}, nil},
		{"not well formed", []string{"a[", "b"}, ".", []string{"a[", "b"}, []string{"a["}},
		{"the whole cwd", []string{"."}, ".", []string{"x/y"}, nil},
	} {
		if diff := cmp.Diff(c.out, Ownership(c.owned, c.cwd, c.changed)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func folder(dir string) func() (*os.Root, error) {
	return func() (*os.Root, error) { return os.OpenRoot(dir) }
}

func TestOutputs(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put := func(base, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(dir, "report.md", "abc")
	put(dir, "sub/ünï \"q\".txt", "abc")
	put(dir, "empty", "")
	put(outside, "stolen", "secret")
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	declared := []spec.Output{
		{Path: "report.md", SHA256: "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"},
		{Path: "sub/ünï \"q\".txt", SHA256: "00"},
		{Path: "empty"},
		{Path: "missing"},
		{Path: "sub"},
		{Path: "../x"},
	}
	rules := []Problem{
		{Path: "sub/ünï \"q\".txt", Rule: OutputHash},
		{Path: "empty", Rule: OutputMissing},
		{Path: "missing", Rule: OutputMissing},
		{Path: "sub", Rule: OutputMissing},
		{Path: "../x", Rule: OutputMissing},
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{"link", "dirlink"} {
			target := map[string]string{"link": filepath.Join(outside, "stolen"), "dirlink": outside}[name]
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("report.md", filepath.Join(dir, "inner")); err != nil {
			t.Fatal(err)
		}
		declared = append(declared, spec.Output{Path: "link"}, spec.Output{Path: "dirlink/stolen"}, spec.Output{Path: "inner", SHA256: abc})
		rules = append(rules, Problem{Path: "link", Rule: OutputMissing}, Problem{Path: "dirlink/stolen", Rule: OutputMissing})
	}
	found, problems := Outputs(declared, folder(dir), "tree")
	for i := range problems {
		if problems[i].Detail == "" {
			t.Errorf("%s: no detail", problems[i].Path)
		}
		problems[i].Detail = ""
	}
	if diff := cmp.Diff(rules, problems); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ledger.Artifact{Path: "report.md", SHA256: abc, Bytes: 3, Source: "tree"}, found[0]); diff != "" {
		t.Error(diff)
	}
	if _, problems := Outputs(declared[:2], folder(filepath.Join(dir, "nowhere")), "tree"); len(problems) != 2 {
		t.Errorf("outputs of a folder that is not there: %v", problems)
	}
}
