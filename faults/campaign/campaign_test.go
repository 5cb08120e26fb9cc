//go:build linux

package campaign

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
)

// A campaign that cannot fail proves nothing: each of its judges sees what it is for.
func TestJudgesSeeWhatIsBroken(t *testing.T) {
	success := ledger.Record{Kind: ledger.KindSettled, Job: "a", Attempt: 1, Status: ledger.Success, Settled: &ledger.JobStatus{Status: ledger.Success}}
	ended := ledger.Record{Kind: ledger.KindRunEnded}
	started := ledger.Record{Kind: ledger.KindEvent, Job: "a", Attempt: 1, Event: &runtime.Event{Kind: runtime.EventStarted, PID: 5, StartTime: 6}}
	ran := []Held{{Job: "a", Attempt: 1, Program: &process.Identity{PID: 5, StartTime: 6}}}
	other := []Held{{Job: "a", Attempt: 1, Program: &process.Identity{PID: 5, StartTime: 7}}}
	cut := ledger.Record{Kind: ledger.KindAttemptEnded, Job: "a", Attempt: 1, Settled: &ledger.JobStatus{Status: ledger.Interrupted}}
	marked := []Held{{Attempt: 1, Mark: "x"}, {Attempt: 2, Mark: "y"}}
	for name, c := range map[string]struct {
		found []Fault
		want  Kind // "" = nothing
	}{
		"a sound journal":           {judgeJournal([]ledger.Record{success, ended}, []string{"a"}), ""},
		"no success":                {judgeJournal([]ledger.Record{ended}, []string{"a"}), Lost},
		"two successes":             {judgeJournal([]ledger.Record{success, success, ended}, []string{"a"}), Doubled},
		"no end":                    {judgeJournal([]ledger.Record{success}, []string{"a"}), Lost},
		"asked for again":           {judgeJournal([]ledger.Record{success, {Kind: ledger.KindRequeued, Job: "a"}, ended}, []string{"a"}), Lost},
		"adopted":                   {judgeAdoption([]ledger.Record{started, success}, ran), ""},
		"interrupted":               {judgeAdoption([]ledger.Record{started, cut}, ran), Lost},
		"forgotten":                 {judgeAdoption([]ledger.Record{started}, ran), Lost},
		"another process":           {judgeAdoption([]ledger.Record{started, success}, other), Lost},
		"started again":             {judgeAdoption([]ledger.Record{started, started, success}, ran), Lost},
		"two attempts":              {judgeTally([]Count{{Job: "a", Attempt: 1, What: countStart}, {Job: "a", Attempt: 2, What: countStart}}, nil), ""},
		"one attempt twice":         {judgeTally([]Count{{Job: "a", Attempt: 1, What: countStart}, {Job: "a", Attempt: 1, What: countStart}}, nil), Doubled},
		"attempts that are known":   {judgeTally([]Count{{Job: "a", Mark: "x", What: countStart}, {Job: "a", Mark: "y", What: countStart}}, marked), ""},
		"one of them twice":         {judgeTally([]Count{{Job: "a", Mark: "x", What: countEnd}, {Job: "a", Mark: "x", What: countEnd}}, marked), Doubled},
		"one that no lock knows":    {judgeTally([]Count{{Job: "a", Mark: "z", What: countStart}}, marked), Doubled},
		"two attempts side by side": {judgeTally([]Count{{Job: "a", Attempt: 2, What: countBeside}}, nil), Doubled},
		"a history":                 {judgeHistory("r", lines("failed", "success"), []string{"a"}), ""},
		"a history that says twice": {judgeHistory("r", lines("success", "success"), []string{"a"}), Doubled},
		"a history without it":      {judgeHistory("other", lines("success"), []string{"a"}), Lost},
	} {
		switch {
		case c.want == "" && len(c.found) > 0:
			t.Errorf("%s: %v", name, c.found)
		case c.want != "" && (len(c.found) != 1 || c.found[0].Kind != c.want):
			t.Errorf("%s: %v, want one of kind %s", name, c.found, c.want)
		}
	}
}

// A program that the kernel held by nothing, and a folder that outlived its attempt, are
// found.
func TestJudgesSeeWhatTheSandboxLeft(t *testing.T) {
	t.Parallel()
	attempt := func(exit string) []Held {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ledger.ExitFile), []byte(exit), 0o600); err != nil {
			t.Fatal(err)
		}
		return []Held{{Mark: "x", Boxed: true, Private: filepath.Join(dir, "place", "one"), dir: dir}}
	}
	boxed, bare, never := attempt(`{"pid":5,"sandbox":{"mechanism":"landlock"}}`), attempt(`{"pid":5,"sandbox":null}`), attempt(`{"pid":0,"sandbox":null}`)
	left := attempt(`{}`)
	if err := os.Mkdir(filepath.Dir(left[0].Private), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		found []Fault
		want  int
	}{
		"boxed":                      {judgeBoxes(boxed, true), 0},
		"never started":              {judgeBoxes(never, true), 0},
		"held by nothing":            {judgeBoxes(bare, true), 1},
		"boxed against the operator": {judgeBoxes(boxed, false), 2},
		"no place":                   {judgePrivate(boxed), 0},
		"a place of private folders": {judgePrivate(left), 1},
	} {
		if len(c.found) != c.want {
			t.Errorf("%s: %v, want %d", name, c.found, c.want)
		}
	}
}

// lines are a history of one job's statuses.
func lines(statuses ...string) (data []byte) {
	for _, s := range statuses {
		data = append(data, `{"runId":"r","jobId":"a","verdict":"pass","attempts":1,"status":"`+s+"\"}\n"...)
	}
	return data
}

// Who starts while a process of an older attempt lives is found, and who starts
// after its end is not.
func TestTheTallySeesTwoAttemptsSideBySide(t *testing.T) {
	tally := filepath.Join(t.TempDir(), "tally")
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	old, _ := Look(sleep.Process.Pid)
	line := `{"job":"a","mark":"1","what":"child","pid":` + strconv.Itoa(old.PID) + `,"start":` + strconv.Itoa(int(old.Start)) + "}\n"
	if err := os.WriteFile(tally, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	held := []Held{{Attempt: 1, Mark: "1"}, {Attempt: 2, Mark: "2"}, {Attempt: 3, Mark: "3"}}
	beside := func(mark string) int {
		if err := enter(tally, Count{Job: "a", Mark: mark, What: countStart}); err != nil {
			t.Fatal(err)
		}
		all, err := ReadTally(tally)
		if err != nil {
			t.Fatal(err)
		}
		return len(judgeTally(all, held))
	}
	if n := beside("2"); n != 1 {
		t.Errorf("beside a live process of attempt 1: %d faults, want 1", n)
	}
	if err := sleep.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleep.Wait() // it was killed
	if n := beside("3"); n != 2 {
		t.Errorf("after its end: %d faults, want 2: this process itself is attempt 2", n)
	}
}

func TestEqualReportsDifferOnlyWhereTheyMay(t *testing.T) {
	read := func(id, text string) any {
		dir := filepath.Join(t.TempDir(), "orchestrate-"+id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ledger.ReportJSONFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := Plain(dir, "/tmp/"+id)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	a := read("one", `{"runId":"one","at":"1","jobs":[{"status":"success","branch":"orchestrate/one/write","durationMs":5}],"where":"/tmp/one/x"}`)
	b := read("two", `{"runId":"two","at":"2","jobs":[{"status":"success","branch":"orchestrate/two/write.a3","durationMs":7}],"where":"/tmp/two/x"}`)
	if d := differences("", a, b); len(d) > 0 {
		t.Error(d)
	}
	c := read("three", `{"runId":"three","jobs":[{"status":"failed","branch":"orchestrate/three/write"}],"where":"/tmp/three/x"}`)
	if d := differences("", a, c); len(d) != 1 || !strings.Contains(d[0], "jobs.0.status") {
		t.Errorf("differences: %v", d)
	}
}

// A job whose next attempt had to work elsewhere may have another place, and nothing
// else.
func TestAJobThatHadToMoveMayHaveAnotherPlace(t *testing.T) {
	read := func(text string) (doc any) {
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	want := read(`{"jobs":[{"status":{"id":"a","worktree":null,"route":{"isolation":"none","isolationWhy":""}}}],"patches":[{"job":"a","applied":true,"bytes":5}]}`)
	got := read(`{"jobs":[{"status":{"id":"a","worktree":"x","route":{"isolation":"worktree","isolationWhy":"` + elsewhere + `"}}}],"patches":[{"job":"a","applied":false,"bytes":6}]}`)
	forgetPlaces(want, got)
	if d := differences("", want, got); len(d) != 1 || !strings.Contains(d[0], "bytes") {
		t.Error(d)
	}
}

// Every failpoint gets its turn, and one that is never reached is given up.
func TestPlannerIsFair(t *testing.T) {
	p := NewPlanner(7)
	for n := range 2000 {
		r, ok := p.Next()
		if !ok {
			t.Fatalf("nothing to do after %d rounds", n)
		}
		var res Result
		for _, s := range r.Shots {
			if s.Moment.Point == failpoint.Retiring { // as if it were in no graph
				res.Missed = append(res.Missed, s.Moment)
			} else {
				res.Kills = append(res.Kills, Kill{Moment: s.Moment, Victim: s.Victim})
			}
		}
		p.Learn(res)
	}
	for name, s := range p.Shares() {
		if name == failpoint.Retiring {
			if !s.GivenUp() {
				t.Errorf("%s is not given up", name)
			}
			continue
		}
		if s.Hits < 20 {
			t.Errorf("%q: %d hits of 2000 rounds", name, s.Hits)
		}
		for _, v := range Victims {
			if s.Kills[v] == 0 {
				t.Errorf("%q: %s never killed", name, v)
			}
		}
	}
}
