package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

type submitOptions struct {
	run, job string
	attempt  string
	result   string // file, - = standard input
	failed   string
	agent    string
	model    string
	usage    string
	json     bool
}

func newSubmit(sys System) *cobra.Command {
	opts := submitOptions{}
	cmd := &cobra.Command{
		Use:   "submit RUN JOB --attempt ID (--result FILE|- | --failed REASON)",
		Short: "Hand in what came of a job that the hosting session took",
		Long: `Hand in the final answer of a job that next gave out, or say why there is none. ID is
the attempt's id in the request. The answer is kept redacted; then the engine takes it
in as that of every job: outputs, checks, ownership. It works whether or not the run's
engine is there, and starts one where there is none.

The same may be handed in again: it counts once. Something else for an attempt of which
something came back, and anything for an attempt that another one has followed, is
refused, and so is what another agent did than the one that the spec names for the job.
A result that comes after the job's timeout or the lease counts if nothing that
it builds on has changed.

Of a job that writes, --failed also says that whoever did it has ended: the session's
word, without which nobody else gets the job.
RUN is a run id or the path of a run directory.

Exit status: 0 it was handed in; 1 it was refused, or an error; 2 usage error.`,
		Args: exactArgs("RUN", "JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run, opts.job = args[0], args[1]
			return runSubmit(cmd.Context(), sys, opts, cmd.Flags().Changed("failed"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.attempt, "attempt", "", "the `ID` of the attempt, as in its request")
	f.StringVar(&opts.result, "result", "", "the `FILE` with the final answer, - for standard input")
	f.StringVar(&opts.failed, "failed", "", "the `REASON` why there is no answer")
	f.StringVar(&opts.agent, "agent", "", "the agent that did it, if it was another than was asked")
	f.StringVar(&opts.model, "model", "", "the model that answered, if you know it")
	f.StringVar(&opts.usage, "usage", "", `what it took, if you know it: '{"inputTokens": 1, "outputTokens": 2, "costUsd": 0.1}', each may be left out`)
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runSubmit(ctx context.Context, sys System, opts submitOptions, failed bool) (err error) {
	req, err := opts.request(sys, failed)
	if err != nil {
		return err
	}
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	if f.moved != nil {
		return failure(f.moved)
	}
	if err := known(f.run, opts.job); err != nil {
		return err
	}
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	req.Dir = f.run.Dir
	ctx, done := unlessInterrupted(ctx)
	defer done()
	sub, err := st.Submit(ctx, req)
	if err != nil {
		return failure(err)
	}
	return (&intake{sys: sys, opts: opts, f: f, sub: sub}).see(ctx)
}

// request is what is handed in, read and held against its form.
func (o submitOptions) request(sys System, failed bool) (engine.SubmitRequest, error) {
	req := engine.SubmitRequest{Job: o.job, Attempt: o.attempt, Failed: failed, Reason: o.failed, Agent: o.agent, Model: o.model}
	switch {
	case o.attempt == "":
		return req, usageError(errors.New("--attempt is missing: the id is in the request that `orchestrate next` printed"))
	case failed == (o.result != ""):
		return req, usageError(errors.New("say either --result FILE (- for standard input) or --failed REASON"))
	case failed && o.failed == "":
		return req, usageError(errors.New("--failed needs the reason, in a few words"))
	}
	var err error
	if req.Usage, err = parseUsage(o.usage); err != nil {
		return req, usageError(err)
	}
	if !failed {
		if req.Result, err = readResult(sys, o.result); err != nil {
			return req, failure(err)
		}
	}
	return req, nil
}

// parseUsage reads what the session says that a job took.
func parseUsage(text string) (*runtime.Usage, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // not said
	}
	const form = `--usage is a JSON object like {"inputTokens": 1, "outputTokens": 2, "costUsd": 0.1}, each key with a number that is not negative or left out`
	var u *runtime.Usage
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&u); err != nil {
		return nil, fmt.Errorf("%s: %w", form, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows it", form)
	}
	switch {
	case u == nil:
		return nil, errors.New(form)
	case u.InputTokens != nil && *u.InputTokens < 0, u.OutputTokens != nil && *u.OutputTokens < 0, u.CostUSD != nil && *u.CostUSD < 0:
		return nil, fmt.Errorf("%s: a number is negative", form)
	}
	return u, nil
}

// readResult reads the final answer, at most one byte more than any may have.
func readResult(sys System, name string) ([]byte, error) {
	in := sys.In
	if name != "-" {
		f, err := os.Open(absolute(sys.Cwd, name))
		if err != nil {
			return nil, err
		}
		defer f.Close() // only read
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder; --result names the file with the final answer", filepath.Clean(name))
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, handoff.MaxResult+1))
	if err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	return data, nil
}

// jobIn finds a job in a state.
func jobIn(s ledger.State, id string) (j ledger.JobState) {
	for _, j := range s.Jobs {
		if j.ID == id {
			return j
		}
	}
	return j
}
