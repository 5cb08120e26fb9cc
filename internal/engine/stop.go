package engine

import (
	"context"
	"errors"
	"io/fs"

	"orchestrate/internal/ledger"
	"orchestrate/internal/secret"
	"orchestrate/internal/spec"
)

// stopAnyway ends what still runs of a run whose spec cannot be read any more: for
// that, what the journal and the locks say is enough. The run is then as after a crash.
func (e *Engine) stopAnyway(ctx context.Context, led *ledger.Run, old *past, obs Observer, ctl Controls) error {
	r := &run{
		eng: e, led: led, slots: newSlots(1, e.Supervisor), plan: &Plan{Spec: &spec.Spec{}}, stopping: true, resumed: true,
		redact: secret.NewAllowing(secret.FromEnv(e.Env), e.Operator.Secrets.Allow), stop: func() {},
		killed: make(chan struct{}), gone: make(chan struct{}),
	}
	led.Guard(r.redact)
	defer r.control(ctl)()
	if err := led.Append(ledger.Resumed(false)); err != nil {
		return err
	}
	obs.Begun(led.ID, led.Dir)
	led.Follow(obs.Record)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for id, pj := range old.jobs {
		if !pj.open {
			continue
		}
		n := len(pj.routes)
		a := &attempt{job: &spec.Job{ID: id}, n: n, route: pj.routes[n-1], begun: pj.begun, taken: true, from: pj.events, dir: led.JobDir(id)}
		if err := r.stopOne(ended, a); err != nil {
			return err
		}
	}
	return r.broken
}

func (r *run) stopOne(ctx context.Context, a *attempt) error {
	defer a.release()
	held, err := r.led.AttemptLock(a.job.ID)
	if errors.Is(err, fs.ErrNotExist) || err == nil && held.Attempt != a.n {
		a.dir = ""
		return r.cutOff(ctx, a, "the run was stopped", nothingStarted)
	}
	if err == nil {
		err = r.awaitEnd(ctx, a)
	}
	if err != nil {
		return err
	}
	a.handed = true
	if held.Furnished != nil {
		a.private.Path = held.Furnished.Private
	}
	if exit, err := r.readExit(a); err == nil {
		a.exit = exit
		r.endOfCheck(ctx, a)
	} else {
		a.exit.Proof = r.endRemains(ctx, a)
	}
	if a.internal() && a.exit.Proof.Gone {
		if done, err := r.stopInternal(ctx, a); done || err != nil {
			return err
		}
	}
	if err := errors.Join(r.takeIn(a), a.unsearched); err != nil {
		return err
	}
	return r.cutOff(ctx, a, "the run was stopped", a.exit.Proof)
}
