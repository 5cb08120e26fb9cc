package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
)

// keepDurably leaves a document of an integration so that no death loses it.
func (r *run) keepDurably(name string, in integrate.Integration) error {
	rel := ledger.JobPath(ledger.IntegrationJob, name)
	if err := r.led.WriteJSON(rel, in); err != nil {
		return err
	}
	for _, path := range []string{r.led.Path(rel), r.led.JobDir(ledger.IntegrationJob)} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil && path == r.led.Path(rel) { // a folder cannot be synced everywhere
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// record leaves what an integration did, after which it was done.
func (r *run) record(in integrate.Integration) error {
	if err := r.keepDurably(ledger.IntegrationFile, in); err != nil {
		return err
	}
	failpoint.Hit(failpoint.IntegrateKept)
	return r.led.Remove(ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile))
}

// keepRefusal leaves why an integration that got as far as its checks was refused.
func (i *integration) keepRefusal(err error) error {
	var no *refusal
	if !errors.As(err, &no) {
		return err
	}
	in := i.in
	in.Outcome, in.Target.To = integrate.Refused, ""
	in.Why, in.Next = append(in.Why[:len(in.Why):len(in.Why)], no.why...), append(in.Next[:len(in.Next):len(in.Next)], no.next...)
	if err := i.keepDurably(ledger.IntegrationFile, in); err != nil {
		return err
	}
	return err
}

// finishEarlier finishes an integration that was cut off while it moved its target, or
// finds that nothing had moved; over says that it is what this command came to.
func (i *integration) finishEarlier(ctx context.Context) (over bool, err error) {
	in, there, err := Intended(i.led)
	if err != nil || !there {
		return false, err
	}
	if i.req.DryRun {
		return false, &refusal{ExitFailed, []string{integrate.CutOff(in)}, []string{integrate.Command(i.led.ID, nil, integrate.Merge, "")}}
	}
	i.in, over, err = i.finishCut(ctx, in, i.in)
	return over, err
}

// finishCut finishes an integration that was cut off; where it had not begun to move
// anything, it is forgotten and the other one goes on.
func (r *run) finishCut(ctx context.Context, in, other integrate.Integration) (integrate.Integration, bool, error) {
	lock, err := r.holdTarget(ctx)
	if err != nil {
		return other, false, err
	}
	defer lock.Close() // the kernel drops the lock with the descriptor whatever Close says
	done, why, err := r.plan.Repo.Relearn(ctx, moveOf(in), lock)
	switch {
	case err != nil:
		return other, false, err
	case len(why) > 0:
		return other, false, &refusal{ExitFailed, why, []string{"orchestrate integrate " + r.led.ID}}
	case !done:
		return other, false, r.led.Remove(ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile))
	}
	in.Why = append(in.Why, "this integration was cut off, and has been finished now")
	n, err := newestIntegration(r.led)
	return in, true, errors.Join(err, r.record(in), r.tidy(ctx, n))
}

// finishIntegration finishes one that was cut off before the run is carried on: what it
// moved is what was reviewed until now.
func (r *run) finishIntegration(ctx context.Context) error {
	in, there, err := Intended(r.led)
	if err != nil || !there || r.plan.Repo == nil {
		return err
	}
	_, done, err := r.finishCut(ctx, in, in)
	if done {
		r.plan.Notes = append(r.plan.Notes, fmt.Sprintf("an integration of this run that was cut off has been finished: %s is at commit %.12s", in.Target.Branch, in.Target.To))
	}
	var no *refusal
	if errors.As(err, &no) {
		return fmt.Errorf("an integration of this run was cut off: %s", strings.Join(no.why, "; "))
	}
	return err
}

// halfMoved refuses where it is an integration of another run that left the changes in the
// checkout: they are no person's to commit.
func (i *integration) halfMoved() error {
	dirs, err := ledger.EveryRunDir(i.plan.Root)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if dir == i.led.Dir {
			continue
		}
		in, there, err := intendedIn(dir)
		if err != nil {
			return err
		}
		if !there || in.Target.New {
			continue
		}
		why := integrate.CutOff(in)
		if owned, err := ledger.Owned(dir); err != nil {
			return err
		} else if owned {
			why = "run " + in.RunID + " is being integrated: try again when that is done"
		}
		return &refusal{ExitFailed, []string{why}, []string{integrate.Command(in.RunID, nil, integrate.Merge, "")}}
	}
	return nil
}

// intendedIn is Intended for a run directory.
func intendedIn(dir string) (in integrate.Integration, there bool, err error) {
	if _, err := os.Lstat(filepath.Join(dir, ledger.IntegrationJob, ledger.IntentFile)); errors.Is(err, fs.ErrNotExist) {
		return in, false, nil
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return in, false, err
	}
	in, there, err = Intended(run)
	return in, there, errors.Join(err, run.Close())
}
