package cli

import (
	"context"
	"fmt"
	"io"
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
	hasParked standing = "awaits"  // its engine has left until the hosting session acts
	isWanted  standing = "wanted"  // it goes on, and has a job for the session that nobody took
)

// follower reads a run that another process carries on, from its directory alone.
type follower struct {
	run    *ledger.Run // as it stood at the beginning
	tail   *ui.Tail
	moved  *ledger.MovedError // not nil: nothing can be known here of what runs
	ended  bool               // the newest record says so
	parked bool               // the newest record says that the engine leaves until the hosting session acts
	exit   int                // and with which exit status, of either
}

func follow(sys System, arg string) (*follower, error) {
	run, err := openRunOf(sys, arg, newestCall)
	if err != nil {
		return nil, err
	}
	moved, err := displaced(run.Dir)
	if err != nil {
		return nil, failure(joined(err, run.Close()))
	}
	tail, err := ui.OpenTail(run.Dir)
	if err != nil {
		return nil, failure(joined(err, run.Close()))
	}
	return &follower{run: run, tail: tail, moved: moved}, nil
}

// name is what a RUN argument can say for this run.
func (f *follower) name() string {
	if f.moved != nil {
		return f.run.Dir
	}
	return f.run.ID
}

// owned reports whether an engine carries the run on.
func (f *follower) owned() (bool, error) {
	if f.moved != nil {
		return false, nil
	}
	return ledger.Owned(f.run.Dir)
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
		owned, err := f.owned() // asked first: what its last words were is read after
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
		case f.parked && f.moved == nil && (!owned || late > lastWords):
			return hasParked, nil
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
	f.ended, f.parked = r.Kind == ledger.KindRunEnded, r.Kind == ledger.KindParked
	if (f.ended || f.parked) && r.ExitStatus != nil {
		f.exit = *r.ExitStatus
	}
}

// onlooker is a view of a run that goes on, on the terminal that out is; nil where there
// can be none. over is called when the person has seen enough.
func (f *follower) onlooker(sys System, out io.Writer, plain bool, over func()) *onlooker {
	if f.run.State().Phase == ledger.PhaseEnded {
		return nil
	}
	return newOnlooker(sys, out, plain, "the same", func(ui.Press) { over() })
}

// watched is until with a view of the run, of which the summary stays on out.
func (f *follower) watched(ctx context.Context, o *onlooker, out io.Writer) (how standing, err error) {
	defer func() { err = joined(err, o.close()) }() // also when something goes wrong here
	if err := o.begin(f.run); err != nil {
		return "", failure(err)
	}
	how, err = f.until(ctx, o.record, func() {
		o.listen()
		select {
		case <-o.broken():
			o.hide()
		default:
			o.show()
		}
	})
	o.hide()
	if err == nil {
		o.summary(out)
	}
	return how, err
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

// cutOff says that nobody carries the run on, as far as this directory tells.
func (f *follower) cutOff(w io.Writer) error {
	if f.moved != nil {
		return failure(f.moved)
	}
	sayCutOff(w, f.run)
	return exit(exitInterrupted)
}

// goesOn says that the run does, while this command ends.
func (f *follower) goesOn(w io.Writer) error {
	fmt.Fprintf(w, "it goes on: orchestrate wait %s\n", f.run.ID)
	return exit(exitRunning)
}

// awaits says what the hosting session is to do, and is the exit status of a run that
// waits for that.
func (f *follower) awaits(w io.Writer, now time.Time) error {
	if err := f.sayAway(w, now); err != nil {
		return err
	}
	return exit(f.exit)
}

// sayAway says what the hosting session has, as it stands now.
func (f *follower) sayAway(w io.Writer, now time.Time) (err error) {
	run, err := ledger.Open(f.run.Dir)
	if err != nil {
		return failure(err)
	}
	defer func() { err = joined(err, run.Close()) }()
	if err := sayAway(w, run, f.name(), now); err != nil {
		return failure(err)
	}
	return nil
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
		fmt.Fprintln(sys.Err, where(state))
		if err := f.sayAway(sys.Err, sys.Now()); err != nil {
			return err
		}
		return f.goesOn(sys.Err)
	case wasCutOff:
		return f.cutOff(sys.Err)
	case isWanted:
		fmt.Fprintln(sys.Err, where(state))
		return f.awaits(sys.Err, sys.Now())
	case hasParked:
		return f.awaits(sys.Err, sys.Now())
	}
	if !asJSON {
		if err := f.printResult(sys); err != nil {
			return err
		}
	}
	return exit(f.exit)
}

// calmly is how often a run is looked at anew that no engine carries on.
const calmly = 2 * time.Second

// stirs returns when there may be something new in a run: after a record that counts, when
// its engine goes, at a point in time (zero = none), when ctx ends.
func (f *follower) stirs(ctx context.Context, at time.Time, counts func(ledger.Record) bool) error {
	began := time.Now()
	before, err := f.owned()
	for err == nil {
		var owned bool
		stirred := false
		if owned, err = f.owned(); err != nil {
			break
		}
		if err = f.tail.Next(func(r ledger.Record) {
			f.heard(r)
			stirred = stirred || counts(r)
		}); err != nil {
			break
		}
		now := time.Now()
		if stirred || before && !owned || !owned && now.Sub(began) > calmly || !at.IsZero() && !now.Before(at) {
			return nil
		}
		before = owned
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(calmLook):
		}
	}
	return failure(err)
}

// concludes reports whether a record says that the engine leaves.
func concludes(r ledger.Record) bool {
	return r.Kind == ledger.KindParked || r.Kind == ledger.KindRunEnded
}
