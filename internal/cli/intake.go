package cli

import (
	"context"
	"fmt"
	"time"

	"orchestrate/internal/engine"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/secret"
	"orchestrate/internal/shellword"
)

// intake sees to it that what was handed in is taken in.
type intake struct {
	sys  System
	opts submitOptions
	f    *follower
	sub  engine.Submitted
}

// handedIn is what `submit --json` prints.
type handedIn struct {
	SchemaVersion int           `json:"schemaVersion"`
	RunID         string        `json:"runId"`
	RunDir        string        `json:"runDir"`
	Job           string        `json:"job"`
	Attempt       string        `json:"attempt"`
	Repeated      bool          `json:"repeated"` // exactly this had been handed in before
	Redacted      []string      `json:"redacted"` // what was taken out of it, as rules
	TakenIn       bool          `json:"takenIn"`  // the engine has settled the attempt
	Status        ledger.Status `json:"status"`   // of the job now
	Reason        string        `json:"reason"`
	Phase         string        `json:"phase"` // of the run now
	Next          string        `json:"next"`  // the command to type next
}

// intakeLimit is how long it is waited until the engine has taken something in. Its
// checks may take longer; then it is said that it is at it.
const intakeLimit = 10 * time.Second

// see waits until the attempt has settled, and starts an engine where nobody is there to
// settle it.
func (i *intake) see(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, intakeLimit)
	defer cancel()
	started := 0
	for every := quickLook; ; every = min(2*every, calmLook) {
		state, attended, err := engine.Attended(i.f.run.Dir)
		if err != nil {
			return failure(err)
		}
		job := jobIn(state, i.opts.job)
		if job.Status != ledger.Awaiting || waiting.Err() != nil {
			return i.say(state, job)
		}
		if !attended {
			if started++; started > mostEngines {
				return failure(fmt.Errorf("it is handed in and kept, but the run's engine ended %d times at once; orchestrate resume %s shows why", mostEngines, i.f.run.ID))
			}
			if err := carryOn(ctx, i.sys, i.f.run.Dir); err != nil {
				return failure(fmt.Errorf("it is handed in and kept; %w", err))
			}
		}
		select {
		case <-waiting.Done():
		case <-time.After(every):
		}
	}
}

// say tells what became of it.
func (i *intake) say(state ledger.State, job ledger.JobState) error {
	rules := rulesOf(i.sub.Redacted)
	next := handoff.NextCommand(shellword.Quote(i.f.name()))
	if state.Phase == ledger.PhaseEnded {
		next = "orchestrate wait " + shellword.Quote(i.f.name())
	}
	settled := job.Status != ledger.Awaiting
	for _, rule := range rules {
		fmt.Fprintf(i.sys.Err, "note: what looks like a secret (%s) was taken out before it was kept\n", rule)
	}
	if i.opts.json {
		doc := handedIn{
			SchemaVersion: ledger.SchemaVersion, RunID: state.RunID, RunDir: i.f.run.Dir, Job: job.ID, Attempt: i.opts.attempt,
			Repeated: i.sub.Repeated, Redacted: rules, TakenIn: settled, Status: job.Status, Reason: string(job.Reason), Phase: state.Phase, Next: next,
		}
		if err := printJSON(i.sys.Out, doc); err != nil {
			return failure(err)
		}
		return nil
	}
	text := "handed in"
	if i.sub.Repeated {
		text = "handed in before, and counts once"
	}
	switch {
	case settled && job.Reason != "":
		text += fmt.Sprintf("; taken in: job %s is %s (%s)", job.ID, job.Status, job.Reason)
	case settled:
		text += fmt.Sprintf("; taken in: job %s is %s", job.ID, job.Status)
	default:
		text += fmt.Sprintf("; the engine is taking it in, and checks job %s", job.ID)
	}
	if _, err := fmt.Fprintf(i.sys.Out, "%s\nnext: %s\n", text, next); err != nil {
		return failure(err)
	}
	return nil
}

// rulesOf names the rules of what was found, each once.
func rulesOf(found []secret.Match) []string {
	all, seen := []string{}, map[string]bool{}
	for _, m := range found {
		if !seen[m.Rule] {
			all, seen[m.Rule] = append(all, m.Rule), true
		}
	}
	return all
}
