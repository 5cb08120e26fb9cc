package spec

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	at := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(at, []byte(got), 0o600))
	}
	want, err := os.ReadFile(at)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// workspace is a folder with the given files ("name": text; a name that ends in
// / is a folder).
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(at, 0o700))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		must(t, os.WriteFile(at, []byte(text), 0o600))
	}
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// parse reads a spec that stands in a workspace.
func parse(t *testing.T, root, text string) (*Spec, []Diagnostic) {
	t.Helper()
	return Parse(filepath.Join(root, "jobs.yaml"), []byte(text), Options{Cwd: root})
}

// valid reads a spec that has no mistakes.
func valid(t *testing.T, root, text string) *Spec {
	t.Helper()
	s, ds := parse(t, root, text)
	if len(ds) > 0 {
		t.Fatalf("unexpected diagnostics:\n%s", Format(ds, []byte(text)))
	}
	return s
}

// job is a spec of one job with the given extra lines.
func job(lines ...string) string {
	return "version: 1\njobs:\n  - id: a\n    task: scout\n    prompt: Look.\n    timeout: 1m\n    expected_output: A list.\n" + indent(lines)
}

// writer is job with a task that writes.
func writer(lines ...string) string {
	return "version: 1\njobs:\n  - id: a\n    task: docs\n    effect: scoped-write\n    prompt: Write.\n    timeout: 1m\n    expected_output: A text.\n" + indent(lines)
}

func indent(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("    " + strings.ReplaceAll(l, "\n", "\n    ") + "\n")
	}
	return b.String()
}

func TestExamplesValidateAsTheyStand(t *testing.T) {
	for _, name := range []string{"example-readme.yaml", "example-skill.yaml"} {
		t.Run(name, func(t *testing.T) {
			root := workspace(t, nil)
			s, ds := Load(filepath.Join("testdata", name), Options{Cwd: root})
			if len(ds) > 0 {
				t.Fatal(Format(ds, nil))
			}
			scout, review := s.Jobs[0], s.Jobs[1]
			if scout.Runtime != "internal" || scout.Cwd != root || scout.Effect != "observe" {
				t.Errorf("scout is %q in %q with effect %q", scout.Runtime, scout.Cwd, scout.Effect)
			}
			if review.Runtime != "" || review.Task != "review" || s.Concurrency != 2 {
				t.Errorf("review is %q %q, concurrency %d", review.Runtime, review.Task, s.Concurrency)
			}
		})
	}
}

func TestPlaceholdersAreKept(t *testing.T) {
	s, _ := Load("testdata/example-readme.yaml", Options{Cwd: workspace(t, nil)})
	review := s.Jobs[1]
	if review.RuntimePlaceholder != "<verified-cli-runtime>" {
		t.Errorf("placeholder %q", review.RuntimePlaceholder)
	}
	want := []Fallback{{Placeholder: "<verified-fallback-runtime>"}}
	if diff := cmp.Diff(want, review.Fallbacks); diff != "" {
		t.Error(diff)
	}
	if review.Prompt != "" || review.DependsOn[0] != "scout-session-api" {
		t.Errorf("prompt %q, depends on %v", review.Prompt, review.DependsOn)
	}
}

func TestEightMistakesAreAllSaidWithPositions(t *testing.T) {
	data, err := os.ReadFile("testdata/eight-mistakes.yaml")
	must(t, err)
	root := workspace(t, nil)
	s, ds := Parse("jobs.yaml", data, Options{Cwd: root})
	if s != nil {
		t.Error("a spec with mistakes was returned")
	}
	var got strings.Builder
	for _, d := range ds {
		got.WriteString(strings.NewReplacer(root, "ROOT", filepath.Dir(root), "PARENT").Replace(d.String()) + "\n")
	}
	golden(t, "eight-mistakes.txt", got.String())
	if len(ds) != 8 {
		t.Errorf("%d diagnostics, want 8", len(ds))
	}
}

func TestStarterIsValidAndQuiet(t *testing.T) {
	root := workspace(t, nil)
	s := valid(t, root, string(Starter()))
	if len(s.Warning)+len(s.Advice) > 0 {
		t.Errorf("the starter is warned about: %v %v", s.Warning, s.Advice)
	}
	if len(s.Jobs) != 3 || len(s.Jobs[2].DependsOn) != 2 || len(s.Jobs[2].Checks) != 2 {
		t.Errorf("unexpected starter: %+v", s.Jobs)
	}
}

// sameSpec compares what two specs say, not where they were read.
var sameSpec = cmp.Options{
	cmpopts.IgnoreFields(Spec{}, "Path", "Source", "Digest", "BasePos", "ModePos", "Advice", "Warning"),
	cmpopts.IgnoreFields(Job{}, "Pos"),
	cmpopts.EquateEmpty(),
}

func TestResolvedReadsBackEqual(t *testing.T) {
	root := workspace(t, map[string]string{
		"p/task.md": "Do it.\n", "AGENTS.md": "Be brief.\n", "skills/x/SKILL.md": "Skill.\n", "src/a/": "",
	})
	text := `
version: 1
outcome: "true"
constraints: ["- none", "yes", "1", "line one\nline two  \n"]
budget: {usd: 5, tokens: 2000000, wall: 90m}
defaults:
  timeout: 10m
  expected_output: "# not a comment"
  model: some/model
  retry: {max_attempts: 3}
arbiter: {runtime: other, timeout: 0, require_independent: true, max_evidence_bytes: 40000}
jobs:
  - id: one
    task: scout
    prompt: "a\ttab, a \u0001 and \"quotes\"\n\n  indented"
    effort: low
    untrusted: true
    outputs: [{path: ./report.md}]
  - id: two
    runtime: <any>
    fallback_runtime: [x, <next>, {runtime: y, model: z/z}]
    prompt_file: p/task.md
    instructions: [AGENTS.md]
    skill: skills/x/SKILL.md
    task: implement
    effect: high-impact-write
    cwd: src
    owned_paths: ["a/", "b/*.go"]
    allowed_tools: []
    inputs: [{from_job: one, from_path: report.md}, {from_job: one}]
    checks:
      - go test ./...
      - {run: [go, vet, ""], timeout: 90s, name: vet}
      - assert: It is "good".
  - id: three
    command: [printf, "%s", "", "0x10"]
    effect: observe
    timeout: 0
    depends_on: [two, one, two]
    env_allow: [MY_VAR]
    worktree: {copy: [.env, "conf/*.local", "keys/"], setup: [npm ci, {run: [make, deps], timeout: 90s}], base: "job:two"}
  - {id: four, command: [x], effect: observe, worktree: {}}
  - {id: five, command: [x], effect: observe, worktree: {base: "job:two"}}
`
	s := valid(t, root, text)
	out := s.Resolved()
	again, ds := Parse(filepath.Join(root, "run", "jobs.yaml"), out, Options{Cwd: root, Dir: s.Dir})
	if len(ds) > 0 {
		t.Fatalf("resolved spec is refused:\n%s\n%s", Format(ds, out), out)
	}
	if diff := cmp.Diff(s, again, sameSpec); diff != "" {
		t.Errorf("%s\n%s", diff, out)
	}
	twice := again.Resolved()
	if diff := cmp.Diff(string(out), string(twice)); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(out), "defaults") {
		t.Error("defaults are not worked in")
	}
}

func TestDefaultsAreSaid(t *testing.T) {
	root := workspace(t, nil)
	out := valid(t, root, job()).Resolved()
	golden(t, "resolved.yaml", strings.ReplaceAll(string(out), root, "/workspace"))
}
