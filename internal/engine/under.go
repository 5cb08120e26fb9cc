package engine

import (
	"context"
	"sync"

	"orchestrate/internal/ledger"
)

// under tells who follows the run that a step of the engine's own has begun; done, that
// it is over. job is "" for one of the run.
func (r *run) under(job, step, of string) (done func()) {
	of = r.redact.String(of)
	r.note(ledger.Under(job, step, of, false))
	return func() { r.note(ledger.Under(job, step, of, true)) }
}

// probing is under for the probes of runtimes.
func (r *run) probing(name string) (done func()) { return r.under("", ledger.StepProbe, name) }

// sayStopping tells who follows the run that a person asked it to stop, should they do
// so until done is called: what runs has its grace, so that nothing may be seen of it.
func (r *run) sayStopping(ctx context.Context) (done func()) {
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		r.note(ledger.Told(ledger.AboutStop, "stopping, as was asked: what runs is asked to end"))
	})
	return sync.OnceFunc(func() {
		if !stop() {
			<-said
		}
	})
}

// each is under for commands that a job's attempt runs one after the other.
func (r *run) each(job, step string) func(name string) (done func()) {
	return func(name string) func() { return r.under(job, step, name) }
}
