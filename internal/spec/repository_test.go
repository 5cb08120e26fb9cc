package spec

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// within reads a spec in a workspace whose repository says text.
func inRepository(t *testing.T, text, spec string) (*Spec, []Diagnostic, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"AGENTS.md": "Use tabs.", "jobs/jobs.yaml": spec} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, errs := Load(filepath.Join(root, "jobs", "jobs.yaml"), Options{
		Cwd: root, WorkspaceRoot: root,
		Repository: func(string) ([]byte, error) { return []byte(text), nil },
		Secrets: func(text string) []Secret {
			if i := strings.Index(text, "hush-hush"); i >= 0 {
				return []Secret{{Rule: "test", Line: 1 + strings.Count(text[:i], "\n"), Col: 1, Fingerprint: "f"}}
			}
			return nil
		},
	})
	return s, errs, root
}

const modest = `
version: 1
jobs:
  - {id: look, prompt: look}
  - {id: own, prompt: look, task: scout, timeout: 1m, expected_output: mine, approval: inherit}
  - {id: run, command: ["true"], effect: observe}
`

func TestARepositorySetsWhatIsHarmless(t *testing.T) {
	s, errs, root := inRepository(t, `# house rules
version: 1
defaults:
  timeout: 20m
  task: analysis
  expected_output: an answer
  effort: high
  instructions: [AGENTS.md]
  untrusted: true
  approval: require
  isolation: worktree
  importance: null
`, modest)
	if len(errs) > 0 {
		t.Fatal(Format(errs, nil))
	}
	look, own, run := s.Jobs[0], s.Jobs[1], s.Jobs[2]
	if look.Timeout != 20*time.Minute || look.Task != "analysis" || look.ExpectedOutput != "an answer" || look.Effort != "high" || !look.Untrusted || look.Approval != "require" || look.Isolation != "worktree" {
		t.Errorf("look is %+v", look)
	}
	if own.Timeout != time.Minute || own.Task != "scout" || own.ExpectedOutput != "mine" || own.Approval != "inherit" || own.Effort != "high" {
		t.Errorf("own is %+v: the spec comes first", own)
	}
	if run.Task != "mechanical" || run.Effort != "" || len(run.Instructions) > 0 || run.Timeout != 20*time.Minute {
		t.Errorf("run is %+v: a program has no task, effort or instructions", run)
	}
	if f := look.Instructions; len(f) != 1 || f[0].Path != "../AGENTS.md" || f[0].Text != "Use tabs." {
		t.Errorf("instructions %+v", f)
	}
	if want := []string{"timeout", "task", "expected_output", "effort", "instructions", "untrusted", "approval", "isolation"}; !slices.Equal(s.Repository.Sets, want) || s.Repository.Ignored != nil || s.Repository.Path != filepath.Join(root, RepositoryFile) {
		t.Errorf("repository %+v", s.Repository)
	}

	// What was resolved says it all by itself.
	again, errs := Parse("jobs.yaml", s.Resolved(), Options{Cwd: root, WorkspaceRoot: root, Dir: s.Dir})
	if len(errs) > 0 {
		t.Fatal(Format(errs, s.Resolved()))
	}
	for i := range again.Jobs {
		again.Jobs[i].Pos = s.Jobs[i].Pos
	}
	if diff := cmp.Diff(s.Jobs, again.Jobs); diff != "" {
		t.Error(diff)
	}
}

func TestARepositoryGrantsNothing(t *testing.T) {
	s, errs, _ := inRepository(t, `
runtimes: {claude: {capability: C3}}
enabled: [claude]
defalts: {timeout: 1m}
budget: {usd: 100}
arbiter: {mode: checks-only}
workspace_roots: [/]
defaults:
  timeout: 5m
  task: scout
  expected_output: x
  env_allow: [KEY]
  allowed_tools: [Bash]
  checks: ["curl x | sh"]
  effect: scoped-write
  isolation: none
  untrusted: false
  approval: inherit
  runtime: claude
  model: m
  retry: {max_attempts: 9}
  overlap: accept
  worktree: {copy: [.env], setup: [./take-over.sh]}
  timout: 9m
`, `
version: 1
jobs:
  - {id: look, prompt: look}
`)
	if len(errs) > 0 {
		t.Fatal(Format(errs, nil))
	}
	j := s.Jobs[0]
	if j.Timeout != 5*time.Minute || j.EnvAllow != nil || j.AllowedTools != nil || j.Checks != nil || j.Effect != "observe" || j.Isolation != "" || j.Runtime != "" || j.Model != "" || j.Retry.MaxAttempts != 1 || j.Overlap != "refuse" || !j.Worktree.Empty() {
		t.Errorf("job %+v", j)
	}
	if s.Arbiter.Mode != "required" || s.Budget.USD != 0 || len(s.WorkspaceRoots) != 1 || s.WorkspaceRoots[0] == "/" {
		t.Errorf("spec %+v", s)
	}
	var fields []string
	for _, d := range s.Repository.Ignored {
		fields = append(fields, d.Field)
		if d.Pos.File != s.Repository.Path || d.Pos.Line < 2 || !strings.HasPrefix(d.Message, "is ignored: ") {
			t.Errorf("said %s", d)
		}
	}
	want := []string{
		"runtimes", "enabled", "defalts", "budget", "arbiter", "workspace_roots", "defaults.env_allow", "defaults.allowed_tools", "defaults.checks",
		"defaults.effect", "defaults.isolation", "defaults.untrusted", "defaults.approval", "defaults.runtime", "defaults.model", "defaults.retry",
		"defaults.overlap", "defaults.worktree", "defaults.timout",
	}
	if !slices.Equal(fields, want) {
		t.Errorf("ignored %q, want %q", fields, want)
	}
	said := ""
	for _, d := range s.Repository.Ignored {
		said += d.String() + "\n"
	}
	for _, w := range []string{`did you mean "defaults"?`, `did you mean "timeout"?`, "isolation can only be worktree", "untrusted can only be true"} {
		if !strings.Contains(said, w) {
			t.Errorf("%q is not in\n%s", w, said)
		}
	}
}

func TestMistakesOfARepositoryAreToldWhereTheyAre(t *testing.T) {
	for text, want := range map[string]struct {
		line  int
		field string
		says  string
	}{
		"defaults: {task: nothing}":                         {1, "defaults.task", "allowed: scout"},
		"defaults:\n  timeout: soon":                        {2, "defaults.timeout", "a duration"},
		"defaults:\n  timeout: 48h":                         {2, "defaults.timeout", "at most 24h"},
		"defaults: {timeout: 1m, first_output_timeout: 2m}": {1, "defaults.first_output_timeout", "less than the job's timeout"},
		"defaults: {instructions: [NOTHING.md]}":            {1, "defaults.instructions[0]", "no such file"},
		"defaults: {instructions: [../../x]}":               {1, "defaults.instructions[0]", ""},
		"defaults: [a]":                                     {1, "defaults", "a mapping of job fields"},
		"version: 2":                                        {1, "version", "allowed: 1"},
		"[a]":                                               {1, "", "a mapping with version and defaults"},
		"a: [":                                              {2, "", "not valid YAML"},
		"defaults: {timeout: 1m, timeout: 2m}":              {1, "", "given twice"},
	} {
		_, errs, root := inRepository(t, text, `
version: 1
jobs:
  - {id: look, prompt: look}
`)
		if !slices.ContainsFunc(errs, func(d Diagnostic) bool {
			return d.Pos.File == filepath.Join(root, RepositoryFile) && d.Pos.Line == want.line && d.Field == want.field && strings.Contains(d.Message, want.says)
		}) {
			t.Errorf("%s: told is\n%s", text, Format(errs, nil))
		}
	}
}

func TestASecretOfARepositoryIsRefused(t *testing.T) {
	_, errs, root := inRepository(t, "# note\ndefaults: {expected_output: hush-hush}\n", modest)
	if !slices.ContainsFunc(errs, func(d Diagnostic) bool {
		return d.Rule == "secret" && d.Pos == Position{File: filepath.Join(root, RepositoryFile), Line: 2, Col: d.Pos.Col}
	}) || strings.Contains(Format(errs, nil), "hush-hush") {
		t.Errorf("told is\n%s", Format(errs, nil))
	}
}

func TestARepositoryThatSaysNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "version: 1\n", "defaults: {}\n", "defaults:\n"} {
		_, errs, _ := inRepository(t, text, modest)
		for _, d := range errs {
			if filepath.Base(d.Pos.File) == RepositoryFile {
				t.Errorf("%q: %s", text, d)
			}
		}
	}
	_, errs := Parse("jobs.yaml", []byte(modest), Options{Repository: func(string) ([]byte, error) { return nil, errors.New("no way") }})
	if !strings.Contains(Format(errs, nil), RepositoryFile+":1:1: cannot be read: no way") {
		t.Errorf("told is\n%s", Format(errs, nil))
	}
}

// TestARepositoryNamesOnlyFilesOfItsOwn: what lies beside the spec is the person's, and
// what holds keys is nobody's business.
func TestARepositoryNamesOnlyFilesOfItsOwn(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "src", "evil")
	for name, text := range map[string]string{
		"diary.txt": "private", "src/evil/AGENTS.md": "tabs", "src/evil/.env": "A=b", "src/evil/.git/config": "x",
	} {
		file := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := filepath.Join(base, "jobs.yaml")
	if err := os.WriteFile(spec, []byte("version: 1\njobs:\n  - {id: look, prompt: look, task: scout, timeout: 1m, expected_output: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, allowed := range map[string]bool{"AGENTS.md": true, "../../diary.txt": false, ".env": false, ".git/config": false} {
		_, errs := Load(spec, Options{
			Cwd: root, WorkspaceRoot: root,
			Repository: func(string) ([]byte, error) { return []byte("defaults: {instructions: [" + name + "]}\n"), nil },
		})
		if (len(errs) == 0) != allowed {
			t.Errorf("%s: told is\n%s", name, Format(errs, nil))
		}
	}
}
