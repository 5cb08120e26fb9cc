package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox/private"
	"orchestrate/internal/supervise"
	"orchestrate/internal/workspace"
)

// adoptEvery is how often an adopted attempt's lock is asked for.
const adoptEvery = 50 * time.Millisecond

// stopLimit is how long a supervisor that was told to stop may take: its grace, its
// proof, and some time for a busy machine.
const stopLimit = grace + 30*time.Second

// furnished is what a later engine needs to settle this attempt.
func (a *attempt) furnished() ledger.Furnished {
	f := ledger.Furnished{
		Dir: a.at.dir, Top: a.at.top, Isolated: a.at.isolated, Inputs: a.given, Begun: a.begun.UTC(),
		AnswerFromStdout: a.cmd.Answer == runtime.AnswerFromStdout, Decoder: a.cmd.Decoder.Runtime,
		Constrained: a.route.Constrained, Mark: a.mark, Before: a.before, Sets: a.sets, Private: a.private.Path, Box: a.box, CheckBox: a.checkBox,
		Resumes: a.resumes,
	}
	switch t := a.at.tree; {
	case t == nil:
	case a.at.isolated:
		p := t.Place()
		f.Tree, f.GitDir, f.Branch, f.Base = p.Dir, p.GitDir, p.Branch, p.Base
	default:
		f.Shared, f.SharedBase = true, t.Base
	}
	return f
}

// equipAgain gives an attempt that an engine before began what it needs to be
// settled. What cannot be had any more shows when it is asked for.
func (r *run) equipAgain(ctx context.Context, a *attempt, f ledger.Furnished) {
	a.given, a.begun, a.mark = f.Inputs, f.Begun, f.Mark
	a.before, a.private, a.box, a.checkBox = f.Before, private.Dir{Path: f.Private}, f.Box, f.CheckBox
	a.resumes = f.Resumes
	a.at = place{dir: f.Dir, top: f.Top, isolated: f.Isolated, branch: f.Branch}
	switch repo := r.plan.Repo; {
	case repo == nil:
	case f.Isolated:
		a.at.tree, a.at.lost = repo.OpenTree(ctx, workspace.TreePlace{Dir: f.Tree, GitDir: f.GitDir, Branch: f.Branch, Base: f.Base})
	case f.Shared:
		a.at.tree, a.at.lost = workspace.SharedTree(ctx, repo, f.SharedBase)
	}
	a.route.Constrained = f.Constrained
	a.cmd.Decoder.Runtime, a.cmd.Answer = f.Decoder, runtime.AnswerFromStream
	if f.AnswerFromStdout {
		a.cmd.Answer = runtime.AnswerFromStdout
	}
}

// adopt waits for the end of an attempt that an engine before began, and takes in
// what its supervisor left.
func (r *run) adopt(ctx context.Context, a *attempt) error {
	failpoint.Hit(failpoint.Adopting)
	r.metered(a)
	if err := r.awaitEnd(ctx, a); err != nil {
		return err
	}
	r.holdCheckoutAgain(ctx, a)
	r.holdSessionAgain(a)
	exit, err := r.readExit(a)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.lost = "it died while its attempt was taken over"
		a.exit.Proof = r.endRemains(ctx, a)
	case err != nil:
		return err
	default:
		a.exit = exit
		r.endOfCheck(ctx, a)
	}
	if a.exit.PID != 0 && r.statusIn(a.job.ID) == ledger.Queued {
		r.note(r.startedBefore(a))
	}
	return r.takeIn(a)
}

// startedBefore is the record that an engine before could not write any more.
func (r *run) startedBefore(a *attempt) ledger.Record {
	held, err := r.led.AttemptLock(a.job.ID)
	if err != nil || held.Program == nil || held.Program.PID != a.exit.PID { // a check has run since
		return ledger.Started(a.job.ID, a.n, a.exit.PID, 0)
	}
	return ledger.Started(a.job.ID, a.n, held.Program.PID, held.Program.StartTime)
}

// statusIn is where the journal says that a job stands.
func (r *run) statusIn(id string) ledger.Status {
	st := r.led.State()
	if id == ledger.ArbiterJob {
		st.Jobs = nil
		if st.Arbiter != nil {
			return st.Arbiter.Status
		}
	}
	for _, j := range st.Jobs {
		if j.ID == id {
			return j.Status
		}
	}
	return ledger.Queued
}

// awaitEnd returns with the attempt's lock: whoever held it is done with its tree.
func (r *run) awaitEnd(ctx context.Context, a *attempt) error {
	if a.lock != nil {
		return nil
	}
	var asked, killed, ended bool
	var since time.Time // it was asked
	for {
		var err error
		if a.lock, err = r.led.Retake(a.job.ID); !errors.Is(err, ledger.ErrHeld) {
			return err
		}
		_, exitErr := r.readExit(a) // with one, what runs is a check whose result is lost
		if (ctx.Err() != nil || exitErr == nil || r.inSetUp(a)) && !asked {
			asked, since = r.signalHolder(a, syscall.SIGTERM), time.Now()
		}
		select {
		case <-r.killed:
			killed = killed || r.signalHolder(a, syscall.SIGTERM)
		default:
		}
		if asked && !ended && time.Since(since) > stopLimit { // it does not even look at signals
			ended = r.signalHolder(a, os.Kill)
		}
		time.Sleep(adoptEvery)
	}
}

// signalHolder tells the attempt's supervisor to stop what it runs: politely the first
// time, without further grace the second. It reports whether it could: one that has not
// said yet who it is will.
func (r *run) signalHolder(a *attempt, sig os.Signal) bool {
	held, err := r.led.AttemptLock(a.job.ID)
	if err != nil || held.Supervisor == nil {
		return false
	}
	if err := held.Supervisor.Signal(sig); err != nil && !errors.Is(err, process.ErrGone) {
		r.note(ledger.Noted(a.job.ID, fmt.Sprintf("its supervisor (pid %d) cannot be told to stop: %v", held.Supervisor.PID, err)))
	}
	return true
}

// endOfCheck makes sure that nothing of a check is left whose supervisor died.
func (r *run) endOfCheck(ctx context.Context, a *attempt) {
	held, err := r.led.AttemptLock(a.job.ID)
	if err != nil || held.Over || !a.exit.Proof.Gone {
		return
	}
	if proof := r.endRemains(ctx, a); !proof.Gone {
		a.exit.Proof = proof
	}
}

// endRemains ends what an attempt's dead supervisor left behind, as far as it was
// recorded, and says whether that is proven.
func (r *run) endRemains(ctx context.Context, a *attempt) supervise.Proof {
	held, err := r.led.AttemptLock(a.job.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (held.Attempt != a.n || held.Supervisor == nil):
		return nothingStarted
	case err != nil:
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
		return supervise.Proof{Level: supervise.ProofNone, Left: []supervise.Process{}}
	}
	if held.Supervisor.Fate() == process.Alive { // it has been given up: it must not go on by itself
		r.signalDead(a, *held.Supervisor)
	}
	if held.Furnished != nil {
		a.mark = held.Furnished.Mark
	}
	remains := r.remains(a)
	remains.Supervisor, remains.Cgroup = *held.Supervisor, held.Cgroup
	if held.Program != nil {
		remains.Program = *held.Program
	}
	proof, err := supervise.End(context.WithoutCancel(ctx), remains)
	if err != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
	}
	if proof.Gone { // it died while it wrote its last file
		r.fail(r.led.Remove(ledger.JobPath(a.job.ID, ".exit.json.tmp")))
	}
	return proof
}

// remains is by what the processes of an attempt are found, beside what its lock says.
func (r *run) remains(a *attempt) supervise.Remains {
	left := supervise.Remains{Descendants: r.seen(a)}
	if a.mark != "" {
		left.Mark = markVariable + "=" + a.mark
	}
	return left
}

func (r *run) signalDead(a *attempt, who process.Identity) {
	if err := who.Signal(os.Kill); err != nil && !errors.Is(err, process.ErrGone) {
		r.note(ledger.Noted(a.job.ID, fmt.Sprintf("its supervisor (pid %d) cannot be ended: %v", who.PID, err)))
	}
}

// seen are the descendants that the supervisor recorded.
func (r *run) seen(a *attempt) (all []supervise.Process) {
	data, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.EventsFile))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		var e runtime.Event
		if json.Unmarshal([]byte(line), &e) == nil && e.PID != 0 && e.StartTime != 0 {
			all = append(all, supervise.Process{PID: e.PID, StartTime: e.StartTime})
		}
	}
	return all
}
