package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/pflag"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
)

// briefHelp says what --brief prints.
const briefHelp = `With --brief, for agents, standard output is a few lines, each a word and what it says:
run, dir (absolute), phase (running, stopping, awaiting, ended, cut-off), verdict and
exit (none before the end), report (its path from dir), jobs (succeeded/all/failed or blocked),
cost; "job ID STATUS REASON ANSWER" with the answer's path from dir and - for none,
failed, blocked and running ones first, at most 30, and "more N STATUS" for the rest;
"person" lines, what only a person can settle; and next: the command to type next, or
none, or "person" and what a person may decide. After a stop at the budget or on request
it is no command: only a person lets such a run go on.
`

// briefFlag asks for a few lines in place of everything else.
func briefFlag(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "brief", false, "print a few lines for an agent: ids, states, paths, the next command")
}

// unattended reports whether no person follows what is printed: they are shown no view
// and asked nothing.
func (m manner) unattended() bool { return m.json || m.brief || m.detach }

// briefAlone refuses what cannot go with --brief.
func briefAlone(brief bool, others map[string]bool) error {
	for name, set := range others {
		if brief && set {
			return usageError(fmt.Errorf("--brief and --%s are two forms of the same: choose one", name))
		}
	}
	return nil
}

// reportOf is the report of a run as it stands: from its file, or of one that has not
// ended, or ended without, from its records.
func reportOf(ctx context.Context, sys System, run *ledger.Run, standing string) (rep report.Report, err error) {
	if standing == report.Ended {
		data, err := run.ReadFile(ledger.ReportJSONFile)
		if err == nil {
			if err = json.Unmarshal(data, &rep); err != nil {
				err = fmt.Errorf("%s: %w", run.Path(ledger.ReportJSONFile), err)
			}
			rep.Planned = engine.NoFurther(run) != nil
			return rep, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return rep, err
		}
	}
	return interimOf(ctx, run, standing, sys.Now())
}

// sayBriefly prints a run in a few lines. name is what a RUN argument says for it.
func sayBriefly(ctx context.Context, sys System, run *ledger.Run, name, standing string) error {
	rep, err := reportOf(ctx, sys, run, standing)
	if err != nil {
		return failure(err)
	}
	brought, err := engine.Brought(run)
	if err != nil {
		return failure(err)
	}
	if _, err := io.WriteString(sys.Out, rep.Brief(run.Dir, name, brought)); err != nil {
		return failure(err)
	}
	return nil
}

// briefStatus is status in a few lines.
func briefStatus(ctx context.Context, sys System, arg string) (err error) {
	run, standing, err := standingRun(sys, arg)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, run.Close()) }()
	return sayBriefly(ctx, sys, run, run.ID, standing)
}

// brief is conclude in a few lines.
func (f *follower) brief(ctx context.Context, sys System, how standing) (err error) {
	standings := map[standing]string{stillRuns: report.Running, isWanted: report.Running, hasEnded: report.Ended, wasCutOff: report.CutOff, hasParked: report.Awaiting}
	run, err := ledger.Open(f.run.Dir) // as it stands now
	if err != nil {
		return failure(err)
	}
	defer func() { err = joined(err, run.Close()) }()
	stands := standings[how]
	if how == stillRuns && !run.State().Stopping.Empty() {
		stands = report.Stopping
	}
	if err := sayBriefly(ctx, sys, run, f.name(), stands); err != nil {
		return err
	}
	switch how {
	case stillRuns:
		return exit(exitRunning)
	case wasCutOff:
		if f.moved != nil {
			return failure(f.moved)
		}
		return exit(exitInterrupted)
	}
	return exit(f.exit)
}

// endedBriefly says in a few lines how a run ended, or parked, that this process carried on.
func endedBriefly(ctx context.Context, sys System, dir string) (err error) {
	run, err := ledger.Open(dir)
	if err != nil {
		return failure(err)
	}
	defer func() { err = joined(err, run.Close()) }()
	stands := report.Ended
	if run.State().Phase == ledger.PhaseAwaiting {
		stands = report.Awaiting
	}
	return sayBriefly(ctx, sys, run, run.ID, stands)
}

// announced says where a run is that nobody waits for.
func announced(w io.Writer, b beginning) error {
	_, err := fmt.Fprintf(w, "run %s\ndir %s\nphase %s\nnext orchestrate wait --brief %s\n", b.RunID, b.RunDir, report.Running, b.RunID)
	return err
}
