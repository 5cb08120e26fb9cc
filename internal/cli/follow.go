package cli

import (
	"context"
	"fmt"
	"os/signal"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/ui"
)

// How a run that was followed stood when that ended.
type standing string

const (
	stillRuns standing = "running"
	hasEnded  standing = "ended"
	wasCutOff standing = "cut off" // not ended, and its engine is gone
)

// follower reads a run that another process carries on, from its directory alone.
type follower struct {
	run   *ledger.Run // as it stood at the beginning
	tail  *ui.Tail
	ended bool // the newest record says so
	exit  int  // and with which exit status
}

func follow(sys System, arg string) (*follower, error) {
	run, err := openRun(sys, arg)
	if err != nil {
		return nil, err
	}
	tail, err := ui.OpenTail(run.Dir)
	if err != nil {
		return nil, failure(joined(err, run.Close()))
	}
	return &follower{run: run, tail: tail}, nil
}

func (f *follower) close() error { return joined(f.tail.Close(), f.run.Close()) }

const (
	quickLook = 10 * time.Millisecond  // after something came
	calmLook  = 200 * time.Millisecond // when nothing comes
	// lastWords is how long an engine may take to go after the last record of its run.
	lastWords = 5 * time.Second
)

// until hands on the records, old ones first, until the run has ended and its engine
// has let go of it, the engine is gone, or ctx has ended. between, if not nil, is
// called after each look.
func (f *follower) until(ctx context.Context, each func(ledger.Record), between func()) (standing, error) {
	late := time.Duration(0)
	for every := quickLook; ; {
		news := false
		owned, err := ledger.Owned(f.run.Dir) // asked first: what its last words were is read after
		if err == nil {
			err = f.tail.Next(func(r ledger.Record) {
				news, late = true, 0
				f.heard(r)
				each(r)
			})
		}
		if between != nil {
			between()
		}
		switch {
		case err != nil:
			return "", failure(err)
		case f.ended && (!owned || late > lastWords):
			return hasEnded, nil
		case !owned:
			return wasCutOff, nil
		}
		if every = min(2*every, calmLook); news {
			every = quickLook
		}
		select {
		case <-ctx.Done():
			if f.ended {
				return hasEnded, nil
			}
			return stillRuns, nil
		case <-time.After(every):
			late += every
		}
	}
}

func (f *follower) heard(r ledger.Record) {
	if f.ended = r.Kind == ledger.KindRunEnded; f.ended && r.ExitStatus != nil {
		f.exit = *r.ExitStatus
	}
}

// now is the run as it stands now, where another one was opened earlier.
func (f *follower) now() (ledger.State, error) {
	run, err := ledger.Open(f.run.Dir)
	if err != nil {
		return ledger.State{}, failure(err)
	}
	return run.State(), run.Close()
}

// unlessInterrupted ends ctx with the signals that end a command which only looks.
func unlessInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, stops()...)
}

// conclude says how the run stands, with the result if it has ended, and is the exit
// status that `wait` gives for that.
func (f *follower) conclude(sys System, how standing, asJSON bool) error {
	state, err := f.now()
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(sys.Out, state); err != nil {
			return failure(err)
		}
	}
	switch how {
	case stillRuns:
		fmt.Fprintf(sys.Err, "%s\nit goes on: orchestrate wait %s\n", where(state), f.run.ID)
		return exit(exitRunning)
	case wasCutOff:
		sayCutOff(sys.Err, f.run)
		return exit(exitInterrupted)
	}
	if !asJSON {
		if err := f.printResult(sys); err != nil {
			return err
		}
	}
	return exit(f.exit)
}
