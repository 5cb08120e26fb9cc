package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

func TestASessionIsGoneOnWithAsItWas(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "build-parser", "shell", "busy")
	c.starts("build-parser", 1)
	must(t, c.led.WriteJSON("build-parser/session.json", ledger.Session{SchemaVersion: 1, Job: "build-parser", Attempt: 1, Runtime: "claude", SessionID: "s-1", Cwd: r.Root, Worktree: "/trees/a", Commit: "c0ffee"}))
	c.ends(done("build-parser"), "x")
	c.starts("shell", 1)
	none := done("shell")
	none.Runtime, none.SessionID = "exec", ""
	c.ends(none, "x")
	c.starts("busy", 1)
	m, diags := ParseManifest(r, "m.json", []byte(`{"defaults": {"adapter": "codex", "write": true}, "tasks": [{"id": "r2", "prompt": "x", "resume_from": "build-parser"}]}`), options(r))
	if m == nil {
		t.Fatal(said(diags))
	}
	j := m.jobs[0]
	want := resumed{Session: "s-1", Runtime: "claude", Model: "haiku", Cwd: r.Root, Run: c.led.Dir, Job: "build-parser", Attempt: 1, Tree: "/trees/a", Base: "c0ffee"}
	if j.Worker.Resumes == nil || *j.Worker.Resumes != want || j.Runtime != "claude" || j.Model != "haiku" || j.Effect != "observe" || j.Cwd != r.Root {
		t.Errorf("it goes on as %+v, %+v", j, j.Worker.Resumes)
	}
	for _, bad := range []struct{ task, want string }{
		{`"resume_from": "build-praser"`, `did you mean "build-parser"?`},
		{`"resume_from": "shell"`, "task shell left no session to go on with: custom has none"},
		{`"resume_from": "busy"`, "task busy is running"},
		{`"resume_from": "build-parser", "write": true`, "a session goes on with the access that it had; start a fresh task"},
		{`"resume_from": "build-parser", "adapter": "codex"`, `adapter is "claude" in task build-parser`},
		{`"resume_from": "build-parser", "model": "opus"`, `model is "haiku" in task build-parser`},
		{`"resume_from": "build-parser", "task": "review"`, "a judge begins a fresh session"},
	} {
		_, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "r2", "prompt": "x", `+bad.task+`}]}`), options(r))
		if got := said(diags); !strings.Contains(got, bad.want) {
			t.Errorf("%s: %s, want %s", bad.task, got, bad.want)
		}
	}
	c.over()
}

func TestASessionIsTheSameByItsIDAsByItsTask(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "reads", "again")
	for n, id := range []string{"reads", "again"} {
		c.starts(id, 1)
		path := c.led.Path(id + "/session.json")
		must(t, c.led.WriteJSON(id+"/session.json", ledger.Session{SchemaVersion: 1, Job: id, Attempt: 1, Runtime: "claude", SessionID: "s-1", Cwd: r.Root, Access: "read"}))
		must(t, os.Chtimes(path, day.Add(time.Duration(n)*time.Minute), day.Add(time.Duration(n)*time.Minute)))
		must(t, c.led.WriteJSON(id+"/status.json", done(id)))
		c.ends(done(id), "x")
	}
	c.over()
	elsewhere, err := New(r.Root, day) // in the same workspace
	must(t, err)
	for _, run := range []Run{r, elsewhere} {
		m, diags := ParseManifest(run, "m.json", []byte(`{"tasks": [{"id": "b", "prompt": "x", "adapter": "claude", "session": "s-1"}]}`), options(run))
		if m == nil {
			t.Fatal(said(diags))
		}
		want := resumed{Session: "s-1", Runtime: "claude", Model: "haiku", Cwd: r.Root, Run: c.led.Dir, Job: "again", Attempt: 1}
		if j := m.jobs[0]; j.Worker.Resumes == nil || *j.Worker.Resumes != want || j.Effect != "observe" || j.Cwd != r.Root {
			t.Errorf("it goes on as %+v, %+v", j, j.Worker.Resumes)
		}
	}
	for _, bad := range []struct{ tasks, want string }{
		{`{"id": "b", "prompt": "x", "adapter": "claude", "session": "s-1", "write": true}`, "tasks[0].write: a session goes on with the access that it had; start a fresh task"},
		{`{"id": "b", "prompt": "x", "adapter": "claude", "session": "s-1", "cwd": "sub"}`, "tasks[0].cwd: a session goes on with what it had"},
		{`{"id": "b", "prompt": "x", "resume_from": "again"}, {"id": "c", "prompt": "x", "resume_from": "again"}`, "tasks[1].resume_from: tasks[0] goes on with the same session"},
		{`{"id": "b", "prompt": "x", "resume_from": "reads"}, {"id": "c", "prompt": "x", "adapter": "claude", "session": "s-1"}`, "tasks[1].session: tasks[0] goes on with the same session"},
		{`{"id": "b", "prompt": "x", "adapter": "claude", "session": "s-9"}, {"id": "c", "prompt": "x", "adapter": "claude", "session": "s-9"}`, "tasks[1].session: tasks[0] goes on with the same session"},
		{`{"id": "b", "prompt": "{{item}}", "foreach": ["1", "2"], "adapter": "claude", "session": "s-9"}`, "tasks[0].session: the tasks of a list would all go on with one session"},
	} {
		must(t, os.MkdirAll(filepath.Join(r.Root, "sub"), 0o700))
		m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [`+bad.tasks+`]}`), options(r))
		if got := said(diags); m != nil || !strings.Contains(got, bad.want) {
			t.Errorf("%s: %s, want %s", bad.tasks, got, bad.want)
		}
	}
}

func TestOnlyWhatFailedIsDoneAgain(t *testing.T) {
	r := newRun(t)
	manifest := `{"tasks": [{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}, {"id": "c", "prompt": "z", "depends_on": ["a"]}]}`
	read := func(text string) *Manifest {
		t.Helper()
		m, diags := ParseManifest(r, "m.json", []byte(text), options(r))
		if m == nil {
			t.Fatal(said(diags))
		}
		return m
	}
	m := read(manifest)
	if got, _, err := m.Unfinished(); err != nil || got.Call != "" || got.Manifest != m {
		t.Errorf("before any call: %+v, %v", got, err)
	}
	_, diags, err := m.Write()
	must(t, err)
	if len(diags) > 0 {
		t.Fatal(said(diags))
	}
	c := begin(t, r, "a", "b", "c")
	for _, id := range []string{"a", "c"} {
		c.starts(id, 1)
		c.ends(done(id), "x")
	}
	c.starts("b", 1)
	c.ends(failed("b", runtime.ReasonCrash), "")
	if _, _, err := read(manifest).Unfinished(); err == nil || !strings.Contains(err.Error(), "orchestrate wait "+c.led.ID) {
		t.Errorf("while the call goes on: %v", err)
	}
	c.over()
	o := options(r)
	o.MaxParallel = 9
	same, _ := ParseManifest(r, "other.json", []byte("  "+manifest), o)
	if got, _, err := same.Unfinished(); err != nil || got.Call != c.led.Dir || got.Manifest != nil {
		t.Errorf("the same tasks: %+v, %v", got, err)
	}
	changed := read(strings.Replace(manifest, `"y"`, `"y, shorter"`, 1))
	if got, _, err := changed.Unfinished(); err != nil || got.Call != "" || got.Manifest == nil || strings.Join(got.Manifest.IDs(), " ") != "b" {
		t.Errorf("with another prompt: %+v, %v", got, err)
	}
	tied := read(strings.Replace(manifest, `"prompt": "y"`, `"prompt": "w", "depends_on": ["a"]`, 1))
	if _, diags, err := tied.Unfinished(); err != nil || !strings.Contains(said(diags), "task b hangs together with others") {
		t.Errorf("with a task that needs others: %s, %v", said(diags), err)
	}
	o = options(r)
	o.Cwd = filepath.Join(r.Root, "elsewhere")
	must(t, os.MkdirAll(o.Cwd, 0o755))
	there, diags := ParseManifest(r, "../m.json", []byte(manifest), o)
	if there == nil {
		t.Fatal(said(diags))
	}
	if got, _, err := there.Unfinished(); err != nil || got.Call != c.led.Dir {
		t.Errorf("the same tasks, called from another folder: %+v, %v", got, err)
	}
	well := read(`{"tasks": [{"id": "a", "prompt": "changed"}]}`)
	if got, _, err := well.Unfinished(); err != nil || got != (Retry{}) {
		t.Errorf("where all have succeeded: %+v, %v", got, err)
	}
}

func TestExitCodesAreThoseThatCoordinatorsKnow(t *testing.T) {
	for _, c := range []struct {
		status ledger.Status
		reason runtime.Reason
		code   int
		next   string
	}{
		{ledger.Success, "", 0, ""},
		{ledger.Failed, runtime.ReasonCrash, 1, "worker.log"},
		{ledger.Failed, runtime.ReasonAuth, 1, "stop, a person has to act: sign in to claude"},
		{ledger.Failed, runtime.ReasonRateLimit, 1, "transient: wait"},
		{ledger.Failed, runtime.ReasonNetwork, 1, "transient"},
		{ledger.Failed, runtime.ReasonQuota, 1, "orchestrate resume r-c1"},
		{ledger.Failed, runtime.ReasonTurnCap, 8, "higher max_turns"},
		{ledger.Failed, runtime.ReasonTimeout, 124, "longer timeout"},
		{ledger.Failed, runtime.ReasonFirstOutput, 124, "longer timeout"},
		{ledger.Failed, runtime.ReasonSpawn, 127, "orchestrate doctor"},
		{ledger.Blocked, runtime.BlockedNoRoute, 127, "orchestrate doctor"},
		{ledger.Blocked, runtime.BlockedRiskControls, 3, "what keeps it from running here (no repository)"},
		{ledger.Blocked, runtime.BlockedDependency, 3, "the task that it waits for"},
		{ledger.Blocked, runtime.BlockedSession, 3, "fresh task"},
		{ledger.Failed, runtime.ReasonSession, 3, "fresh task"},
		{ledger.Blocked, runtime.BlockedExpansion, 3, "the list"},
		{ledger.Interrupted, runtime.ReasonCancelled, 130, "orchestrate resume r-c1"},
	} {
		s := failed("a", c.reason)
		s.Status = c.status
		if c.reason == runtime.BlockedRiskControls {
			s.ReasonEvidence = untrusted.From("no repository")
		}
		if got := ExitCode(s); got != c.code {
			t.Errorf("%s %s: exit code %d, want %d", c.status, c.reason, got, c.code)
		}
		if next := Next(s, "r-c1", ""); !strings.Contains(next, c.next) || (c.next == "") != (next == "") {
			t.Errorf("%s %s: next %q", c.status, c.reason, next)
		}
	}
	unstarted := failed("a", runtime.ReasonSpawn)
	unstarted.ReasonEvidence = untrusted.From("its cwd sub is not in commit 1f; commit it or change cwd")
	if next := Next(unstarted, "r-c1", ""); !strings.Contains(next, "(its cwd sub is not in commit 1f; commit it or change cwd), then dispatch it again") {
		t.Errorf("what kept it from starting is not said: %s", next)
	}
	bare := failed("a", runtime.BlockedRiskControls)
	bare.Status, bare.ReasonEvidence = ledger.Blocked, untrusted.From("exec: what it changes can be neither told nor captured: /r: not a git repository")
	if next := Next(bare, "r-c1", ""); !strings.Contains(next, "git init && git add -A && git commit") || !strings.Contains(next, "artifacts/") {
		t.Errorf("how a writer gets by without a repository is not said: %s", next)
	}
	s := failed("a", runtime.ReasonQuota)
	s.ReasonEvidence = untrusted.From("usage limit reached; resets at 2026-07-04T18:00:00Z")
	if got, want := Next(s, "r-c1", ""), time.Date(2026, 7, 4, 18, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04"); !strings.Contains(got, want) {
		t.Errorf("when it is back is not said: %s", got)
	}
}

// Of a list whose manifest has changed nothing is done again without a word: its members are
// what has succeeded or failed, under ids of their own.
func TestAListThatHasChangedIsNotDoneAgain(t *testing.T) {
	r := newRun(t)
	read := func(prompt string) *Manifest {
		t.Helper()
		m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "l", "prompt": "`+prompt+` {{item}}", "foreach": ["a", "b"]}]}`), options(r))
		if m == nil {
			t.Fatal(said(diags))
		}
		return m
	}
	if _, diags, err := read("x").Write(); err != nil || len(diags) > 0 {
		t.Fatal(said(diags), err)
	}
	c := begin(t, r, "l-a", "l-b")
	c.starts("l-a", 1)
	c.ends(done("l-a"), "x")
	c.starts("l-b", 1)
	c.ends(failed("l-b", runtime.ReasonCrash), "")
	c.over()
	if got, diags, err := read("y").Unfinished(); err != nil || got != (Retry{}) || !strings.Contains(said(diags), "task l hangs together with others") {
		t.Errorf("%+v, %s, %v", got, said(diags), err)
	}
	if got, _, err := read("x").Unfinished(); err != nil || got.Call != c.led.Dir {
		t.Errorf("as it was: %+v, %v", got, err)
	}
}

// What a later call has mended is not done again, though the manifest is as it was.
func TestWhatWasMendedSinceIsNotDoneAgain(t *testing.T) {
	r := newRun(t)
	read := func() *Manifest {
		t.Helper()
		m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}]}`), options(r))
		if m == nil {
			t.Fatal(said(diags))
		}
		return m
	}
	if _, diags, err := read().Write(); err != nil || len(diags) > 0 {
		t.Fatal(said(diags), err)
	}
	first := begin(t, r, "a", "b")
	for _, id := range []string{"a", "b"} {
		first.starts(id, 1)
		first.ends(failed(id, runtime.ReasonCrash), "")
	}
	first.over()
	other, _ := ParseManifest(r, "b.json", []byte(`{"tasks": [{"id": "b", "prompt": "y, but right"}]}`), options(r))
	if _, diags, err := other.Write(); err != nil || len(diags) > 0 {
		t.Fatal(said(diags), err)
	}
	later := beginFrom(t, r, 2, "b")
	later.starts("b", 1)
	later.ends(done("b"), "mended")
	later.over()
	if got, _, err := read().Unfinished(); err != nil || got.Call != "" || got.Manifest == nil || strings.Join(got.Manifest.IDs(), " ") != "a" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A task that the hosting session has waits for that; no engine has to be there for it.
func TestATaskThatTheSessionHasWasNotCutOff(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a")
	c.starts("a", 1)
	c.add(ledger.AwaitingSession("a", 1), ledger.Parked(4))
	must(t, c.led.Close())
	tasks, err := r.Tasks()
	must(t, err)
	if s := tasks[0].Status; s.State != ledger.Awaiting || s.ExitCode != nil || s.Next == nil || !strings.Contains(*s.Next, "orchestrate next "+c.led.ID) {
		t.Errorf("%+v", s)
	}
}

// Who looked before a newer call began with a task leaves the folder to that one.
func TestAnOlderCallIsNotLaidOverTheOneAtWork(t *testing.T) {
	r := newRun(t)
	first := begin(t, r, "a")
	first.starts("a", 1)
	first.ends(done("a"), "old")
	first.over()
	seen, err := r.Tasks()
	must(t, err)
	newer := begin(t, r, "a").keeps()
	newer.starts("a", 1)
	must(t, seen[0].project(nil))
	var s Status
	data, err := os.ReadFile(filepath.Join(r.TaskDir("a"), StatusFile))
	must(t, err)
	must(t, json.Unmarshal(data, &s))
	if s.Call != newer.led.ID || s.State != ledger.Running {
		t.Errorf("%s of call %s", s.State, s.Call)
	}
	if answer, err := os.ReadFile(filepath.Join(r.TaskDir("a"), seen[0].aside(), OutputFile)); err != nil || string(answer) != "old" {
		t.Errorf("what the older call left: %q, %v", answer, err)
	}
	newer.over()
}
