package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
)

// keepDurably leaves a document of an integration so that no death loses it.
func (i *integration) keepDurably(name string, in integrate.Integration) error {
	rel := ledger.JobPath(ledger.IntegrationJob, name)
	if err := i.led.WriteJSON(rel, in); err != nil {
		return err
	}
	for _, path := range []string{i.led.Path(rel), i.led.JobDir(ledger.IntegrationJob)} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil && path == i.led.Path(rel) { // a folder cannot be synced everywhere
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// record leaves what an integration did, after which it was done.
func (i *integration) record(in integrate.Integration) error {
	if err := i.keepDurably(ledger.IntegrationFile, in); err != nil {
		return err
	}
	failpoint.Hit(failpoint.IntegrateKept)
	return i.led.Remove(ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile))
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

// intended is the integration that was cut off while it moved its target; ok is false
// when there is none.
func (i *integration) intended() (in integrate.Integration, ok bool, err error) {
	data, err := i.led.ReadFile(ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return in, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		err = fmt.Errorf("%s says where an integration that was cut off was moving its target, and cannot be read: %w", i.led.Path(ledger.IntegrationJob, ledger.IntentFile), err)
	}
	return in, err == nil, err
}

// finishEarlier finishes an integration that was cut off while it moved its target, or
// finds that nothing had moved; over says that it is what this command came to.
func (i *integration) finishEarlier(ctx context.Context) (over bool, err error) {
	in, there, err := i.intended()
	if err != nil || !there {
		return false, err
	}
	if i.req.DryRun {
		return false, &refusal{ExitFailed, []string{"an integration of this run was cut off while it moved " + in.Target.Branch}, []string{"orchestrate integrate " + i.led.ID}}
	}
	lock, err := i.holdTarget(ctx)
	if err != nil {
		return false, err
	}
	defer lock.Close() // the kernel drops the lock with the descriptor whatever Close says
	done, why, err := i.plan.Repo.Relearn(ctx, i.moveOf(in), lock)
	switch {
	case err != nil:
		return false, err
	case len(why) > 0:
		return false, &refusal{ExitFailed, why, []string{"orchestrate integrate " + i.led.ID}}
	case !done:
		return false, i.led.Remove(ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile))
	}
	in.Why = append(in.Why, "this integration was cut off, and has been finished now")
	i.in = in
	n, err := i.newest()
	return true, errors.Join(err, i.record(in), i.tidy(ctx, n))
}
