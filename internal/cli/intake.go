package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrate/internal/detach"
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
	left bool // nobody takes it in now
	busy bool // an engine carries the run on, and does not give the job out again
}

// intakeLimit is how long it is waited until the engine has taken something in. Its
// checks may take longer; then it is said that it is at it.
const intakeLimit = 10 * time.Second

// see waits until the attempt has settled, and starts an engine where nobody is there to
// settle it.
func (i *intake) see(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, intakeLimit)
	defer cancel()
	for started := 0; ; {
		state, attended, err := engine.Attended(i.f.run.Dir)
		if err != nil {
			return failure(err)
		}
		job := jobIn(state, i.opts.job)
		i.left = !attended && i.pending(job)
		switch {
		case !i.left || waiting.Err() != nil || !detach.Available:
		case started == mostEngines:
			return failure(fmt.Errorf("it is handed in and kept, but the run's engine ended %d times at once; orchestrate resume %s shows why", mostEngines, i.f.run.ID))
		default:
			if err := carryOn(ctx, i.sys, i.f.run.Dir); err != nil && !errors.Is(err, errSilent) {
				return failure(fmt.Errorf("it is handed in and kept; %w", err))
			}
			started++
			continue
		}
		if !i.pending(job) || i.left || waiting.Err() != nil {
			return i.say(state, job)
		}
		if err := i.f.stirs(waiting, time.Time{}, i.settles); err != nil {
			return err
		}
	}
}

// pending reports whether the attempt has not settled yet. Another one may be out already.
func (i *intake) pending(job ledger.JobState) bool {
	return job.Status == ledger.Awaiting && job.Attempt == i.sub.N
}

// settles reports whether the attempt may have settled, or nobody may be there any more to
// settle it, since a record.
func (i *intake) settles(r ledger.Record) bool {
	ended := r.Kind == ledger.KindSettled || r.Kind == ledger.KindAttemptEnded
	return r.Job == i.opts.job && ended || concludes(r)
}

// say tells what became of it.
func (i *intake) say(state ledger.State, job ledger.JobState) error {
	busy, err := i.f.owned()
	if err != nil {
		return failure(err)
	}
	i.busy = busy
	rules := rulesOf(i.sub.Redacted)
	for _, rule := range rules {
		fmt.Fprintf(i.sys.Err, "note: what looks like a secret (%s) was taken out before it was kept\n", rule)
	}
	if i.opts.json {
		err = printJSON(i.sys.Out, handoff.Receipt{
			SchemaVersion: ledger.SchemaVersion, RunID: state.RunID, RunDir: i.f.run.Dir, Job: job.ID, Attempt: i.opts.attempt,
			Repeated: i.sub.Repeated, Redacted: rules, TakenIn: !i.pending(job), Status: job.Status,
			Reason: string(job.Reason), Phase: state.Phase, Next: i.next(state),
		})
	} else {
		_, err = fmt.Fprintf(i.sys.Out, "%s\nnext: %s\n", i.text(job), i.next(state))
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// text says it in a line.
func (i *intake) text(job ledger.JobState) string {
	text := "handed in"
	if i.sub.Repeated {
		text = "handed in before, and counts once"
	}
	switch {
	case i.sub.EndStated:
		text += fmt.Sprintf("; that job %s has ended is kept as your word", job.ID)
		if i.busy {
			text += fmt.Sprintf("; when the engine that carries the run on has ended, orchestrate resume %s gives the job out again", shellword.Quote(i.f.name()))
		}
		return text
	case i.left:
		return text + ", and kept until an engine takes it in"
	case i.pending(job):
		return text + fmt.Sprintf("; the engine is taking it in, and checks job %s", job.ID)
	case !job.Status.Settled():
		return text + fmt.Sprintf("; taken in: attempt %d of job %s has ended, and another one follows", i.sub.N, job.ID)
	case job.Reason != "":
		return text + fmt.Sprintf("; taken in: job %s is %s (%s)", job.ID, job.Status, job.Reason)
	}
	return text + fmt.Sprintf("; taken in: job %s is %s", job.ID, job.Status)
}

// next is the command to type next.
func (i *intake) next(state ledger.State) string {
	name := shellword.Quote(i.f.name())
	switch {
	case i.sub.EndStated && i.busy:
		return "orchestrate wait " + name
	case i.sub.EndStated || i.left:
		return "orchestrate resume " + name
	case state.Phase == ledger.PhaseEnded:
		return "orchestrate wait " + name
	}
	return handoff.NextCommand(name)
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
