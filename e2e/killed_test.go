//go:build e2e && faults && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"orchestrate/faults/campaign"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
)

// killedScenario lets each agent work for a while. The first rule that answers a
// job names it.
const killedScenario = `
rules:
  - {contains: You are the arbiter, do: [{verdict: {}}]}
  - {name: scan, contains: Scan the house., do: [{wait: 1500ms}, {text: it is scanned}]}
  - {name: tell, contains: Tell the time., do: [{wait: 1500ms}, {text: it is late}]}
  - {name: write, contains: Make the file, turn: 0, do: [{wait: 700ms}, {write: {path: made.txt, content: "made\n"}}]}
  - {do: [{text: made.txt is there}]}
`

// killedAt are the moments, each of which comes with every victim.
var killedAt = []campaign.Moment{
	{Point: failpoint.Furnished, Nth: 2},
	{Point: failpoint.Started, Nth: 3},
	{Point: failpoint.SuperviseStarted, Nth: 1, Attempt: true},
	{Point: failpoint.SuperviseOutput, Nth: 1, Attempt: true},
	{Point: failpoint.Exited, Nth: 1},
	{Point: failpoint.Captured, Nth: 1},
	{Point: failpoint.SettleBefore, Nth: 2},
	{Point: failpoint.SettleAfter, Nth: 1},
	{Point: failpoint.Arbitrating, Nth: 1},
	{Point: failpoint.VerdictThere, Nth: 1},
	{Point: failpoint.JournalSynced, Nth: 8},
}

// Nothing is lost, doubled or left of runs of real agents that are killed, and an
// agent that works on while only the engine dies is adopted: it is the same process
// before and after, and has begun to talk to its model once.
func TestKilledRunsOfRealAgents(t *testing.T) {
	want := filepath.Join(t.TempDir(), "plain.json")
	t.Run("undisturbed", func(t *testing.T) {
		l, _ := playKilled(t, campaign.Round{})
		data, err := os.ReadFile(filepath.Join(l.base, "plain.json"))
		ok(t, err)
		ok(t, os.WriteFile(want, data, 0o600))
	})
	var mu sync.Mutex
	kills, adopted := 0, 0
	t.Run("killed", func(t *testing.T) {
		for i, at := range killedAt {
			for _, v := range campaign.Victims {
				t.Run(fmt.Sprintf("%s at %s", v, at), func(t *testing.T) {
					t.Parallel()
					_, res := playKilled(t, campaign.Round{Number: i, Shots: []campaign.Shot{{Moment: at, Victim: v}}, Want: want})
					mu.Lock()
					defer mu.Unlock()
					kills += len(res.Kills)
					adopted += len(res.Adopted)
				})
			}
		}
	})
	t.Logf("%d kills, %d agents adopted", kills, adopted)
	if kills < 40 || adopted < 10 {
		t.Errorf("%d kills and %d adopted agents: too few to prove anything", kills, adopted)
	}
}

// playKilled plays a round in a lab of its own, by the program that plays all of
// them, and looks at what the simulator was asked.
func playKilled(t *testing.T, r campaign.Round) (*lab, campaign.Result) {
	t.Helper()
	l := makeLab(t, killedScenario, nil)
	l.env = append(l.env, "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	l.file("work/jobs.yaml", killedGraph)
	l.repository()
	r.Base, r.Bin = l.base, need(t, "ORCHESTRATE_E2E_BIN")
	r.Given = &campaign.Workspace{Dir: l.dir, Spec: "jobs.yaml", Env: l.env, Jobs: []string{"scan", "tell", "write"}, History: true}
	data, err := json.Marshal(r)
	ok(t, err)
	l.file("round.json", string(data))
	e, left := l.watched([]string{filepath.Join(r.Bin, "faults"), "round", filepath.Join(l.base, "round.json")})
	for _, process := range left {
		t.Errorf("a process is left: %s", process)
	}
	var res campaign.Result
	if err := json.Unmarshal([]byte(e.stdout), &res); err != nil {
		t.Fatalf("the round: %v\n%s%s", err, e.stdout, e.stderr)
	}
	for _, k := range res.Kills {
		t.Logf("killed %v, %s at %s, last record %s", k.PIDs, k.Victim, k.Moment, k.Last)
	}
	for _, f := range res.Faults {
		t.Errorf("%s: %s", f.Kind, f.Text)
	}
	l.firstRequests(res)
	if t.Failed() {
		log, err := os.ReadFile(filepath.Join(l.base, "log.txt"))
		t.Logf("%v\n%s", err, log)
	}
	return l, res
}

// firstRequests demands that each attempt began to talk to its model at most once,
// and that an adopted job of one attempt did so exactly once.
func (l *lab) firstRequests(res campaign.Result) {
	l.t.Helper()
	dirs := campaign.RunDirs(l.dir)
	records, err := campaign.Journal(dirs[len(dirs)-1])
	ok(l.t, err)
	for _, job := range []string{"scan", "tell", "write"} {
		attempts, requests := 0, 0
		for _, r := range records {
			if r.Kind == ledger.KindIntent && r.Job == job {
				attempts++
			}
		}
		for _, r := range l.sim.Requests() {
			if r.Rule == job {
				requests++
			}
		}
		kept := slices.ContainsFunc(res.Adopted, func(h campaign.Held) bool { return h.Job == job && h.Attempt == 1 })
		if requests > attempts || requests == 0 || kept && (requests != 1 || attempts != 1) {
			l.t.Errorf("job %s: %d first requests of %d attempts, adopted: %v", job, requests, attempts, kept)
		}
	}
}
