package integrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
)

// works are a, b on a, c on b, and d beside them.
func works() []Work {
	return []Work{
		{Job: "a", Base: "0", Commit: "A", Files: []FileStat{{Path: "x/a"}}},
		{Job: "b", Base: "A", Commit: "B", BuildsOn: "a", Files: []FileStat{{Path: "x/b"}}},
		{Job: "c", Base: "B", Commit: "C", BuildsOn: "b", Files: []FileStat{{Path: "c"}}},
		{Job: "d", Base: "0", Commit: "D", Files: []FileStat{{Path: "x/d"}}},
	}
}

func jobs(all []Work) (ids []string) {
	for _, w := range Chosen(all) {
		ids = append(ids, w.Job)
	}
	return ids
}

func TestChoose(t *testing.T) {
	cases := []struct {
		name   string
		done   []string
		wanted []string
		chosen string
		why    string // part of it; "" = nothing stands against it
	}{
		{"all", nil, nil, "a b c d", ""},
		{"one that builds on none", nil, []string{"d"}, "d", ""},
		{"one with all below it", nil, []string{"a", "b"}, "a b", ""},
		{"without what it builds on", nil, []string{"b"}, "b", "job b builds on job a"},
		{"a gap between", nil, []string{"a", "c"}, "a c", "job c builds on job b"},
		{"below it is on the target", []string{"a"}, []string{"b"}, "b", ""},
		{"what is there is left out", []string{"a", "d"}, nil, "b c", ""},
		{"all is there", []string{"a", "b", "c", "d"}, nil, "", ""},
	}
	for _, c := range cases {
		all := works()
		for i := range all {
			if slices.Contains(c.done, all[i].Job) {
				all[i].Done = "there"
			}
		}
		why := strings.Join(Choose(all, c.wanted), "\n")
		if got := strings.Join(jobs(all), " "); got != c.chosen || (c.why == "") != (why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: chose %q, %q", c.name, got, why)
		}
	}
}

func TestGround(t *testing.T) {
	all := works()
	if got := Ground(all, all[2]); got != "0" {
		t.Errorf("c begins at %s: all below it is to come", got)
	}
	all[0].Done = "there"
	if got := Ground(all, all[2]); got != "A" {
		t.Errorf("c begins at %s: a is there", got)
	}
}

func TestPairsLeaveOutWhatBuildsOnTheOther(t *testing.T) {
	all := works()
	Choose(all, nil)
	pairs, note := Pairs(all)
	if want := [][2]int{{0, 3}, {1, 3}, {2, 3}}; !slices.Equal(pairs, want) || note != "" {
		t.Errorf("%v, %q", pairs, note)
	}
}

func TestOfVeryManyOnlyNeighboursArePaired(t *testing.T) {
	var all []Work
	for i := range mostPaired + 1 {
		all = append(all, Work{Job: fmt.Sprint(i), Files: []FileStat{{Path: fmt.Sprintf("own%d/file", i)}}})
	}
	all[3].Files = append(all[3].Files, FileStat{Path: "same/x"})
	all[7].Files = append(all[7].Files, FileStat{Path: "same/y"})
	all[9].Files = append(all[9].Files, FileStat{Path: "place"})
	all[11].Files = append(all[11].Files, FileStat{Path: "place/in"})
	Choose(all, nil)
	pairs, note := Pairs(all)
	if want := [][2]int{{3, 7}, {9, 11}}; !slices.Equal(pairs, want) || note == "" {
		t.Errorf("%v, %q", pairs, note)
	}
}

func TestLargest(t *testing.T) {
	cases := []struct {
		name string
		m    Matrix
		want string
	}{
		{"nothing clashes", Matrix{}, "a b c d"},
		{"the target", Matrix{Target: []Clash{{A: "d"}}}, "a b c"},
		{"what builds on it goes too", Matrix{Target: []Clash{{A: "b"}}}, "a d"},
		{"the first of two stays", Matrix{Pairs: []Clash{{A: "a", B: "d"}}}, "a b c"},
		{"none", Matrix{Target: []Clash{{A: "a"}, {A: "d"}}}, ""},
	}
	for _, c := range cases {
		all := works()
		Choose(all, nil)
		if got := strings.Join(Largest(all, c.m), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCommandCanBePasted(t *testing.T) {
	got := Command("20260101-000000", []string{"a", "b"}, Patch, "it's new")
	if want := `orchestrate integrate 20260101-000000 --job a --job b --strategy patch --branch 'it'\''s new'`; got != want {
		t.Errorf("%s", got)
	}
	if got := Command("r", nil, Merge, ""); got != "orchestrate integrate r" {
		t.Errorf("%s", got)
	}
}

func TestMessageHasItsTrailers(t *testing.T) {
	want := "a: adds x\n\nOrchestrate-Run: r\nOrchestrate-Job: a\nOrchestrate-Verdict: unreviewed"
	if got := Message("r", "a", arbiter.Unreviewed, "adds x"); got != want {
		t.Errorf("%q", got)
	}
}

func TestGate(t *testing.T) {
	ended := func(verdict string) ledger.State {
		return ledger.State{RunID: "r", Phase: ledger.PhaseEnded, Verdict: verdict, Jobs: []ledger.JobState{{ID: "a", Status: ledger.Success}}}
	}
	cut, undone := ended(arbiter.Pass), ended(arbiter.Pass)
	cut.Phase = ledger.PhaseRunning
	undone.Jobs[0].Status = ledger.Interrupted
	cases := []struct {
		name        string
		st          ledger.State
		written     string
		ask, judged bool
		why, next   string // parts; "" = none
	}{
		{"pass", ended(arbiter.Pass), arbiter.Pass, false, false, "", ""},
		{"unreviewed", ended(arbiter.Unreviewed), arbiter.Unreviewed, true, false, "", ""},
		{"fail", ended(arbiter.Fail), arbiter.Fail, false, true, "fail", "--retry-failed"},
		{"blocked", ended(arbiter.Blocked), arbiter.Blocked, false, true, "blocked", "orchestrate resume r"},
		{"rehearsal", ended(arbiter.Rehearsal), arbiter.Rehearsal, false, true, "rehearsal", "orchestrate run"},
		{"a verdict put there", ended(arbiter.Fail), arbiter.Pass, false, false, "changed", ""},
		{"no verdict file", ended(arbiter.Pass), "", false, false, "changed", ""},
		{"cut off", cut, arbiter.Pass, false, false, "cut off", "orchestrate resume r"},
		{"undone", undone, arbiter.Pass, false, false, "not done", "orchestrate resume r"},
	}
	for _, c := range cases {
		w := Gate(c.st, c.written)
		why, next := strings.Join(w.Why, "\n"), strings.Join(w.Next, "\n")
		if w.Ask != c.ask || w.Judged != c.judged || (why == "") != (c.why == "") || !strings.Contains(why, c.why) || !strings.Contains(next, c.next) {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func TestClashesNameBothSidesAndTheFiles(t *testing.T) {
	got := Clashes(Matrix{Target: []Clash{{A: "a", Files: []string{"x", "y"}}}, Pairs: []Clash{{A: "a", B: "b", Files: []string{"z\x1b[2J"}}}}, "branch main")
	want := []string{"job a cannot be merged with branch main: x, y", "jobs a and b cannot be merged with each other: \"z\\x1b[2J\""}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Whatever was moved, who reads it is told by which run, and what finishes it.
func TestCutOffSaysWhatFinishesIt(t *testing.T) {
	for want, target := range map[string]Target{
		"while it moved branch main": {Branch: "main"}, "while it made branch new": {Branch: "new", New: true}, "while it moved the checkout": {},
	} {
		got := CutOff(Integration{RunID: "r", Target: target})
		if !strings.Contains(got, "of run r was cut off "+want) || !strings.HasSuffix(got, "finish it with: orchestrate integrate r") {
			t.Error(got)
		}
	}
}
