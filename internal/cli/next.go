package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/shellword"
)

type nextOptions struct {
	run   string
	wait  time.Duration
	lease time.Duration
	by    string
	json  bool
}

func newNext(sys System) *cobra.Command {
	opts := nextOptions{}
	cmd := &cobra.Command{
		Use:   "next RUN",
		Short: "Take a job that a run has for the hosting session",
		Long: `Take the next job of a run that is to be done by an agent of the session that calls
this, and print what it needs: the prompt to give to the agent as it is, where it works,
what it may read and write, and the attempt's id, which is handed in with the result.
Only one caller gets a job. It is theirs for the time of the lease: the job's timeout, or
what --lease says. After that another caller that waits and finds no other job gets it as
a new attempt, and what the first one hands in is refused. A job that writes nobody else
gets before its result is there or its end is stated (orchestrate submit ... --failed
"it has ended").

Where there is no job to take, it waits for one. It works whether or not the run's engine
is there, and starts one where there is something for it to do.
RUN is a run id or the path of a run directory.

Exit status: 0 a job was taken; 5 there is none yet: call it again; 4 there is none
before the session acts on one that it has; when the run has ended, that of the run, as
with wait; 130 told to end, or the run was stopped; 1 an error; 2 usage error.`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return runNext(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().DurationVar(&opts.wait, "wait", waitDefault, "for what `DURATION` to wait for a job; 0 takes only what is there")
	cmd.Flags().DurationVar(&opts.lease, "lease", 0, "for what `DURATION` the job is yours (default the job's timeout, else "+handoff.DefaultLease.String()+")")
	cmd.Flags().StringVar(&opts.by, "by", "", "the `NAME` of whoever takes it, shown to others")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// What a caller may ask for.
const (
	leastLease = time.Second
	mostLease  = 24 * time.Hour
)

func runNext(ctx context.Context, sys System, opts nextOptions) (err error) {
	if opts.lease != 0 && opts.lease < leastLease || opts.lease > mostLease || opts.wait < 0 {
		return usageError(fmt.Errorf("--lease goes from %s to %s, and --wait is not negative", leastLease, mostLease))
	}
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	if f.moved != nil {
		return failure(f.moved)
	}
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	ctx, done := unlessInterrupted(ctx)
	defer done()
	if f.run.State().Phase == ledger.PhaseEnded {
		opts.by = "" // there is nothing to take
	}
	if opts.by, err = st.CallerName(ctx, f.run.Dir, opts.by); err != nil {
		return failure(err)
	}
	n := &taker{sys: sys, opts: opts, f: f, eng: st.Engine}
	return n.run(ctx)
}

// taker takes a job for the hosting session.
type taker struct {
	sys     System
	opts    nextOptions
	f       *follower
	eng     *engine.Engine
	started int // engines
}

// mostEngines bounds how often an engine is started that ends again without a word.
const mostEngines = 3

func (n *taker) run(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, n.opts.wait)
	defer cancel()
	who := handoff.Taker{By: n.opts.by, Lease: n.opts.lease, Waits: n.opts.wait > 0}
	for {
		offer, err := n.eng.Next(ctx, engine.NextRequest{Dir: n.f.run.Dir, Taker: who})
		switch {
		case errors.Is(err, context.Canceled):
			return exit(exitInterrupted)
		case err != nil:
			return failure(err)
		case offer.Taken != nil:
			return n.handOut(offer)
		case offer.State.Phase == ledger.PhaseEnded:
			return n.ended(ctx, offer)
		case !offer.Owned && !offer.State.Stopping.Empty():
			return n.f.cutOff(n.sys.Err)
		case offer.Idle:
			if err := n.carryOn(ctx); err != nil {
				return err
			}
		case n.stuck(offer):
			return n.nothing(offer, exitAwaiting)
		}
		if err := n.f.stirs(waiting, handoff.Earliest(offer.Away, n.sys.Now()), offers); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return exit(exitInterrupted)
		case waiting.Err() != nil:
			return n.nothing(offer, exitRunning)
		}
	}
}

// offers reports whether there may be a job to take, or none any more, since a record.
func offers(r ledger.Record) bool { return r.Kind == ledger.KindAwaiting || concludes(r) }

func (n *taker) carryOn(ctx context.Context) error {
	if n.started++; n.started > mostEngines {
		return failure(fmt.Errorf("the run's engine ended %d times at once; orchestrate resume %s shows why", mostEngines, n.f.run.ID))
	}
	if err := carryOn(ctx, n.sys, n.f.run.Dir); err != nil && !errors.Is(err, errSilent) {
		return failure(err)
	}
	return nil
}

// stuck reports whether nothing comes before the session acts: no engine is there, and
// of all that the session has the writers are not proven to have ended.
func (n *taker) stuck(offer engine.Offer) bool {
	if offer.State.Phase != ledger.PhaseAwaiting || len(offer.Away) == 0 {
		return false
	}
	for _, a := range offer.Away {
		if !a.Unproven(n.sys.Now()) {
			return false
		}
	}
	return true
}

// ended tells of a run in which there is nothing left to do.
func (n *taker) ended(ctx context.Context, offer engine.Offer) error {
	how, err := n.f.until(ctx, func(ledger.Record) {}, nil)
	if err != nil {
		return err
	}
	if !n.opts.json {
		return n.f.conclude(n.sys, how, false)
	}
	if err := n.print(offer, report.Ended); err != nil {
		return err
	}
	return exit(n.f.exit)
}

// nothing tells that there is no job to take, and why.
func (n *taker) nothing(offer engine.Offer, status int) (err error) {
	stands := report.Running
	if offer.State.Phase == ledger.PhaseAwaiting {
		stands = report.Awaiting
	}
	if n.opts.json {
		if err := n.print(offer, stands); err != nil {
			return err
		}
	}
	now := n.sys.Now()
	fmt.Fprintf(n.sys.Err, "no job of run %s can be taken now\n", offer.State.RunID)
	for _, a := range offer.Away {
		if line := heldBy(a, n.f.name(), now); line != "" {
			fmt.Fprintln(n.sys.Err, line)
		}
	}
	if stands == report.Awaiting {
		fmt.Fprintf(n.sys.Err, "hand it in: %s\n", handoff.SubmitCommand(shellword.Quote(n.f.name()), "JOB", "ID"))
	}
	if status == exitRunning {
		fmt.Fprintf(n.sys.Err, "%s\nask again: %s\n", where(offer.State), handoff.NextCommand(shellword.Quote(n.f.name())))
	}
	return exit(status)
}
