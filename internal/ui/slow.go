package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/ledger"
)

// Steps of the engine's own are told only when they take their time, those of a kind
// together: nobody wants two lines for each check.

// slowAfter is when a step is worth a line.
const slowAfter = 2 * time.Second

// slowSteps are the steps under way.
type slowSteps struct {
	open  []underWay
	timer *time.Timer // nil = nothing is waited for
}

type underWay struct {
	job, step, of string
	since         time.Time
	told          bool
}

// step keeps the steps that are under way.
func (l *Lines) step(r ledger.Record) {
	switch {
	case r.Kind == ledger.KindRunEnded, r.Kind == ledger.KindParked:
		l.slow.open = nil
	case r.Kind != ledger.KindProgress:
		return
	case r.Progress.Done:
		l.slow.open = slices.DeleteFunc(l.slow.open, func(u underWay) bool {
			return u.job == r.Job && u.step == r.Progress.Step && u.of == r.Progress.Of
		})
	default:
		l.slow.open = append(l.slow.open, underWay{job: r.Job, step: r.Progress.Step, of: r.Progress.Of, since: time.Now()})
	}
	l.wake()
}

// wake waits for the oldest step that was not told.
func (l *Lines) wake() {
	if l.slow.timer != nil {
		l.slow.timer.Stop()
		l.slow.timer = nil
	}
	for _, u := range l.slow.open {
		if !u.told {
			l.slow.timer = time.AfterFunc(time.Until(u.since.Add(slowAfter)), l.tell)
			return
		}
	}
}

// tell prints a line for each kind of step that has become slow.
func (l *Lines) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	names := map[string][]string{}
	for i := range l.slow.open {
		if u := &l.slow.open[i]; !u.told && now.Sub(u.since) >= slowAfter {
			names[u.step], u.told = append(names[u.step], u.name()), true
		}
	}
	for _, s := range stepWords {
		if who := names[s.step]; len(who) > 0 {
			fmt.Fprintf(l.out, "%8s  %s %s …\n", now.Sub(l.begin).Round(100*time.Millisecond), s.words, line(strings.Join(who, ", ")))
		}
	}
	l.wake()
}

// name is what a step is about: a runtime, a job, or a job's check.
func (u underWay) name() string {
	switch {
	case u.job == "":
		return u.of
	case u.of == "":
		return u.job
	}
	return u.job + " (" + u.of + ")"
}

// stepWords are what is said of steps, in the order in which a run comes to them.
var stepWords = []struct{ step, words string }{
	{ledger.StepProbe, "probing"},
	{ledger.StepWorktree, "making the worktree of"},
	{ledger.StepSetup, "setting up the worktree of"},
	{ledger.StepCheck, "checking"},
	{ledger.StepReview, "making the evidence for the arbiter"},
}
