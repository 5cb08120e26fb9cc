package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/planner"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// draftCommand is the command line of the engine that has a request planned.
const draftCommand = "draft-request"

// newDraft has a request planned, as an engine's command line: `orchestrate "a request"`
// starts it and shows what came of it.
func newDraft(sys System) *cobra.Command {
	opts := runOptions{}
	cmd := &cobra.Command{
		Use: draftCommand + " -- REQUEST", Hidden: true, Args: exactArgs("REQUEST"),
		Short: "Have a planner make a spec from a request",
		RunE: func(cmd *cobra.Command, args []string) error {
			return planned{sys: sys, opts: opts}.draft(cmd.Context(), args[0])
		},
	}
	opts.flags(cmd.Flags())
	internalFlag(cmd.Flags(), &opts.internal)
	agentsFlag(cmd.Flags(), &opts.agents)
	return cmd
}

// planned is a request on its way to a run.
type planned struct {
	sys  System
	opts runOptions
	dir  string // of the run that planned it
	id   string // its id
}

// runRequest plans a request, shows the spec that came of it, and runs that once the
// person has said so.
func runRequest(ctx context.Context, sys System, opts runOptions, request string) (err error) {
	if err := briefAlone(opts.brief, map[string]bool{"json": opts.json}); err != nil {
		return err
	}
	if sys.agents, err = hosting(sys, opts.agents); err != nil {
		return err
	}
	p := planned{sys: sys, opts: opts}
	if err := p.allowed(ctx, request); err != nil {
		return err
	}
	text, more, err := p.intake(ctx, request)
	if err != nil {
		return err
	}
	if more {
		if err := p.allowed(ctx, text); err != nil {
			return err
		}
	}
	if err := p.plan(ctx, text); err != nil {
		return err
	}
	doc, err := p.read()
	if err != nil {
		return failure(err)
	}
	if doc.Outcome == ledger.DraftedNone {
		return p.sayNone(doc)
	}
	return p.propose(ctx)
}

// of is the request as an engine is given it.
func (p *planned) of(text string) engine.DraftRequest {
	return engine.DraftRequest{Cwd: p.sys.Cwd, Text: text, Internal: p.opts.internal, Agents: p.sys.agents}
}

// allowed refuses what may not be planned, before anything is written or asked.
func (p *planned) allowed(ctx context.Context, text string) error {
	st, err := p.sys.station()
	if err != nil {
		return err
	}
	err = st.MayDraft(ctx, p.of(text))
	if closed := st.close(); closed != nil {
		return failure(errors.Join(err, closed))
	}
	return refusedRequest(err)
}

// refusedRequest makes a usage error of what a person can say in another way.
func refusedRequest(err error) error {
	var refused *engine.RequestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return usageError(err)
	}
	if err = misinformed(err); errors.As(err, new(statusError)) {
		return err
	}
	return failure(err)
}

// plan has the planner work, in a run on an engine of its own, and remembers where.
func (p *planned) plan(ctx context.Context, text string) error {
	sys := p.sys
	sys.args = p.flags(draftCommand)
	sys.args = append(sys.args, "--", text)
	sys.Out = io.Discard // what it prints tells of the planning, not of what was asked for
	sys.begun = func(id, dir string) { p.id, p.dir = id, dir }
	quiet := p.opts
	quiet.detach = false
	fmt.Fprintln(p.sys.Err, "planning: an agent that only reads makes a spec from the request; nothing else is run before you have seen it")
	err := planned{sys: sys, opts: quiet}.draft(ctx, text)
	var status statusError
	if p.dir == "" || !errors.As(err, &status) || status.err != nil || status.code == exitRunning {
		return err
	}
	return p.sayFailed(ctx, status)
}

// draft carries the planning out, or watches the engine that does.
func (p planned) draft(ctx context.Context, text string) (err error) {
	if p.sys.agents, err = hosting(p.sys, p.opts.agents); err != nil {
		return err
	}
	how := p.opts.manner
	how.planning = true
	return conduct(ctx, p.sys, how, func(ctx context.Context, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
		res, err := st.Draft(ctx, p.of(text), obs, ctl)
		return res, placeless(workspaceRoot(p.sys), err)
	})
}

// flags are the command line of an engine without what it is about.
func (p *planned) flags(command string) []string {
	args := []string{command}
	for _, f := range []struct {
		name string
		set  bool
	}{{"--json", p.opts.json}, {"--brief", p.opts.brief}, {"--no-color", p.opts.plain}, {"--internal", p.opts.internal}} {
		if f.set {
			args = append(args, f.name)
		}
	}
	switch {
	case p.opts.agents == "":
	case p.dir != "": // the planning keeps them; standard input is gone, a relative name is of one folder
		args = append(args, "--agents", filepath.Join(p.dir, ledger.AgentsFile))
	default:
		args = append(args, "--agents", p.opts.agents)
	}
	return args
}

// read is what the planner came to.
func (p *planned) read() (doc ledger.Draft, err error) {
	data, err := os.ReadFile(p.file(ledger.DraftFile))
	if err != nil {
		return doc, err
	}
	return doc, json.Unmarshal(data, &doc)
}

func (p *planned) file(name string) string { return filepath.Join(p.dir, ledger.DraftDir, name) }

// sayFailed says why there is no spec, and that nothing was run.
func (p *planned) sayFailed(ctx context.Context, how statusError) error {
	if how.code == exitInterrupted {
		fmt.Fprintf(p.sys.Err, "stopped while it was planned: nothing was run; the request is kept in %s, to be given again\n", p.file(ledger.RequestMDFile))
		return how
	}
	doc, err := p.read()
	if err := p.printFailed(ctx, doc); err != nil {
		return failure(err)
	}
	if err != nil || doc.Outcome != ledger.DraftedInvalid {
		return statusError{how.code, fmt.Errorf("the request was not planned, and nothing was run; orchestrate explain %s %s says why", p.id, engine.PlannerJob)}
	}
	last := doc.Rounds[len(doc.Rounds)-1]
	fmt.Fprintf(p.sys.Err, "no valid spec came of the request in %d answers; what was wrong with the last one:\n", len(doc.Rounds))
	for _, problem := range last.Problems {
		fmt.Fprintln(p.sys.Err, indent(problem.Block(), "  "))
	}
	return statusError{how.code, fmt.Errorf("the request was not planned, and nothing was run; say it in other words, or write the spec yourself (orchestrate init); %s has the last answer",
		filepath.Join(p.dir, engine.PlannerJob, ledger.OutputFile))}
}

// printFailed says for programs and agents that there is no spec, and why.
func (p *planned) printFailed(ctx context.Context, doc ledger.Draft) error {
	if !p.opts.json && !p.opts.brief {
		return nil
	}
	why, next, err := p.failing(ctx)
	if err != nil {
		return err
	}
	out := drafted{
		SchemaVersion: ledger.SchemaVersion, Outcome: cmp.Or(doc.Outcome, "failed"), Why: why, Next: next,
		RunDir: p.dir, Request: p.file(ledger.RequestMDFile),
	}
	if n := len(doc.Rounds); n > 0 {
		out.Problems = doc.Rounds[n-1].Problems
	}
	if p.opts.json {
		return printJSON(p.sys.Out, out)
	}
	_, err = fmt.Fprintf(p.sys.Out, "draft %s\ndir %s\nwhy %s\nnext person may want this: %s\n", out.Outcome, p.dir, why.Line(0), untrusted.From(next).Line(0))
	return err
}

// failing is why the planner's job did not succeed, and what can be done about it.
func (p *planned) failing(ctx context.Context) (why untrusted.Text, next string, err error) {
	run, err := ledger.Open(p.dir)
	if err != nil {
		return why, "", err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	rep, err := reportOf(ctx, p.sys, run, report.Ended)
	if err != nil {
		return why, "", err
	}
	for _, j := range rep.Jobs {
		if j.Status.ID == engine.PlannerJob {
			reason := untrusted.From(string(cmp.Or(j.Status.Reason, runtime.Reason(j.Status.Status))))
			return untrusted.Join([]untrusted.Text{reason, j.Status.ReasonEvidence}, ": "), j.NextStep, nil
		}
	}
	return why, "", nil
}

// drafted is what a request with --json comes to where no run follows.
type drafted struct {
	SchemaVersion int              `json:"schemaVersion"`
	Outcome       string           `json:"outcome"`  // spec | none | invalid | failed: the planner gave no answer
	Why           untrusted.Text   `json:"why"`      // there is no spec
	Next          string           `json:"next"`     // of failed and invalid: what a person can do
	Problems      []untrusted.Text `json:"problems"` // of invalid, with its last answer; null else
	RunDir        string           `json:"runDir"`   // of the run that planned it
	Request       string           `json:"request"`  // file
	Spec          *string          `json:"spec"`     // file; null without one
	Run           *string          `json:"run"`      // the command that runs it; null without one
	Plan          *engine.Preview  `json:"plan"`     // null without one
}

// sayNone says why no run is needed.
func (p *planned) sayNone(doc ledger.Draft) error {
	var err error
	switch {
	case p.opts.json:
		err = printJSON(p.sys.Out, drafted{SchemaVersion: ledger.SchemaVersion, Outcome: doc.Outcome, Why: doc.Why, RunDir: p.dir, Request: p.file(ledger.RequestMDFile)})
	case p.opts.brief:
		_, err = fmt.Fprintf(p.sys.Out, "draft none\nwhy %s\nnext none\n", doc.Why.Line(0))
	default:
		_, err = fmt.Fprintf(p.sys.Out, "No orchestration needed, and nothing was run: %s\n", doc.Why.Block())
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// likeRequest is the request of a bare command line, or why it is none.
func likeRequest(root *cobra.Command, args []string) (string, error) {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	request, err := planner.Request(args, names)
	if err != nil {
		return "", usageError(err)
	}
	return request, nil
}
