package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/untrusted"
)

// The commands that set a job's worktree up run before its program, under the same
// supervisor and lock, with the same environment and proof of their end. What they leave
// is what the job finds; so it must be nothing that would pass for the job's work.

// setUp gets an attempt's worktree ready. It returns how the attempt ended if that could
// not be done; nil = its program may start.
func (r *run) setUp(ctx context.Context, slot int, a *attempt) *policy.Settlement {
	if len(a.job.Worktree.Setup) == 0 || !a.at.isolated || a.resumes != nil { // its session left it set up
		return nil
	}
	a.turn.Leave()    // its commands may take long
	a.hopeless = true // until it is there: what is wrong with it no other attempt mends
	box, err := r.setUpBox(a)
	if err != nil {
		return notSetUp(untrusted.From(err.Error()))
	}
	s := &setUpRunner{checkRunner: checkRunner{r, slot, a}, box: box}
	done, err := check.Run(ctx, a.job.Worktree.Setup, check.Env{
		Runner: s, Job: a.job.ID, Dir: a.at.dir, RunDir: r.led.Dir, Environ: a.env, Redact: r.redact.String, Setup: true, Begun: r.each(a.job.ID, ledger.StepSetup),
		Record: func(rel string, c ledger.CheckResult) error { return r.led.WriteJSON(rel, c) },
	})
	switch {
	case s.how != nil:
		return s.how
	case ctx.Err() != nil:
		return &policy.Settlement{Status: ledger.Interrupted, Reason: runtime.ReasonCancelled, Evidence: untrusted.From("cancelled while its worktree was set up")}
	case err != nil:
		return notSetUp(untrusted.From(err.Error()))
	}
	if n := len(done); !check.OK(done[n-1]) {
		return notSetUp(r.whyNotSetUp(a, n, done[n-1]))
	}
	if err := r.onlyIgnored(ctx, a); err != nil {
		return notSetUp(untrusted.From(err.Error()))
	}
	a.hopeless = false
	return nil
}

// notSetUp is the end of an attempt whose program never started for want of its tree.
func notSetUp(why untrusted.Text) *policy.Settlement {
	return &policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonSpawn, Evidence: untrusted.Sprintf("its worktree could not be set up: %s", why)}
}

// setUpBox is what the kernel holds set-up to: a check's box, with the whole tree to
// write in, an observer's too.
func (r *run) setUpBox(a *attempt) (*sandbox.Policy, error) {
	if !r.plan.Sandbox.Holds() {
		return nil, nil
	}
	box, err := r.draw(a, "", runtime.Confinement{})
	if err != nil {
		return nil, err
	}
	box.Write = append(box.Write, a.private.Path)
	if !slices.Contains(box.Write, a.at.top) {
		box.Write = append(box.Write, a.at.top)
	}
	return box, nil
}

// whyNotSetUp says which command it was, how it ended, and the last that it said.
func (r *run) whyNotSetUp(a *attempt, n int, c ledger.Check) untrusted.Text {
	how := "could not be run"
	switch {
	case c.Status == check.TimedOut:
		how = fmt.Sprintf("was stopped at its timeout of %s", a.job.Worktree.Setup[n-1].Timeout)
	case c.ExitCode != nil:
		how = fmt.Sprintf("ended with exit status %d", *c.ExitCode)
	case c.Status == check.Failed:
		how = "was ended by a signal"
	}
	text := fmt.Sprintf("command %d (%s) %s", n, c.Name, how)
	for _, ext := range []string{"err", "out"} {
		file := ledger.SetupPath(a.job.ID, n, ext)
		data, err := r.led.ReadFile(file)
		if last := lastLine(string(data)); err == nil && last != "" {
			return untrusted.Sprintf("%s; the last that it said: %s (%s)", text, untrusted.From(last), file)
		}
	}
	return untrusted.From(text)
}

// lastLine is the last line of a text that says anything.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// onlyIgnored makes sure that what set-up left is in nobody's patch.
func (r *run) onlyIgnored(ctx context.Context, a *attempt) error {
	if err := r.relink(a); err != nil {
		return err
	}
	changed, err := a.at.tree.Changed(ctx)
	if err != nil {
		return fmt.Errorf("what the set-up changed cannot be told: %w", err)
	}
	if len(changed) > 0 {
		return fmt.Errorf("the set-up left changes that git does not ignore, which would pass for the job's work: %s; let it leave tracked files as they are (such as `npm ci` in place of `npm install`), and ignore what it makes (.gitignore)",
			some(paths(changed)))
	}
	return nil
}

// setUpRunner runs set-up commands. Unlike a check none is run a second time in a tree
// that a first run may have left half done: how is then the end of the attempt.
type setUpRunner struct {
	checkRunner
	box *sandbox.Policy // nil = nothing holds them
	how *policy.Settlement
}

// Run implements check.Runner.
func (s *setUpRunner) Run(ctx context.Context, cmd check.Command) (check.Result, error) {
	name := "set-up command " + strings.TrimSuffix(filepath.Base(cmd.Stdout), ".out")
	exit, died, err := s.supervised(ctx, cmd, s.box, func(dir string) error { return s.noteRefusals(name, dir) })
	switch {
	case died && ctx.Err() == nil:
		exit.Proof = s.run.endRemains(ctx, s.attempt)
		s.how = &policy.Settlement{Status: ledger.Interrupted, Reason: runtime.ReasonCutOff, Evidence: untrusted.From("the supervisor of its set-up failed: " + err.Error())}
		s.attempt.hopeless = false
	case died:
		exit.Proof = s.run.endRemains(ctx, s.attempt)
	}
	if (err == nil || died) && !exit.Proof.Gone {
		s.attempt.handed, s.attempt.exit.Proof = true, exit.Proof
		s.how = &policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonCrash, Evidence: untrusted.From("processes of its set-up are not proven to have ended: " + left(exit.Proof))}
	}
	return resultOf(exit), err
}

// noteRefusals tells what the sandbox refused to set-up: before the program's own events,
// so not among them.
func (s *setUpRunner) noteRefusals(name, dir string) error {
	refused, err := refusalsIn(dir)
	for _, e := range refused {
		text := untrusted.Sprintf("%s: %s", name, e.Text)
		s.attempt.denied = append(s.attempt.denied, text)
		s.run.note(ledger.Noted(s.attempt.job.ID, "the sandbox refused something to "+text.Line(maxRefusal)))
	}
	return err
}

// inSetUp reports whether an attempt that an engine before began came no further than
// the set-up of its worktree: nobody goes on from there.
func (r *run) inSetUp(a *attempt) bool {
	if len(a.job.Worktree.Setup) == 0 {
		return false
	}
	_, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.EventsFile))
	return errors.Is(err, fs.ErrNotExist)
}

// cutInSetUp says why an attempt ended whose engine died meanwhile, "" = it did not. What
// is in its tree is nobody's work: no program of the job has been there.
func (r *run) cutInSetUp(a *attempt) string {
	if !a.taken || !a.exit.Proof.Gone || !a.exit.EndedAt.IsZero() || !r.inSetUp(a) {
		return ""
	}
	a.handed = false
	return "its engine died while its worktree was set up"
}
