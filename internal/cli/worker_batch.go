package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrate/internal/worker"
)

// The bounds of --max-parallel.
const (
	parallelDefault = 4
	parallelMost    = 256
)

// manifestMost is what a manifest may have, in bytes.
const manifestMost = 32 << 20

type batchOptions struct {
	workerOptions
	manifest    string
	parallel    int
	retryFailed bool
	dryRun      bool
}

func newBatch(sys System) *cobra.Command {
	opts := batchOptions{}
	cmd := &cobra.Command{
		Use:   "batch RUN MANIFEST.json",
		Short: "Give many tasks to coding agents, some at a time",
		Long: `Give the tasks of a manifest to coding agents, in its order, --max-parallel at a time.
One line says how each ended; its answer, its log and its session are in tasks/<id>/ of
the worker run. A manifest is JSON (- reads it from standard input):

  {"defaults": {"timeout": 1800},
   "tasks": [{"id": "audit-auth", "prompt": "Audit the auth module."},
             {"id": "audit-db", "prompt_file": "db.md", "timeout": 600}]}

Tasks say what the flags say, with _ for - (adapter, model, effort, timeout, max_turns,
cwd, session, resume_from, worker_cmd, write, task), and also depends_on, outputs, checks,
owned_paths, foreach, votes, until_dry, repair and join. A task's own word goes before a
flag, a flag before "defaults".

` + workerHelp + `
A rate limit pauses the tasks of that adapter and lets them go on when it lifts. When a
quota is used up, what has not begun is left, and it is said when to resume.
RUN is the folder that orchestrate new-run printed, or its name.

` + workerExits,
		Example: `  orchestrate batch "$RUN_DIR" "$RUN_DIR/stage1.json" --max-parallel 5
  orchestrate batch "$RUN_DIR" "$RUN_DIR/stage1.json" --retry-failed`,
		Args: exactArgs("RUN", "MANIFEST.json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run, opts.manifest = args[0], args[1]
			return runBatch(cmd, sys, &opts)
		},
	}
	opts.flags(cmd.Flags())
	cmd.Flags().IntVar(&opts.parallel, "max-parallel", parallelDefault, "how many tasks run at a time, 1 to 256")
	cmd.Flags().BoolVar(&opts.retryFailed, "retry-failed", false, "do only what has not succeeded yet of this manifest")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "show what would be done, by whom and why, as orchestrate plan does, and do nothing")
	return cmd
}

func runBatch(cmd *cobra.Command, sys System, opts *batchOptions) error {
	if opts.parallel < 1 || opts.parallel > parallelMost {
		return usageError(fmt.Errorf("--max-parallel: found %d; allowed: 1 to %d", opts.parallel, parallelMost))
	}
	run, err := openWorker(sys, opts.run)
	if err != nil {
		return err
	}
	m, err := opts.read(cmd, sys, run)
	if err != nil {
		return err
	}
	if opts.retryFailed {
		return opts.again(cmd, sys, run, m)
	}
	if opts.dryRun {
		return opts.preview(cmd.Context(), sys, run, m)
	}
	return opts.call(cmd.Context(), sys, run, m, "")
}

// read reads the manifest.
func (o *batchOptions) read(cmd *cobra.Command, sys System, run worker.Run) (*worker.Manifest, error) {
	how, err := o.options(sys, run, cmd.Flags())
	if err != nil {
		return nil, err
	}
	how.By, how.MaxParallel = "batch", o.parallel
	name, data, err := manifestOf(sys, o.manifest)
	if err != nil {
		return nil, err
	}
	if o.manifest == "-" {
		how.Dir = sys.Cwd
	}
	m, diags := worker.ParseManifest(run, name, data, how)
	if len(diags) > 0 {
		return nil, o.refuse(sys, diags)
	}
	return m, nil
}

// manifestOf is the text of a manifest and what it is called.
func manifestOf(sys System, arg string) (name string, data []byte, err error) {
	from := sys.In
	name = "standard input"
	if arg != "-" {
		name = absolute(sys.Cwd, arg)
		f, err := os.Open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil, usageError(fmt.Errorf("%s is not there; write the manifest, for example {\"tasks\": [{\"id\": \"a\", \"prompt\": \"…\"}]}, or give - to read it from standard input", name))
		case err != nil:
			return "", nil, usageError(fmt.Errorf("the manifest cannot be read: %w", err))
		}
		defer f.Close() // only read
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return "", nil, usageError(fmt.Errorf("%s is a folder; the manifest is a file of JSON, with {\"tasks\": […]}", name))
		}
		from = f
	}
	data, err = io.ReadAll(io.LimitReader(from, manifestMost+1))
	switch {
	case err != nil:
		return "", nil, failure(fmt.Errorf("the manifest cannot be read: %w", err))
	case len(data) > manifestMost:
		return "", nil, usageError(fmt.Errorf("%s has more than the %d MiB that a manifest may have: put long prompts into files (prompt_file)", name, manifestMost>>20))
	}
	return name, data, nil
}

// again does what has not succeeded yet.
func (o *batchOptions) again(cmd *cobra.Command, sys System, run worker.Run, m *worker.Manifest) error {
	ctx := cmd.Context()
	retry, diags, err := m.Unfinished()
	switch {
	case len(diags) > 0:
		return o.refuse(sys, diags)
	case err != nil:
		return occupied(err)
	case retry.Call == "" && retry.Manifest == nil:
		fmt.Fprintln(sys.Err, "every task of this manifest has succeeded; there is nothing to do again")
		return nil
	case o.dryRun && retry.Manifest == nil:
		fmt.Fprintf(sys.Err, "what has not succeeded of the call in %s would be done again; orchestrate status %s shows it\n", retry.Call, filepath.Base(retry.Call))
		return nil
	case o.dryRun:
		return o.preview(ctx, sys, run, retry.Manifest)
	case retry.Manifest != nil:
		return o.call(ctx, sys, run, retry.Manifest, "")
	}
	call := workerCall{manner: o.manner, run: run, resume: retry.Call}
	if cmd.Flags().Changed("max-parallel") {
		call.beside = o.parallel
	}
	return call.conduct(ctx, sys)
}

// preview shows the plan of the manifest and leaves nothing behind.
func (o *batchOptions) preview(ctx context.Context, sys System, run worker.Run, m *worker.Manifest) (err error) {
	prepared, err := o.prepare(ctx, sys, run, m)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, prepared.Discard()) }()
	return showPlanned(ctx, sys, requestOf(run, prepared.Spec), o.json)
}
