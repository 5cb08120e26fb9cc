package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/spec"
)

// day is when everything in these tests happens.
var day = time.Date(2026, 7, 4, 14, 15, 30, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newRun is a worker run in a workspace of its own.
func newRun(t *testing.T) Run {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	r, err := New(root, day)
	must(t, err)
	return r
}

// said is each diagnostic as line:col field: message.
func said(diags []spec.Diagnostic) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%d:%d %s: %s\n", d.Pos.Line, d.Pos.Col, d.Field, d.Message)
	}
	return b.String()
}

func options(r Run) Options {
	return Options{Cwd: r.Root, By: "batch"}
}

// jobsOf are the jobs of the spec that a manifest becomes.
func jobsOf(t *testing.T, r Run, manifest string, o Options) []spec.Job {
	t.Helper()
	m, diags := ParseManifest(r, "m.json", []byte(manifest), o)
	if m == nil {
		t.Fatal(said(diags))
	}
	return specOf(t, m).Jobs
}

func specOf(t *testing.T, m *Manifest) *spec.Spec {
	t.Helper()
	p, diags, err := m.Write()
	must(t, err)
	if len(diags) > 0 {
		t.Fatal(said(diags))
	}
	s, diags := spec.Load(p.Spec, spec.Options{Cwd: m.Run.Root, WorkspaceRoot: m.Run.Root, Worker: true})
	if s == nil {
		t.Fatal(said(diags))
	}
	return s
}

func TestMistakesInAManifestAreSaidWithTheirPlaces(t *testing.T) {
	r := newRun(t)
	must(t, os.WriteFile(filepath.Join(r.Root, "variable.txt"), []byte("{{itme}}"), 0o600))
	for name, c := range map[string]struct{ manifest, want string }{
		"nothing":     {``, "1:1 : the document is empty"},
		"no json":     {"{\n \"tasks\": [\n  {\"id\": \"a\", \"prompt\": \"x\",}\n ]}", "3:29 : not valid JSON"},
		"cut":         {`{"tasks": [`, "1:12 : not valid JSON: it ends in the middle"},
		"more":        {`{"tasks": [{"id": "a", "prompt": "x"}]} {}`, "1:41 : something follows"},
		"list":        {`[]`, "1:1 : found a list; allowed: a mapping with tasks"},
		"twice":       {`{"tasks": [], "tasks": []}`, `1:15 : the key "tasks" is given twice`},
		"no tasks":    {`{"tasks": []}`, "1:11 tasks: found a list; allowed: a list of one or more tasks"},
		"key":         {`{"tasks": [{"id": "a", "prompt": "x", "adaptr": "y"}]}`, `1:39 tasks[0].adaptr: unknown key "adaptr"`},
		"meant":       {`{"tasks": [{"id": "a", "prompt": "x", "adaptr": "y"}]}`, `did you mean "adapter"?`},
		"default id":  {`{"defaults": {"id": "a"}, "tasks": [{"id": "a", "prompt": "x"}]}`, "1:15 defaults.id: id cannot have a default"},
		"same id":     {"{\"tasks\": [{\"id\": \"a\", \"prompt\": \"x\"},\n{\"id\": \"A\", \"prompt\": \"x\"}]}", `2:8 tasks[1].id: the id "A" is already that of tasks[0]`},
		"bad id":      {`{"tasks": [{"id": "a b", "prompt": "x"}]}`, `1:19 tasks[0].id: found "a b"; allowed: 1 to 64 letters`},
		"taken id":    {`{"tasks": [{"id": "state.json", "prompt": "x"}]}`, `1:19 tasks[0].id: the id "state.json" is a file name of the run directory`},
		"no prompt":   {`{"tasks": [{"id": "a"}]}`, "tasks[0].prompt: prompt is missing"},
		"two prompts": {`{"tasks": [{"id": "a", "prompt": "x", "prompt_file": "y"}]}`, "1:54 tasks[0].prompt_file: both prompt and prompt_file"},
		"blank":       {`{"tasks": [{"id": "a", "prompt": " \n"}]}`, "1:34 tasks[0].prompt: found"},
		"no file":     {`{"tasks": [{"id": "a", "prompt_file": "gone.txt"}]}`, `1:39 tasks[0].prompt_file: the file "gone.txt" is not there`},
		"folder":      {`{"tasks": [{"id": "a", "prompt_file": "."}]}`, "is no regular file"},
		"timeout":     {`{"tasks": [{"id": "a", "prompt": "x", "timeout": "soon"}]}`, `1:50 tasks[0].timeout: found "soon"; allowed: a number of seconds`},
		"too long":    {`{"tasks": [{"id": "a", "prompt": "x", "timeout": 90000}]}`, "1:50 tasks[0].timeout: "},
		"turns":       {`{"tasks": [{"id": "a", "prompt": "x", "max_turns": 0}]}`, "1:52 tasks[0].max_turns: found the number 0; allowed: a whole number from 1 to 10000"},
		"dependency":  {`{"tasks": [{"id": "audit", "prompt": "x"}, {"id": "b", "prompt": "x", "depends_on": ["audti"]}]}`, `1:86 tasks[1].depends_on[0]: there is no job "audti"`},
		"session":     {`{"tasks": [{"id": "a", "prompt": "x", "session": "s"}]}`, "1:50 tasks[0].session: a session needs its adapter"},
		"two":         {`{"tasks": [{"id": "a", "prompt": "x", "session": "s", "resume_from": "b"}]}`, "tasks[0].session: both session and resume_from"},
		"nobody's":    {`{"tasks": [{"id": "a", "prompt": "x", "resume_from": "b"}]}`, `tasks[0].resume_from: there is no task "b" in this manifest or in worker run 20260704-141530, which has none yet`},
		"vote":        {`{"tasks": [{"id": "a", "prompt": "x", "votes": {"of": 3}, "adapter": "claude", "session": "s"}]}`, "tasks[0].session: a judge begins a fresh session"},
		"audit":       {`{"tasks": [{"id": "a", "prompt": "x", "task": "audit", "adapter": "claude", "session": "s"}]}`, "a judge begins a fresh session"},
		"verifier": {
			`{"tasks": [{"id": "a", "prompt": "x", "write": true, "repair": {"verifier": "v"}}, {"id": "v", "prompt": "x", "depends_on": ["a"], "resume_from": "a"}]}`,
			"tasks[1].resume_from: a judge begins a fresh session",
		},
		"exec":        {`{"tasks": [{"id": "a", "prompt": "x", "adapter": "exec"}]}`, "1:50 tasks[0].adapter: exec is no agent, it runs a plain program; for a command of your own give worker_cmd"},
		"own command": {`{"tasks": [{"id": "a", "prompt": "x", "worker_cmd": "cat", "model": "m"}]}`, "tasks[0].model: model is of an agent"},
		"cwd":         {`{"tasks": [{"id": "a", "prompt": "x", "cwd": "gone"}]}`, "1:46 tasks[0].cwd: \"/"},
		"cwd outside": {`{"tasks": [{"id": "a", "prompt": "x", "cwd": "../gone"}]}`, "is not there; allowed: an existing folder anywhere, relative to /"},
		"cwd, a file": {`{"tasks": [{"id": "a", "prompt": "x", "cwd": "/dev/null"}]}`, `1:46 tasks[0].cwd: "/dev/null" is no folder`},
		"a vote's id": {`{"tasks": [{"id": "a", "prompt": "x", "votes": {"of": 3}}, {"id": "a-1", "prompt": "x"}]}`, `tasks[1].id: the id "a-1" is already that of tasks[0]; ids`},
		"variable":    {`{"tasks": [{"id": "a", "prompt": "x {{itme}}", "foreach": ["b"]}]}`, `1:34 tasks[0].prompt: line 1, column 3: "itme" is no variable`},
		"in a file":   {`{"tasks": [{"id": "a", "prompt_file": "variable.txt", "foreach": ["b"]}]}`, `1:39 tasks[0].prompt_file: "variable.txt", line 1, column 1: "itme" is no variable`},
		"item path":   {`{"tasks": [{"id": "a", "prompt": "x", "outputs": [{"path": "../{{item}}"}], "foreach": ["b"]}]}`, "tasks[0].outputs[0].path: "},
	} {
		m, diags := ParseManifest(r, "m.json", []byte(c.manifest), options(r))
		if m != nil {
			var err error
			_, diags, err = m.Write()
			must(t, err)
		}
		if got := said(diags); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nis said of %s\nwant %s", name, got, c.manifest, c.want)
		}
	}
	if left, err := os.ReadDir(filepath.Join(r.Dir, "specs")); err != nil || len(left) > 0 {
		t.Errorf("of manifests that were refused there is left: %v, %v", left, err)
	}
}

func TestATaskSaysMoreThanTheCallAndTheCallMoreThanTheDefaults(t *testing.T) {
	r := newRun(t)
	yes := true
	o := options(r)
	o.Adapter, o.Flags = "opencode", Settings{Model: "flag", Timeout: "90", MaxTurns: 7, Write: &yes}
	jobs := jobsOf(t, r, `{
		"defaults": {"model": "default", "timeout": 10, "max_turns": 3, "effort": "low"},
		"tasks": [
			{"id": "plain", "prompt": "x"},
			{"id": "own", "prompt": "x", "model": "task", "timeout": "10m", "max_turns": 5, "write": false, "adapter": "claude"},
			{"id": "off", "prompt": "x", "timeout": 0, "model": null}
		]}`, o)
	for i, want := range []string{
		"opencode flag low 1m30s 7 scoped-write mechanical", "claude task low 10m0s 5 observe research", "opencode flag low 24h0m0s 7 scoped-write mechanical",
	} {
		j := jobs[i]
		if got := fmt.Sprint(j.Runtime, " ", j.Model, " ", j.Effort, " ", j.Timeout, " ", j.MaxTurns, " ", j.Effect, " ", j.Task); got != want {
			t.Errorf("%s: %s, want %s", j.ID, got, want)
		}
	}
}

func TestWhatNobodySaysIsAsTheFormPromises(t *testing.T) {
	r := newRun(t)
	m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "a", "prompt": "x"}]}`), options(r))
	if m == nil {
		t.Fatal(said(diags))
	}
	s := specOf(t, m)
	j := s.Jobs[0]
	if j.Timeout != time.Hour || j.MaxTurns != 100 || j.Effect != "observe" || j.Cwd != r.Root || j.Runtime != "" || j.Worker == nil || !j.Worker.AsIs {
		t.Errorf("a plain task is %+v", j)
	}
	if j.Retry.MaxAttempts != 3 || strings.Join(j.Retry.On, " ") != "rate_limit network" {
		t.Errorf("it is retried %+v", j.Retry)
	}
	if s.Concurrency != 4 || s.Arbiter.Mode != "checks-only" {
		t.Errorf("%d beside each other, arbiter %s", s.Concurrency, s.Arbiter.Mode)
	}
}

func TestPromptsArriveByteForByte(t *testing.T) {
	r := newRun(t)
	long := strings.Repeat("0123456789abcde\n", 200<<10/16)
	must(t, os.WriteFile(filepath.Join(r.Root, "p.txt"), []byte(long), 0o600))
	for name, prompt := range map[string]string{
		"long": long, "dash": "-rf is what this asks about", "dashes": "---\nfront: matter\n---\nDo it.", "at": "@file", "spaces": "  indented\n\n\ttab \n\n", "no end": "no line break",
		"carriage": "a\r\nb\r\n", "emoji": "\U0001F600 and \u2028", "braces": "{{item}} and {{ nothing", "yaml": "a: b # c\n- d", "quotes": `\"'` + "`$(touch x)`",
	} {
		m, diags := Single(r, "a", prompt, options(r))
		if m == nil {
			t.Fatal(name, said(diags))
		}
		if got := specOf(t, m).Jobs[0].Prompt; got != prompt {
			t.Errorf("%s: it is asked %q", name, got)
		}
	}
	// As Python writes JSON: everything outside ASCII as surrogates, and tabs between.
	jobs := jobsOf(t, r, "{\n\t\"tasks\": [\n\t\t{\"id\": \"a\", \"prompt\": \"\\ud83d\\ude00 \\/ x\"},\n\t\t{\"id\": \"b\", \"prompt_file\": \"p.txt\"}]}", options(r))
	if jobs[0].Prompt != "\U0001F600 / x" || jobs[1].Prompt != long {
		t.Errorf("they are asked %q and %d bytes", jobs[0].Prompt, len(jobs[1].Prompt))
	}
}

func TestADispatchIsToldOfItsMistakesWithoutPlaces(t *testing.T) {
	r := newRun(t)
	o := options(r)
	o.By = "dispatch"
	m, diags := Single(r, "a/b", "x", o)
	if m != nil || len(diags) != 1 || diags[0].Pos.Line != 0 || diags[0].Field != "id" {
		t.Errorf("an id with a slash: %+v", diags)
	}
	o.Flags.Cwd = filepath.Join(r.Root, "gone")
	m, diags = Single(r, "a", "x", o)
	if m != nil || len(diags) != 1 || diags[0].Pos.Line != 0 || diags[0].Field != "cwd" {
		t.Errorf("a folder that is not there: %+v", diags)
	}
	o.Flags.Cwd, o.Flags.Timeout = "", "90000" // which only the spec refuses
	m, diags = Single(r, "a", "x", o)
	if m == nil {
		t.Fatal(said(diags))
	}
	if _, diags, err := m.Write(); err != nil || len(diags) != 1 || diags[0].Pos.Line != 0 || diags[0].Field != "timeout" {
		t.Errorf("too long a time: %+v, %v", diags, err)
	}
}

func TestASecretIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	r := newRun(t)
	must(t, os.WriteFile(filepath.Join(r.Root, "p.txt"), []byte("first\nthe word is hunter2"), 0o600))
	o := options(r)
	o.Secrets = func(text string) (all []spec.Secret) {
		for i, line := range strings.Split(text, "\n") {
			if col := strings.Index(line, "hunter2"); col >= 0 {
				all = append(all, spec.Secret{Rule: "hunter", Line: i + 1, Col: col + 1, Fingerprint: "f1"})
			}
		}
		return all
	}
	for _, c := range []struct{ manifest, want string }{
		{`{"tasks": [{"id": "a", "prompt": "say hunter2"}]}`, "1:34 tasks[0].prompt: this looks like a secret (rule hunter)"},
		{`{"tasks": [{"id": "a", "prompt_file": "p.txt"}]}`, `1:39 tasks[0].prompt_file: line 2 of "p.txt": this looks like a secret (rule hunter)`},
		{`{"tasks": [{"id": "a", "prompt": "x", "foreach": ["hunter2"]}]}`, "tasks[0].foreach[0]: this looks like a secret"},
	} {
		m, diags := ParseManifest(r, "m.json", []byte(c.manifest), o)
		if got := said(diags); m != nil || !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s", c.manifest, got)
		}
	}
	o.Flags.Command = `curl -H "hunter2"`
	m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "a", "prompt": "x"}]}`), o)
	if m == nil {
		t.Fatal(said(diags))
	}
	if _, diags, err := m.Write(); err != nil || !strings.Contains(said(diags), "of the flags of this call") {
		t.Errorf("a secret in a flag: %s, %v", said(diags), err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "specs")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

func TestPatternsOfAManifestAreThoseOfASpec(t *testing.T) {
	r := newRun(t)
	jobs := jobsOf(t, r, `{"tasks": [
		{"id": "audit", "prompt": "Audit {{item}}", "foreach": ["auth", "billing"]},
		{"id": "claim", "prompt": "x", "votes": {"of": 3}},
		{"id": "all", "join": ["audit", "claim"]}
	]}`, options(r))
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID)
		if j.Worker == nil && !j.Gathers() {
			t.Errorf("%s is not known as a task of the worker form", j.ID)
		}
	}
	if got, want := strings.Join(ids, " "), "audit-auth audit-billing claim-1 claim-2 claim-3 claim all"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if jobs[1].Prompt != "Audit billing" {
		t.Errorf("it is asked %q", jobs[1].Prompt)
	}
}

func TestAFolderOutsideTheWorkspaceIsARootOfTheCall(t *testing.T) {
	r := newRun(t)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	o := options(r)
	o.Flags.Cwd = outside
	if j := jobsOf(t, r, `{"tasks": [{"id": "a", "prompt": "x"}]}`, o)[0]; j.Cwd != outside {
		t.Errorf("it works in %s", j.Cwd)
	}
}
