package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/spec"
	"orchestrate/internal/worker"
)

type dispatchOptions struct {
	workerOptions
	id     string
	from   string // file, "-" = standard input, "" = prompt
	prompt string
}

func newDispatch(sys System) *cobra.Command {
	opts := dispatchOptions{}
	cmd := &cobra.Command{
		Use:   "dispatch RUN ID (FILE | - | --prompt TEXT)",
		Short: "Give one task to a coding agent and wait for its answer",
		Long: `Give one task to a coding agent: the prompt in FILE, on standard input (-) or in
--prompt, byte for byte and nothing else. One line says how it ended; its answer, its
log and its session are in tasks/ID/ of the worker run. An ID that is there already is
done anew, and what was there moves to attempt-<n>/, n being the number of the call that
did it.

` + workerHelp + `
RUN is the folder that orchestrate new-run printed, or its name.

Exit status, the task's: 0 success; 1 it failed (its line says why); 2 usage error; 3
blocked (its session is gone, or a person must approve it); 5 still running; 8 it came to
its turn limit; 124 it came to its time limit; 127 there is no CLI for it, or it could not
be started: orchestrate doctor; 130 interrupted, or cut off: orchestrate resume RUN goes on.`,
		Example: `  orchestrate dispatch "$RUN_DIR" research-auth --prompt "How does sign-in work here?"
  orchestrate dispatch "$RUN_DIR" build-parser-r2 --resume-from build-parser - << 'EOF'
  The parser you wrote chokes on escaped quotes. Fix that and tell me what changed.
  EOF`,
		Args: dispatchArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run, opts.id = args[0], args[1]
			if len(args) == 3 {
				opts.from = args[2]
			}
			return runDispatch(cmd, sys, &opts)
		},
	}
	opts.flags(cmd.Flags())
	cmd.Flags().StringVar(&opts.prompt, "prompt", "", "the prompt itself, in place of a file")
	return cmd
}

// dispatchArgs demands exactly one prompt.
func dispatchArgs(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("prompt") {
		return exactArgs("RUN", "ID")(cmd, args)
	}
	return exactArgs("RUN", "ID", "a prompt (a FILE, - for standard input, or --prompt TEXT)")(cmd, args)
}

func runDispatch(cmd *cobra.Command, sys System, opts *dispatchOptions) error {
	run, err := openWorker(sys, opts.run)
	if err != nil {
		return err
	}
	prompt, err := opts.text(sys)
	if err != nil {
		return err
	}
	how, err := opts.options(sys, run, cmd.Flags())
	if err != nil {
		return err
	}
	how.By = "dispatch"
	m, diags := worker.Single(run, opts.id, prompt, how)
	if len(diags) > 0 {
		return opts.refuse(sys, diags)
	}
	return opts.call(cmd.Context(), sys, run, m, opts.id)
}

// text is the prompt, byte for byte.
func (o *dispatchOptions) text(sys System) (string, error) {
	var data []byte
	var err error
	switch o.from {
	case "":
		data = []byte(o.prompt)
	case "-":
		data, err = bounded(sys.In, "standard input")
	default:
		data, err = promptFile(absolute(sys.Cwd, o.from))
	}
	if err == nil && len(data) == 0 {
		err = usageError(errors.New("the prompt is empty: say what is to be done, in a FILE, on standard input (-) or with --prompt"))
	}
	return string(data), err
}

func promptFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError(fmt.Errorf("%s is not there; the third argument is the file of the prompt, - reads standard input, and --prompt takes the words themselves", path))
	case err != nil:
		return nil, usageError(fmt.Errorf("the prompt cannot be read: %w", err))
	}
	defer f.Close() // only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, usageError(fmt.Errorf("%s is a folder; the third argument is the file of the prompt (--cwd says where the task works)", path))
	}
	return bounded(f, path)
}

// bounded reads a prompt, of which there is as much as a spec may have.
func bounded(from io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, spec.MaxBytes+1))
	switch {
	case err != nil:
		return nil, failure(fmt.Errorf("the prompt cannot be read: %w", err))
	case len(data) > spec.MaxBytes:
		return nil, usageError(fmt.Errorf("%s has more than the %d bytes (4 MiB) that a prompt may have: put the data into files and name them in the prompt", name, spec.MaxBytes))
	}
	return data, nil
}

// call writes down what is to be done and has it done.
func (o *workerOptions) call(ctx context.Context, sys System, run worker.Run, m *worker.Manifest, task string) error {
	prepared, err := o.prepare(ctx, sys, run, m)
	if err != nil {
		return err
	}
	return workerCall{manner: o.manner, run: run, spec: prepared.Spec, task: task}.conduct(ctx, sys)
}

// prepare writes down what is to be done. What is wrong with it is said where the person
// said it, and nothing is left then.
func (o *workerOptions) prepare(ctx context.Context, sys System, run worker.Run, m *worker.Manifest) (prepared worker.Prepared, err error) {
	prepared, diags, err := m.Write()
	switch {
	case len(diags) > 0:
		return prepared, o.refuse(sys, diags)
	case err != nil:
		return prepared, occupied(err)
	}
	defer func() {
		if err != nil {
			err = joined(err, prepared.Discard())
		}
	}()
	st, err := sys.station()
	if err != nil {
		return prepared, err
	}
	defer func() { err = joined(err, st.close()) }()
	_, diags, err = st.Read(ctx, requestOf(run, prepared.Spec))
	switch {
	case len(diags) > 0:
		return prepared, o.refuse(sys, m.Place(diags))
	case err != nil:
		return prepared, misinformed(err)
	}
	return prepared, nil
}

// requestOf is the call that was written down, as an engine is given it.
func requestOf(run worker.Run, spec string) engine.Request {
	return engine.Request{Spec: spec, Cwd: run.Root, Worker: run.Dir}
}

// refuse says what is wrong with a manifest. What is wrong with flags and arguments has no
// place in a file.
func (o *workerOptions) refuse(sys System, diags []spec.Diagnostic) error {
	if diags[0].Pos.Line > 0 || o.json {
		return refuse(sys, diags, o.json)
	}
	var all []error
	for _, d := range diags {
		text := d.Message
		if d.Field != "" {
			text = d.Field + ": " + text
		}
		all = append(all, errors.New(text))
	}
	return usageError(errors.Join(all...))
}
