package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/inventory"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/ui"
)

func newExplain(sys System) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain RUN JOB",
		Short: "Tell the story of one job: its floors, routes, attempts, and why",
		Long: `Tell the story of one job of a run, live or ended, from its records: what it needed,
who was considered for it and why one was taken, under which controls, with which
command, roots and environment names, how each attempt ended and what was decided
then. Of a job that never started it says why.
RUN is a run id or the path of a run directory.`,
		Args: exactArgs("RUN", "JOB"),
		RunE: func(_ *cobra.Command, args []string) error {
			return runExplain(sys, args[0], args[1], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runExplain(sys System, arg, job string, asJSON bool) (err error) {
	if arg, err = callWith(sys, arg, job); err != nil {
		return err
	}
	run, err := openRun(sys, arg)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, run.Close()) }()
	if err := known(run, job); err != nil {
		return err
	}
	records, err := transitions(run)
	if err != nil {
		return failure(err)
	}
	story, err := engine.Explain(run, records, job, sys.Now())
	if err != nil {
		return failure(err)
	}
	if asJSON {
		return printJSON(sys.Out, story)
	}
	tell(sys.Out, story, sys.Now(), inventory.Inventory{Profiles: story.Runtimes}.Absent())
	return nil
}

// transitions are a run's records so far, without what its agents said.
func transitions(run *ledger.Run) (all []ledger.Record, err error) {
	tail, err := ui.OpenTail(run.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = joined(err, tail.Close()) }()
	err = tail.Next(func(r ledger.Record) {
		if r.Kind != ledger.KindEvent || r.Event != nil && r.Event.Kind == runtime.EventBoundary {
			all = append(all, r)
		}
	})
	return all, err
}

// tell prints a story for a person.
func tell(w io.Writer, s engine.Story, now time.Time, absent []string) {
	v := view{w}
	fmt.Fprintf(w, "%s  (%s) of run %s: %s\n", s.Job, s.Task, s.RunID, s.Status)
	if s.NotStarted != "" {
		v.line("not started", s.NotStarted)
	} else if s.Reason != "" {
		v.line("why", fmt.Sprintf("%s: %s", s.Reason, s.Evidence))
	}
	v.line("next", s.NextStep)
	if s.Session != nil {
		v.line("session", s.Session.Text(now))
		v.line("request", ledger.JobPath(s.Job, ledger.RequestFile))
	}
	if r := s.Newest(); r != nil {
		v.line("floor", orDash(r.CapabilityFloor))
		v.line("risk", r.Risk+": "+r.RiskWhy)
	}
	var after []string
	for _, d := range s.DependsOn {
		after = append(after, fmt.Sprintf("%s (%s)", d.Job, d.Status))
	}
	v.line("after", strings.Join(after, ", "))
	v.line("effects", s.SideEffects)
	if len(s.Attempts) == 0 && s.Route != nil {
		if s.Route.Runtime != "" {
			v.route(*s.Route)
		}
		v.candidates(*s.Route, absent)
	}
	for _, a := range s.Attempts {
		tellAttempt(v, a, absent)
	}
	if len(s.Happenings) > 0 {
		fmt.Fprintln(w, "\nalso")
	}
	for _, h := range s.Happenings {
		v.line(clock(h.At), h.Text)
	}
}

func tellAttempt(v view, a engine.Attempt, absent []string) {
	fmt.Fprintf(v.w, "\nattempt %d  %s\n", a.Attempt, span(a))
	if a.Reason != "" {
		v.line("ended", fmt.Sprintf("%s: %s", a.Reason, a.Evidence))
	}
	v.line("then", a.Then)
	v.route(a.Route)
	v.line("answered", a.ObservedModel)
	v.reach(a.Reach)
	v.candidates(a.Route, absent)
	const most = 10
	for _, d := range a.Denied[:min(len(a.Denied), most)] {
		v.line("refused", d.Line(160))
	}
	if more := len(a.Denied) - most; more > 0 {
		v.line("refused", fmt.Sprintf("and %d more: the events sandbox_denied of the run's journal", more))
	}
}

// span says from when to when an attempt went and what it came to.
func span(a engine.Attempt) string {
	if a.EndedAt == nil {
		return fmt.Sprintf("%s, from %s on", a.Status, clock(a.StartedAt))
	}
	return fmt.Sprintf("%s, %s to %s", a.Status, clock(a.StartedAt), clock(*a.EndedAt))
}

func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly) }
