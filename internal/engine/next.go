package engine

import (
	"context"
	"errors"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// NextRequest says who wants a job of which run.
type NextRequest struct {
	Dir           string // absolute run directory
	handoff.Taker        // By as CallerName gives it
}

// Offer is what there is for the hosting session to do.
type Offer struct {
	State ledger.State
	Taken *handoff.Away  // given to the caller, nil = there is none
	Away  []handoff.Away // all that is with the session
	Owned bool           // an engine carries the run on
	// Idle says that something is to be done for which the run needs an engine.
	Idle bool
}

// Next takes the first job of a run that awaits the session and that nobody has. It
// touches nothing but the hand-off's files, and works whether or not an engine is there.
func (e *Engine) Next(ctx context.Context, req NextRequest) (Offer, error) {
	release, err := ledger.LockHandoff(ctx, req.Dir)
	if err != nil {
		return Offer{}, err
	}
	offer, err := e.next(req)
	return offer, errors.Join(err, release())
}

func (e *Engine) next(req NextRequest) (offer Offer, err error) {
	if offer.Owned, err = ledger.Owned(req.Dir); err != nil { // asked first: its last words are read after
		return offer, err
	}
	run, err := ledger.Open(req.Dir)
	if err != nil {
		return offer, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	offer.State = run.State()
	if offer.Away, err = handoff.Look(run); err != nil {
		return offer, err
	}
	if offer.State.Phase != ledger.PhaseEnded && offer.State.Stopping.Empty() {
		if offer.Taken, err = handoff.Take(run, offer.Away, req.Taker, e.Now()); err != nil {
			return offer, err
		}
	}
	offer.Idle = !offer.Owned && unattended(offer.State, offer.Away)
	return offer, nil
}

// mostName bounds what a caller may call itself, in characters.
const mostName = 100

// CallerName is what a caller of Next calls itself, in a form that can be kept and shown.
func (e *Engine) CallerName(ctx context.Context, dir, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	redact, err := e.redactorOf(ctx, dir)
	if err != nil {
		return "", err
	}
	return untrusted.From(redact.String(name)).Line(mostName), nil
}

// unattended reports whether a run that nobody carries on has something to do: it was
// cut off, or what the session had is back. One that was asked to stop has not.
func unattended(s ledger.State, away []handoff.Away) bool {
	switch {
	case s.Phase == ledger.PhaseEnded || !s.Stopping.Empty():
		return false
	case s.Phase != ledger.PhaseAwaiting:
		return true
	}
	for _, a := range away {
		if a.Back() {
			return true
		}
	}
	return false
}
