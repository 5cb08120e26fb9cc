package report

import (
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// ended is a run of jobs with these statuses and reasons, that ended so.
func ended(verdict string, exit int, jobs ...string) Input {
	in := Input{State: ledger.State{RunID: "r", Verdict: verdict, ExitStatus: &exit}}
	for i, job := range jobs {
		status, reason, _ := strings.Cut(job, " ")
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: fmt.Sprintf("j%d", i+1), Status: ledger.Status(status), Reason: runtime.Reason(reason)})
	}
	return in
}

func askedOf(in Input, attempts int, reason runtime.Reason) Input {
	in.Arbiter = []ledger.JobStatus{{ID: ledger.ArbiterJob, Runtime: "claude", Status: ledger.Failed, Reason: reason, Attempts: attempts}}
	return in
}

// What an agent is told to type never spends past a budget, and never starts again what a
// person has stopped.
func TestNextSpendsNothingThatAPersonMustAllow(t *testing.T) {
	budget := func(in Input) Input {
		in.Budget = &Budget{Stopped: "the budget is used up: 0.6 of 0.5 usd"}
		return in
	}
	live := func(in Input, standing string, stopping bool) Input {
		in.Standing = standing
		if stopping {
			in.State.Stopping = untrusted.From("stopping, as was asked")
		}
		return in
	}
	waits := ended(arbiter.Pass, 0, "success")
	waits.Patches = []Patch{{Job: "j1", Path: "j1/changes.patch"}}
	const again, person = "orchestrate resume --brief r", "person may decide that the run goes on: "
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"all done":                     {ended(arbiter.Pass, 0, "success"), "none"},
		"as asked, nobody reviewed it": {ended(arbiter.Unreviewed, 0, "success"), "none"},
		"a rehearsal":                  {ended(arbiter.Rehearsal, 0, "success"), "none"},
		"patches wait":                 {waits, "orchestrate integrate r"},
		"a job failed":                 {ended(arbiter.Fail, 1, "success", "blocked dependency", "failed crash"), "orchestrate explain r j3"},
		"the verdict is fail":          {ended(arbiter.Fail, 1, "success"), "person decides what to do about the verdict, for which see the report"},
		"usd or tokens, exit 1":        {budget(ended(arbiter.Blocked, 1, "success", "queued")), person + "it stopped at its budget, which then counts anew"},
		"usd, the arbiter, exit 3":     {budget(ended(arbiter.Blocked, 3, "success")), person + "it stopped at its budget, which then counts anew"},
		"wall":                         {budget(ended(arbiter.Blocked, 124, "success", "failed budget", "queued")), person + "it stopped at its budget, which then counts anew"},
		"an interrupt":                 {ended(arbiter.Blocked, 130, "success", "interrupted"), person + "it was stopped on request"},
		"an interrupt, nothing open":   {ended(arbiter.Blocked, 130, "success"), person + "it was stopped on request"},
		"a quota":                      {ended(arbiter.Blocked, 1, "failed quota", "queued"), person + "it waits for a quota"},
		"open for no such reason":      {ended(arbiter.Blocked, 1, "success", "interrupted"), again},
		"blocked by an approval":       {ended(arbiter.Blocked, 3, "success", "blocked approval"), "orchestrate explain r j2"},
		"the arbiter's form":           {askedOf(ended(arbiter.Blocked, 3, "success"), 2, runtime.BlockedNoAnswer), again},
		"its form, again and again":    {askedOf(ended(arbiter.Blocked, 3, "success"), 4, runtime.BlockedNoAnswer), "orchestrate explain r arbiter"},
		"the arbiter is signed out":    {askedOf(ended(arbiter.Blocked, 3, "success"), 1, runtime.ReasonAuth), "orchestrate explain r arbiter"},
		"it goes on":                   {live(ended("", 0, "running"), Running, false), "orchestrate wait --brief r"},
		"it is being stopped":          {live(ended("", 0, "running"), Stopping, true), "orchestrate wait --brief r"},
		"cut off":                      {live(ended("", 0, "running"), CutOff, false), again},
		"cut off by a third interrupt": {live(ended("", 0, "running"), CutOff, true), person + "it was stopped on request"},
	} {
		text := Build(c.in).Brief("/d", "r", nil)
		if !strings.HasSuffix(text, "\nnext "+c.want+"\n") {
			t.Errorf("%s: not %q:\n%s", name, c.want, text)
		}
		if strings.HasPrefix(c.want, person) && name != "a quota" && !strings.Contains(text, "\nperson the run ") {
			t.Errorf("%s: no line says how it goes on:\n%s", name, text)
		}
	}
}

// Whoever stopped the run is told how it goes on, whatever else there is to say.
func TestAStoppedRunSaysHowItGoesOn(t *testing.T) {
	in := ended(arbiter.Blocked, 130, "success", "interrupted")
	for i := range 20 {
		in.Approvals = append(in.Approvals, ledger.Approval{Job: fmt.Sprint(i), By: "flag"})
	}
	text := Build(in).Brief("/d", "r", nil)
	if want := " more: see report.md\nnext person may decide"; !strings.Contains(text, want) {
		t.Errorf("no %q:\n%s", want, text)
	}
	if want := "\nperson the run was stopped on request; next: orchestrate resume r goes on with what is left\n"; !strings.Contains(text, want) {
		t.Errorf("no %q:\n%s", want, text)
	}
}

// However long the cause, what to do about it is there to its end.
func TestBriefCutsTheCauseAndNotTheStep(t *testing.T) {
	in := ended(arbiter.Blocked, 1, "queued")
	in.Budget = &Budget{Stopped: strings.Repeat("too little of it is left ", 30)}
	in.Judgement = &ledger.Judgement{Why: []string{strings.Repeat("a crash with a long text ", 30)}}
	in.VerdictStep = strings.Repeat("x ", 120) + "END"
	text := Build(in).Brief("/d", "r", nil)
	for _, want := range []string{"…; next: `orchestrate resume r` goes on with what is left, with the budget counted anew\n", "…; next: x x x", "END\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
	for l := range strings.Lines(text) {
		if len(l) > 600 {
			t.Errorf("%d: %s", len(l), l)
		}
	}
}

// A rehearsal's verdict is marked; a verdict of rehearsal says it itself.
func TestBriefMarksARehearsal(t *testing.T) {
	for verdict, want := range map[string]string{arbiter.Fail: "\nverdict fail (REHEARSAL)\n", arbiter.Rehearsal: "\nverdict rehearsal\n"} {
		in := ended(verdict, 1, "failed crash")
		in.Judgement = &ledger.Judgement{Verdict: verdict, Rehearsal: true}
		if text := Build(in).Brief("/d", "r", nil); !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}

// What still runs may say its cost yet; only what has ended did not.
func TestRunningAttemptsAreNotSilent(t *testing.T) {
	for want, statuses := range map[string][]ledger.Status{
		"cost none reported so far":            {ledger.Running, ledger.Running},
		"cost unknown (1 attempt did not say)": {ledger.Running, ledger.Failed},
		"cost $0.5000":                         {ledger.Running, ledger.Success},
		"cost none, no agent ran":              {ledger.Queued},
	} {
		in := Input{Standing: Running, State: ledger.State{RunID: "r"}, Jobs: map[string]ledger.JobStatus{}}
		for i, status := range statuses {
			s := ledger.JobStatus{ID: fmt.Sprint(i), Status: status, Runtime: "claude"}
			if status != ledger.Queued {
				s.Attempts = 1
			}
			if status == ledger.Success {
				s.Usage = &runtime.Usage{CostUSD: ptr(0.5)}
			}
			in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: s.ID, Status: status})
			in.Jobs[s.ID] = s
		}
		if text := Build(in).Brief("/d", "r", nil); !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}
