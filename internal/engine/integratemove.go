package engine

import (
	"context"
	"fmt"
	"os"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// move brings the target to the result, if it is still as it was when all began.
func (i *integration) move(ctx context.Context) error {
	lock, err := i.holdTarget(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() // the kernel drops the lock with the descriptor whatever Close says
	m := moveOf(i.in)
	i.in.Outcome = integrate.Integrated
	for k, w := range i.in.Jobs {
		if at := i.made[w.Job]; at != "" {
			i.in.Jobs[k].Done = at
		}
	}
	why, err := i.plan.Repo.Land(ctx, m, lock, func() error { return i.keepDurably(ledger.IntentFile, i.in) })
	switch {
	case err != nil:
		i.in.Outcome = ""
		return err
	case len(why) > 0:
		if err := i.led.Remove(ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile)); err != nil {
			return err
		}
		return i.unmoved(why)
	}
	if err := i.noteSubmodules(ctx); err != nil {
		return err
	}
	return i.record(i.in)
}

// unmoved refuses because the target is no longer as it was.
func (i *integration) unmoved(why []string) error {
	for k, w := range i.in.Jobs {
		if i.made[w.Job] != "" {
			i.in.Jobs[k].Done = ""
		}
	}
	return &refusal{ExitFailed, why, []string{i.command(i.req.Jobs)}}
}

func moveOf(in integrate.Integration) workspace.Move {
	ref := "HEAD"
	if in.Target.Branch != "" {
		ref = "refs/heads/" + in.Target.Branch
	}
	return workspace.Move{Ref: ref, New: in.Target.New, From: in.Target.From, To: in.Target.To, Because: "orchestrate: integrate " + in.RunID}
}

// holdTarget makes sure that no job works in the checkout meanwhile.
func (r *run) holdTarget(ctx context.Context) (*os.File, error) {
	hold, stop := context.WithCancel(ctx)
	defer stop()
	var other string
	who := fmt.Sprintf("the integration of run %s (%s)", r.led.ID, r.led.Dir)
	lock, err := r.plan.Repo.LockCheckout(hold, who, func(holder string) { other = holder; stop() })
	if other != "" && ctx.Err() == nil {
		return nil, refuse(ExitFailed, "another writer is at work in the checkout: "+other+"; try again when it has ended")
	}
	return lock, err
}

// noteSubmodules says which submodules git now names another commit of.
func (i *integration) noteSubmodules(ctx context.Context) error {
	if i.in.Target.New {
		return nil
	}
	changes, err := i.plan.Repo.Compare(context.WithoutCancel(ctx), i.in.Target.From, i.in.Target.To)
	for _, c := range changes {
		if c.Mode == workspace.SubmoduleMode {
			i.in.Why = append(i.in.Why, fmt.Sprintf("the submodule %s is at another commit now: git submodule update -- %s", c.Path, c.Path))
		}
	}
	return err
}
