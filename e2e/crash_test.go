//go:build e2e && linux

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
)

// killedGraph has three agents at work at the same time, one of them a writer.
const killedGraph = `
version: 1
outcome: made.txt exists and two questions are answered
concurrency: 3
defaults: {timeout: 2m, expected_output: an answer}
arbiter: {runtime: claude}
jobs:
  - {id: scan, runtime: claude, task: scout, prompt: Scan the house.}
  - {id: tell, runtime: codex, task: scout, prompt: Tell the time.}
  - id: write
    runtime: claude
    task: docs
    effect: scoped-write
    isolation: worktree
    owned_paths: [made.txt]
    outputs: [{path: made.txt}]
    prompt: Make the file made.txt.
    checks: ["grep -q made made.txt"]
`

// heldScenario keeps the first answer of each of the three agents back.
const heldScenario = `
rules:
  - {name: arbiter, contains: You are the arbiter, do: [{verdict: {}}]}
  - {name: held scan, contains: Scan the house., do: [{text: it is scanned}]}
  - {name: held tell, contains: Tell the time., do: [{text: it is late}]}
  - {name: held write, contains: Make the file, turn: 0, do: [{write: {path: made.txt, content: "made\n"}}]}
  - {name: writer, do: [{text: made.txt is there}]}
`

// threeAtWork starts the three agents and waits until each of them waits for its model.
func threeAtWork(t *testing.T, start func(h *house) *command) (h *house, run *command, dir string) {
	l := newLab(t, heldScenario, nil)
	l.repository()
	l.vouch()
	l.file("jobs.yaml", killedGraph)
	h = l.openHouse()
	run = start(h)
	dir = run.begun()
	run.meanwhile("three agents at work", func() bool { return len(answered(l.sim.Requests())) == 3 })
	return h, run, dir
}

func runSpec(h *house) *command { return h.start("run", quoted(filepath.Join(h.base, "jobs.yaml"))) }

// The engine is killed while three agents work. A resumed run takes all of them over:
// they are the same processes, none of them has begun anew, and the run passes.
func TestAKilledEnginesAgentsAreAdopted(t *testing.T) {
	h, run, dir := threeAtWork(t, runSpec)
	before := h.locks(dir, "scan", "tell", "write")
	codex := named(tree(before["tell"].Supervisor.PID), "codex")
	h.killEngine(dir)
	if said := run.end(dir).wants(130).stderr; !strings.Contains(said, "orchestrate resume "+id(dir)) {
		t.Errorf("it is not said how to go on:\n%s", said)
	}
	resumed := h.start("resume", quoted(dir))
	resumed.untilAdopted(dir, 3)
	for job, lock := range h.locks(dir, "scan", "tell", "write") {
		was := before[job]
		if *lock.Program != *was.Program || *lock.Supervisor != *was.Supervisor || lock.Program.Fate() != process.Alive {
			t.Errorf("job %s: %+v is %s; before it was %+v", job, lock.Program, lock.Program.Fate(), was.Program)
		}
		t.Logf("job %s: pid %d started at %d, before and after", job, lock.Program.PID, lock.Program.StartTime)
	}
	if now := named(tree(before["tell"].Supervisor.PID), "codex"); len(codex) == 0 || !slices.Equal(now, codex) {
		t.Errorf("what codex started is %+v; before it was %+v", now, codex)
	}
	h.release()
	e := resumed.end(dir).wants(0).sound()
	h.close()
	noGroups(t, before)
	e.passed(map[string]int{"scan": 1, "tell": 1, "write": 1})
}

// A supervisor is killed as well: what it ran ends, and its job is done again in
// another worktree, while the others are taken over.
func TestAKilledSupervisorsJobIsDoneAgain(t *testing.T) {
	h, run, dir := threeAtWork(t, runSpec)
	before := h.locks(dir, "scan", "tell", "write")
	supervisor := *before["write"].Supervisor
	lost := tree(supervisor.PID)
	if len(lost) == 0 || !slices.Contains(lost, *before["write"].Program) {
		t.Fatalf("below the supervisor: %+v, without %+v", lost, before["write"].Program)
	}
	h.killEngine(dir)
	h.kill(supervisor)
	run.end(dir).wants(130)
	resumed := h.start("resume", quoted(dir))
	resumed.untilAdopted(dir, 2)
	resumed.meanwhile("the writer's second attempt", func() bool { return answered(h.sim.Requests())["held write"] == 2 })
	for _, p := range lost {
		if p.Fate() != process.Gone {
			t.Errorf("process %d of the first attempt is %s while the second works", p.PID, p.Fate())
		}
	}
	after := h.locks(dir, "scan", "tell")
	for job, lock := range after {
		if *lock.Program != *before[job].Program {
			t.Errorf("job %s: %+v; before it was %+v", job, lock.Program, before[job].Program)
		}
	}
	h.release()
	e := resumed.end(dir).wants(0).sound()
	h.close()
	noGroups(t, before)
	e.passed(map[string]int{"scan": 1, "tell": 1, "write": 2})
	first := e.statusAt("write/attempt-1/status.json")
	if first.Status != ledger.Interrupted || first.Reason != runtime.ReasonCutOff || first.Proof == nil || !first.Proof.Gone {
		t.Errorf("the first attempt: %s, %s: %s, proof %+v", first.Status, first.Reason, first.ReasonEvidence, first.Proof)
	}
	if at := e.status("write").Worktree; at == nil || filepath.ToSlash(*at) != "worktrees/write.a2" {
		t.Errorf("the second attempt's worktree: %v", at)
	}
}

// Two seconds after a shell started a run, all is killed that belongs to the shell:
// its process group, its session, and who is below it. The run goes on, and another
// shell is told how it ended.
func TestARunOutlivesTheShellThatStartedIt(t *testing.T) {
	var pidFile string
	h, run, dir := threeAtWork(t, func(h *house) *command {
		pidFile = filepath.Join(h.base, "shell.pid")
		return h.sh(`setsid sh -c 'echo $$ >"$0"; "$@"; exit' %s %s run %s`, quoted(pidFile), quoted(h.program()), quoted(filepath.Join(h.base, "jobs.yaml")))
	})
	time.Sleep(2 * time.Second)
	text, err := os.ReadFile(pidFile)
	ok(t, err)
	shell, err := strconv.Atoi(strings.TrimSpace(string(text)))
	ok(t, err)
	doomed := reachable(shell)
	for _, p := range doomed {
		if err := p.Signal(os.Kill); err != nil && p.Fate() != process.Gone {
			t.Error(err)
		}
	}
	if len(doomed) < 2 {
		t.Errorf("killed: %+v; the shell and its command are not all there", doomed)
	}
	run.end(dir).wants(137)
	waiting := h.start("wait", "--timeout", "3m", id(dir))
	before := h.locks(dir, "scan", "tell", "write") // they are still at work
	h.release()
	e := waiting.end(dir).wants(0).sound()
	if !strings.Contains(e.stdout, "- Arbiter: pass") {
		t.Errorf("standard output:\n%s", e.stdout)
	}
	h.close()
	noGroups(t, before)
	e.passed(map[string]int{"scan": 1, "tell": 1, "write": 1})
}

// named are those of the processes that run a program of this name.
func named(all []process.Identity, name string) []process.Identity {
	return slices.DeleteFunc(all, func(id process.Identity) bool {
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", id.PID))
		return err != nil || filepath.Base(program) != name
	})
}

// untilAdopted waits until that many attempts are said to have been taken over.
func (c *command) untilAdopted(dir string, n int) {
	c.t.Helper()
	c.meanwhile("the adoption of the agents", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, ledger.JournalFile))
		ok(c.t, err)
		return strings.Count(string(data), "still runs and is taken over") == n
	})
}

// noGroups demands that the control groups of these attempts are gone, as far as they
// had some.
func noGroups(t *testing.T, attempts map[string]ledger.AttemptLock) {
	t.Helper()
	for job, lock := range attempts {
		if lock.Cgroup == "" {
			continue
		}
		if _, err := os.Stat(lock.Cgroup); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("job %s: its control group %s is left: %v", job, lock.Cgroup, err)
		}
	}
}

// passed demands a pass, the attempts of each job, and one first request for each.
func (e *ended) passed(attempts map[string]int) {
	e.t.Helper()
	if j := e.verdict(); j.Verdict != "pass" {
		e.t.Errorf("verdict %q: %v", j.Verdict, j.Why)
	}
	asked := answered(e.sim.Requests())
	for job, n := range attempts {
		if s := e.status(job); s.Status != ledger.Success || s.Attempts != n || asked[held+job] != n {
			e.t.Errorf("job %s: %s after %d attempts, of which the model saw %d; want %d", job, s.Status, s.Attempts, asked[held+job], n)
		}
	}
	if patch := e.text("write/changes.patch"); !strings.Contains(patch, "+made") {
		e.t.Errorf("the patch:\n%s", patch)
	}
	e.ownUserAgents()
}
