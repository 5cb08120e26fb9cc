package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"orchestrate/internal/detach"
	"orchestrate/internal/engine"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

// The commands by which this program starts itself as an engine.
const (
	launchCommand = "launch-engine"
	engineCommand = "engine"
)

// presence is an engine as whoever started it knows it.
type presence struct {
	control *detach.Control
	said    func() int64     // bytes of standard error until now
	quit    func(status int) // ends the process; all that was printed goes out before
	shown   bool             // the viewer shows the run from its journal, and says itself which it is
}

// shownArg comes first on the command line of an engine of which that is so.
const shownArg = "--shown"

// runEngine carries out a command line in this process, which launch-engine started.
func runEngine(ctx context.Context, sys System, args []string) error {
	control, err := detach.Serve()
	if err != nil {
		return usageError(err)
	}
	surviveAsking()
	var complaints, results *detach.Stream
	complaints = detach.NewStream(os.Stderr, func(n int64) {
		fmt.Fprintf(complaints, "%d bytes were not shown: nobody read them in time; the run directory has everything\n", n)
	})
	results = detach.NewStream(os.Stdout, func(n int64) {
		fmt.Fprintf(complaints, "%d bytes of standard output were dropped: nobody read them in time; the run directory has everything\n", n)
	})
	var once sync.Once
	sys.Out, sys.Err = results, complaints
	shown := len(args) > 0 && args[0] == shownArg
	if shown {
		args = args[1:]
	}
	var h handed
	if h, args, err = takeOver(args); err != nil {
		fmt.Fprintf(sys.Err, "note: %v; the runtimes are asked again\n", err)
	}
	sys.known, sys.agents = h.Known, h.Agents
	sys.engine = &presence{control: control, said: complaints.Written, shown: shown, quit: func(status int) {
		once.Do(func() {
			results.Close()
			complaints.Close()
			control.Ended(status)
			os.Exit(status)
		})
	}}
	sys.engine.quit(Main(ctx, args, sys))
	return nil
}

// carriedOut is a run, or the rest of one, on an engine.
type carriedOut func(context.Context, *station, engine.Observer, engine.Controls) (engine.Result, error)

// conduct carries a run out: in a process of its own, which this one then only
// watches, or, where this is that process or there can be none, here.
func conduct(ctx context.Context, sys System, how manner, run carriedOut) error {
	if sys.engine == nil && detach.Available && sys.Self != "" {
		return watch(ctx, sys, how)
	}
	if how.detach && sys.engine == nil {
		return usageError(errors.New("--detach is not available on this system"))
	}
	return conductHere(ctx, sys, how, run)
}

func conductHere(ctx context.Context, sys System, how manner, run carriedOut) (err error) {
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	brakes, done := stoppable(ctx, sys)
	defer done()
	told := &telling{sys: sys, brakes: brakes, planning: how.planning}
	ctl := engine.Controls{Kill: brakes.kill, Leave: brakes.leave, Ask: asker(sys, how, ""), Left: func() {
		fmt.Fprintf(sys.Err, "this engine leaves; what runs goes on under its supervisors; go on with: orchestrate resume %s\n", told.runID())
		brakes.quit(exitInterrupted)
	}}
	res, err := run(brakes.work, st, told.observer(how), ctl)
	return told.outcome(how, res, err)
}

// telling tells a person of a run.
type telling struct {
	sys    System
	brakes *brakes

	planning bool // see manner
}

// runID is "" until the run has begun.
func (t *telling) runID() string {
	if id := t.brakes.run.Load(); id != nil {
		return *id
	}
	return ""
}

func (t *telling) observer(how manner) engine.Observer {
	if how.tasks != nil {
		return how.tasks.observer(t)
	}
	printer := ui.Printer(ui.NewLines(t.sys.Err))
	if how.json {
		printer = ui.NewJSON(t.sys.Out)
	}
	planned := func(p *engine.Plan) { brief(t.sys.Err, p) }
	if t.shown() {
		printer = ui.Silent{}
	}
	if how.brief {
		printer, planned = ui.Silent{}, func(*engine.Plan) {}
	}
	return engine.Observer{Begun: t.begun, Planned: planned, Record: printer.Record}
}

// shown reports whether somebody else shows the run.
func (t *telling) shown() bool { return t.sys.engine != nil && t.sys.engine.shown }

func (t *telling) begun(id, dir string) {
	t.brakes.run.Store(&id)
	if t.sys.begun != nil {
		t.sys.begun(id, dir)
	}
	if !t.shown() {
		manner{planning: t.planning}.sayBegun(t.sys, id, dir)
	}
	if e := t.sys.engine; e != nil {
		e.control.Begun(id, dir)
	}
}

// sayBegun is the first that is said of a run. One that plans a request is waited for by
// who gave it.
func (m manner) sayBegun(sys System, id, dir string) {
	if m.planning {
		fmt.Fprintf(sys.Err, "planning run %s in %s\n", id, dir)
		return
	}
	sayBegun(sys, id, dir)
}

// sayBegun is the first that is said of a run: how to find it again.
func sayBegun(sys System, id, dir string) {
	fmt.Fprintf(sys.Err, "run %s in %s\nwait: orchestrate wait %s\n", id, dir, id)
}

// outcome says how the run ended and makes it the command's own end.
func (t *telling) outcome(how manner, res engine.Result, err error) error {
	if how.tasks != nil {
		how.tasks.close()
	}
	var status statusError
	id := t.runID()
	switch {
	case errors.As(err, &status):
		return status
	case errors.Is(err, context.Canceled) && id == "":
		sayNothingBegun(t.sys)
		return exit(exitInterrupted)
	case err != nil && id != "":
		return failure(fmt.Errorf("%w\nrun %s stopped before its end; when that is put right: orchestrate resume %s", err, id, id))
	case err != nil:
		return failure(err)
	}
	if how.tasks != nil && !how.brief {
		return how.tasks.outcome(res)
	}
	if how.brief {
		if err := endedBriefly(context.Background(), t.sys, res.Dir); err != nil && res.Exit == exitOK {
			return err
		}
		return exit(res.Exit)
	}
	if len(res.NextSteps) > 0 {
		fmt.Fprintf(t.sys.Err, "next (files are in %s):\n", res.Dir)
	}
	for _, s := range res.NextSteps {
		fmt.Fprintf(t.sys.Err, "  %s\n", untrusted.From(s).Line(0))
	}
	if how.planning {
		return exit(res.Exit)
	}
	if res.Exit == exitInterrupted {
		fmt.Fprintf(t.sys.Err, "interrupted; what succeeded is kept; go on with: orchestrate resume %s\n", id)
	}
	if !how.json {
		if _, err := fmt.Fprint(t.sys.Out, "\n"+res.Completion); err != nil && res.Exit == exitOK {
			return failure(err) // who reads only this must not take silence for success
		}
	}
	return exit(res.Exit)
}
