package worker

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// call is the ledger of a call, written as an engine writes it.
type call struct {
	t    *testing.T
	run  Run
	led  *ledger.Run
	keep *Keeper
}

func begin(t *testing.T, r Run, jobs ...string) *call {
	t.Helper()
	return beginFrom(t, r, 1, jobs...)
}

// beginFrom is begin of a call that was written down as number n.
func beginFrom(t *testing.T, r Run, n int, jobs ...string) *call {
	t.Helper()
	led, err := ledger.CreateIn(r.Root, r.Dir)
	must(t, err)
	c := &call{t: t, run: r, led: led}
	var text strings.Builder
	text.WriteString("jobs:\n")
	for _, id := range jobs {
		fmt.Fprintf(&text, "- id: %s\n  cwd: %s\n  effect: observe\n", id, r.Root)
	}
	must(t, led.WriteFile(ledger.JobsFile, []byte(text.String())))
	c.add(ledger.RunStarted(ledger.RunInfo{RunID: led.ID, Jobs: jobs, Dir: led.Dir, Worker: r.Dir, SpecPath: filepath.Join(r.Dir, "specs", strconv.Itoa(n), "spec.yaml")}))
	return c
}

// keeps follows the call as its engine does.
func (c *call) keeps() *call {
	k, err := c.run.Keeper(c.led.Dir)
	must(c.t, err)
	c.keep = k
	return c
}

func (c *call) add(recs ...ledger.Record) {
	must(c.t, c.led.Append(recs...))
	for _, rec := range recs {
		if c.keep != nil {
			must(c.t, c.keep.Record(rec))
		}
	}
}

// starts is an attempt that has begun.
func (c *call) starts(id string, n int) {
	_, lock, err := c.led.BeginAttempt(id, n)
	must(c.t, err)
	must(c.t, lock.Close())
	must(c.t, c.led.WriteFile(id+"/prompt.md", []byte("ask "+id)))
	c.add(ledger.Intent(id, n, ledger.Route{Runtime: "claude", Model: "haiku"}))
}

// ends is the end of an attempt, with what its program left.
func (c *call) ends(s ledger.JobStatus, answer string) {
	must(c.t, c.led.WriteFile(s.ID+"/stdout.txt", []byte("out of "+s.ID+"\n")))
	if s.Status == ledger.Success {
		must(c.t, c.led.WriteFile(s.ID+"/output.md", []byte(answer)))
	} else {
		must(c.t, c.led.WriteFile(s.ID+"/stderr.txt", []byte("err of "+s.ID+"\n")))
	}
	c.add(ledger.Settle(s))
}

func (c *call) over() {
	c.add(ledger.RunEnded("unreviewed", 0))
	must(c.t, c.led.Close())
}

func done(id string) ledger.JobStatus {
	in := int64(12)
	return ledger.JobStatus{
		SchemaVersion: 1, ID: id, Runtime: "claude", Model: "haiku-1", RequestedModel: "haiku", Status: ledger.Success, Attempts: 1, SessionID: "s-" + id,
		DurationMs: 1500, StartedAt: &day, EndedAt: &day, Usage: &runtime.Usage{InputTokens: &in},
		Artifacts: []ledger.Artifact{{Path: "r.md", SHA256: strings.Repeat("a", 64), Bytes: 3, Source: "artifacts"}},
	}
}

func failed(id string, why runtime.Reason) ledger.JobStatus {
	s := done(id)
	s.Status, s.Reason, s.ReasonEvidence, s.Artifacts = ledger.Failed, why, untrusted.From("said so"), nil
	return s
}

// tree is what a folder holds, by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, errRel := filepath.Rel(dir, path)
		must(t, errRel)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	must(t, err)
	return all
}

func statusIn(t *testing.T, dir string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, StatusFile))
	must(t, err)
	var s map[string]any
	must(t, json.Unmarshal(data, &s))
	return s
}

func TestATaskIsLaidOutWhileItsCallGoesOn(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a", "b").keeps()
	c.starts("a", 1)
	if s := statusIn(t, r.TaskDir("a")); s["state"] != "running" || s["exit_code"] != nil || s["adapter"] != "claude" {
		t.Errorf("while it runs: %v", s)
	}
	must(t, c.led.WriteFile("a/artifacts/r.md", []byte("abc")))
	must(t, os.Symlink("/etc/passwd", c.led.Path("a/artifacts/link")))
	must(t, c.led.WriteFile("a/artifacts/more/own.txt", []byte("not asked for")))
	c.ends(done("a"), "the answer")
	got := tree(t, r.TaskDir("a"))
	for name, want := range map[string]string{
		"prompt.txt": "ask a", "worker.log": "out of a\n", "output.txt": "the answer", "session.txt": "s-a\n", "artifacts/r.md": "abc", "artifacts/more/own.txt": "not asked for",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if _, there := got["artifacts/link"]; there {
		t.Error("what a link leads to was taken for the task's")
	}
	s := statusIn(t, r.TaskDir("a"))
	want := map[string]any{
		"schema_version": 1.0, "task_id": "a", "adapter": "claude", "model": "haiku-1", "state": "success", "exit_code": 0.0, "reason": nil, "evidence": nil, "next": nil,
		"started_at": "2026-07-04T14:15:30Z", "duration_s": 1.5, "session_id": "s-a", "resumed": false, "resume_of": nil, "attempts": 1.0, "call": r.ID + "-c1",
		"worktree": nil, "patch": nil, "item": nil,
		"usage": map[string]any{"input_tokens": 12.0, "output_tokens": nil, "cost_usd": nil},
		"artifacts": []any{
			map[string]any{"path": "artifacts/r.md", "sha256": strings.Repeat("a", 64), "bytes": 3.0},
			map[string]any{"path": "artifacts/more/own.txt", "sha256": "6b78438df33ad2afeaf3135fcca88e5e726eb710fdef0d29bc04231446af4db7", "bytes": 13.0},
		},
	}
	if fmt.Sprint(s) != fmt.Sprint(want) {
		t.Errorf("status.json:\n%v\nwant\n%v", s, want)
	}
	c.starts("b", 1)
	c.ends(failed("b", runtime.ReasonTimeout), "")
	if got := tree(t, r.TaskDir("b")); got["worker.log"] != "out of b\n\n--- standard error ---\nerr of b\n" || got["output.txt"] != "" {
		t.Errorf("of one that failed: %v", got)
	}
	if s := statusIn(t, r.TaskDir("b")); s["exit_code"] != 124.0 || s["reason"] != "timeout" || s["evidence"] != "said so" || s["next"] == nil {
		t.Errorf("of one that failed: %v", s)
	}
	c.over()
	before := tree(t, r.tasksDir())
	if _, unkept, err := r.Project(); err != nil || unkept != nil || fmt.Sprint(tree(t, r.tasksDir())) != fmt.Sprint(before) {
		t.Errorf("who reads it afterwards changes it: %v\n%v", err, tree(t, r.tasksDir()))
	}
}

func TestWhatATaskMadeUnreadableKeepsNobodyFromTheRest(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a").keeps()
	c.starts("a", 1)
	must(t, c.led.WriteFile("a/artifacts/closed/own.txt", []byte("x")))
	must(t, c.led.WriteFile("a/artifacts/r.md", []byte("abc")))
	must(t, os.Chmod(c.led.Path("a/artifacts/closed"), 0))
	t.Cleanup(func() { must(t, os.Chmod(c.led.Path("a/artifacts/closed"), 0o700)) })
	c.ends(done("a"), "x")
	c.over()
	if got := tree(t, r.TaskDir("a")); got["artifacts/r.md"] != "abc" || got["output.txt"] != "x" {
		t.Errorf("the folder has %v", got)
	}
	if _, unkept, err := r.Project(); err != nil || unkept != nil {
		t.Errorf("who reads it: %v", err)
	}
}

func TestACommandOfThePersonsOwnIsTheAdapterCustom(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a").keeps()
	s := done("a")
	s.Runtime, s.Model, s.SessionID = "exec", "", ""
	c.starts("a", 1)
	c.ends(s, "x")
	c.over()
	if got := statusIn(t, r.TaskDir("a")); got["adapter"] != "custom" {
		t.Errorf("its adapter is %v", got["adapter"])
	}
}

func TestWhatAnEngineMissedIsLaidOutByWhoeverReads(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a", "b").keeps()
	c.starts("a", 1)
	must(t, c.led.WriteFile("a/artifacts/r.md", []byte("abc")))
	c.ends(done("a"), "the answer")
	c.over()
	whole := tree(t, r.TaskDir("a"))
	// status.json is written last, so every death leaves it away or as it was before.
	for _, gone := range [][]string{{StatusFile}, {StatusFile, OutputFile}, {StatusFile, "artifacts"}, {StatusFile, PromptFile, LogFile, OutputFile, SessionFile, "artifacts"}} {
		for _, name := range gone {
			must(t, os.RemoveAll(filepath.Join(r.TaskDir("a"), name)))
		}
		tasks, _, err := r.Project()
		must(t, err)
		if got := tree(t, r.TaskDir("a")); fmt.Sprint(got) != fmt.Sprint(whole) {
			t.Errorf("without %v it becomes %v", gone, got)
		}
		if len(tasks) != 2 || tasks[0].ID != "a" || tasks[0].Preview().Line(9) == "" || tasks[1].Status.State != ledger.Queued {
			t.Errorf("the tasks are %+v", tasks)
		}
	}
	if _, err := os.Stat(r.TaskDir("b")); !os.IsNotExist(err) {
		t.Errorf("a task that never began has a folder: %v", err)
	}
}

func TestAnOlderCallOfATaskIsKeptBesideTheNewOne(t *testing.T) {
	for _, kept := range []bool{true, false} {
		r := newRun(t)
		for n := 1; n <= 3; n++ {
			c := begin(t, r, "a", "only"+fmt.Sprint(n))
			if kept {
				c.keeps()
			}
			c.starts("a", 1)
			if n == 2 {
				c.ends(failed("a", runtime.ReasonNetwork), "")
			} else {
				c.ends(done("a"), fmt.Sprintf("answer %d", n))
			}
			c.over()
		}
		_, _, err := r.Project()
		must(t, err)
		got := tree(t, r.TaskDir("a"))
		if got["output.txt"] != "answer 3" || got["attempt-1/output.txt"] != "answer 1" || got["attempt-2/output.txt"] != "" || !strings.Contains(got["attempt-2/worker.log"], "err of a") {
			t.Errorf("kept %v: %v", kept, got)
		}
		for name, call := range map[string]string{"": "-c3", "attempt-1": "-c1", "attempt-2": "-c2"} {
			if s := statusIn(t, filepath.Join(r.TaskDir("a"), name)); s["call"] != r.ID+call {
				t.Errorf("kept %v: %q is of %v", kept, name, s["call"])
			}
		}
	}
}

func TestMovingAnOlderCallAwayGoesOnWhereItWasCutOff(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a").keeps()
	c.starts("a", 1)
	c.ends(done("a"), "first")
	c.over()
	c = begin(t, r, "a")
	// The engine of the second call died after two of the files.
	older := filepath.Join(r.TaskDir("a"), "attempt-1")
	must(t, os.Mkdir(older, 0o700))
	for _, name := range []string{PromptFile, LogFile} {
		must(t, os.Rename(filepath.Join(r.TaskDir("a"), name), filepath.Join(older, name)))
	}
	c.keeps().starts("a", 1)
	c.ends(failed("a", runtime.ReasonAuth), "")
	got := tree(t, r.TaskDir("a"))
	if got["attempt-1/output.txt"] != "first" || got["attempt-1/prompt.txt"] != "ask a" || got["output.txt"] != "" || got["prompt.txt"] != "ask a" {
		t.Errorf("it became %v", got)
	}
	c.over()
}

func TestAnOlderCallThatGoesOnLeavesTheNewerOneInItsPlace(t *testing.T) {
	r := newRun(t)
	old := begin(t, r, "a").keeps()
	old.starts("a", 1)
	newer := begin(t, r, "a").keeps()
	newer.starts("a", 1)
	newer.ends(done("a"), "newer")
	newer.over()
	old.ends(done("a"), "older")
	old.over()
	for range 2 {
		got := tree(t, r.TaskDir("a"))
		if got["output.txt"] != "newer" || got["attempt-1/output.txt"] != "older" {
			t.Errorf("the folder has %v", got)
		}
		tasks, _, err := r.Project()
		must(t, err)
		if len(tasks) != 1 || tasks[0].Call != newer.led.ID {
			t.Errorf("the task is %+v", tasks)
		}
	}
}

func TestATaskThatIsTriedAgainIsRunning(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a").keeps()
	c.starts("a", 1)
	c.add(ledger.AttemptEnded(failed("a", runtime.ReasonCrash)))
	if s := statusIn(t, r.TaskDir("a")); s["state"] != "queued" || s["reason"] != "crash" || s["exit_code"] != nil {
		t.Errorf("between its attempts: %v", s)
	}
	c.starts("a", 2)
	if got := tree(t, r.TaskDir("a")); got["worker.log"] != "" || !strings.Contains(got["status.json"], `"running"`) {
		t.Errorf("while it is tried again: %v", got)
	}
	second := done("a")
	second.Attempts = 2
	c.ends(second, "at last")
	if s := statusIn(t, r.TaskDir("a")); s["attempts"] != 2.0 || s["state"] != "success" {
		t.Errorf("after that: %v", s)
	}
	c.over()
}

func TestWhatAPatternDidNotNeedIsNoTask(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a", "b").keeps()
	skipped := ledger.JobStatus{SchemaVersion: 1, ID: "b", Status: ledger.Skipped, Reason: runtime.NotNeeded}
	gathered := ledger.JobStatus{SchemaVersion: 1, ID: "a", Status: ledger.Success, Decided: "2 of 3"}
	must(t, c.led.WriteFile("a/output.md", []byte("gathered")))
	c.add(ledger.Settle(skipped), ledger.Settle(gathered))
	c.over()
	tasks, _, err := r.Project()
	must(t, err)
	if len(tasks) != 1 || tasks[0].ID != "a" {
		t.Errorf("the tasks are %+v", tasks)
	}
	o, _, _, err := r.Look()
	must(t, err)
	if !slices.Equal(o.NotNeeded, []string{"b"}) || o.Counts.Total != 1 {
		t.Errorf("not needed are %v, and counted %+v", o.NotNeeded, o.Counts)
	}
	if got := tree(t, r.tasksDir()); len(got) != 2 || got["a/output.txt"] != "gathered" || !strings.Contains(got["a/status.json"], `"adapter": null`) {
		t.Errorf("their folders are %v", got)
	}
}

func TestATaskWhoseEngineIsGoneIsInterrupted(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a", "b").keeps()
	c.starts("a", 1)
	live, _, err := r.Project()
	must(t, err)
	if live[0].Status.State != ledger.Running {
		t.Errorf("while its engine lives: %+v", live[0].Status)
	}
	must(t, c.led.Close()) // without an end
	tasks, _, err := r.Project()
	must(t, err)
	s := tasks[0].Status
	if s.State != ledger.Interrupted || *s.ExitCode != ExitInterrupted || !strings.Contains(*s.Next, "orchestrate resume "+r.ID+"-c1") {
		t.Errorf("then: %+v", s)
	}
	if got := statusIn(t, r.TaskDir("a")); got["state"] != "interrupted" {
		t.Errorf("its folder says %v", got)
	}
}
