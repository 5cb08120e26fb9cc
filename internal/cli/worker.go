package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrate/internal/engine"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/runtime/registry"
	"orchestrate/internal/spec"
	"orchestrate/internal/worker"
)

// workerAdapterVar names the adapter of tasks for which nothing else does.
const workerAdapterVar = "WORKER_ADAPTER"

const workerHelp = `A task only reads, and may leave files in its artifacts/. With --write it may change files
below --cwd, which is in the repository then. It does so in your checkout only where it
writes alone and in a folder below the repository's root that is there already: --cwd is
one, or in a manifest owned_paths are in some. At the root, which has .git in it, and
beside another writer it has a git worktree of its own. That one starts at your last
commit: what is not committed is not seen there, and orchestrate integrate brings what was
written. The line that says that it begins says where. Nobody reviews what comes of it:
read it before you build on it.

Without --adapter (or WORKER_ADAPTER) the adapter is chosen among those that are
installed and signed in, which is said and recorded.
`

const workerExits = `Exit status: 0 all is well; 1 a task failed, or a quota left some undone; 2 usage error;
3 something was blocked (no adapter can take it, its session is gone); 5 still running; 130
interrupted, or cut off: orchestrate resume RUN goes on.`

func newNewRun(sys System) *cobra.Command {
	return &cobra.Command{
		Use:   "new-run",
		Short: "Make a worker run and print its folder, for dispatch and batch",
		Long: `Make a worker run, .orchestrate/runs/<yyyymmdd-hhmmss>/ below the workspace root, and
print its absolute path. Its tasks/<id>/ hold what came of each task; plan.md, stage1.json
and summary.md are yours, and never touched.`,
		Example: `  RUN_DIR="$(orchestrate new-run)"`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			run, err := worker.New(workspaceRoot(sys), sys.Now())
			if err != nil {
				return failure(err)
			}
			if _, err := fmt.Fprintln(sys.Out, run.Dir); err != nil {
				return failure(err)
			}
			return nil
		},
	}
}

// workerOptions are what dispatch and batch share.
type workerOptions struct {
	manner
	run      string
	settings worker.Settings
	write    bool
}

func (o *workerOptions) flags(f *pflag.FlagSet) {
	s := &o.settings
	f.StringVar(&s.Adapter, "adapter", "", "the CLI that does it, as orchestrate doctor names it (cmd and cursor are understood)")
	f.StringVar(&s.Model, "model", "", "a model of that CLI; without an adapter one is chosen that lists it")
	f.StringVar(&s.Effort, "effort", "", "minimal, low, medium, high, xhigh or max")
	f.StringVar(&s.Timeout, "timeout", "", "end it after so many seconds, or a duration such as 20m; 0 = 24 hours (default 3600; exit status 124)")
	f.IntVar(&s.MaxTurns, "max-turns", 0, "end it after so many turns, where the CLI has such a limit (default 100; exit status 8)")
	f.StringVar(&s.Cwd, "cwd", "", "where it works, any folder (default: the current one)")
	f.StringVar(&s.Session, "session", "", "go on with the session of this id; names its adapter too")
	f.StringVar(&s.ResumeFrom, "resume-from", "", "go on with the session of this task: same adapter, model, folder and access")
	f.StringVar(&s.Command, "worker-cmd", "", `a shell command in place of a CLI; the prompt is in $WORKER_PROMPT, in the file $WORKER_PROMPT_FILE and on standard input`)
	f.BoolVar(&o.write, "write", false, "let it change files: in your checkout, or in a worktree of its own (see above)")
	f.StringVar(&s.Task, "task", "", "what kind of work it is, as in a spec (default: research, with --write mechanical)")
	f.BoolVar(&o.json, "json", false, "print the records of the call as JSON lines; with --detach one object that says where it is")
	f.BoolVar(&o.detach, "detach", false, "print the call's id and return while it goes on")
	colourFlag(f, &o.plain)
}

// options are what a manifest of the run is read with.
func (o *workerOptions) options(sys System, run worker.Run, f *pflag.FlagSet) (worker.Options, error) {
	s := o.settings
	if err := empty(f); err != nil {
		return worker.Options{}, err
	}
	if f.Changed("write") {
		s.Write = &o.write
	}
	if f.Changed("max-turns") && s.MaxTurns < 1 {
		return worker.Options{}, usageError(errors.New("--max-turns: at least 1 turn is needed; leave it out for the default of 100"))
	}
	s.Cwd = absolute(sys.Cwd, s.Cwd)
	guard, err := sys.guard(run.Root)
	if err != nil {
		return worker.Options{}, err
	}
	return worker.Options{Cwd: sys.Cwd, Given: given(f), Flags: s, Adapter: environ.Value(sys.Env, workerAdapterVar), Secrets: guard, Runtime: sys.called}, nil
}

// given are the flags that say how a task is done, as they were given.
func given(f *pflag.FlagSet) (words []string) {
	f.Visit(func(one *pflag.Flag) {
		switch one.Name {
		case "prompt", "json", "detach", "no-color", "retry-failed", "dry-run":
		default:
			words = append(words, "--"+one.Name+"="+one.Value.String())
		}
	})
	return words
}

// empty refuses a flag that is given and says nothing, as "$UNSET" does: taken for one that is
// not given it would start an agent in the place of a command, or a session in that of another.
func empty(f *pflag.FlagSet) (err error) {
	f.Visit(func(one *pflag.Flag) {
		if err == nil && one.Value.Type() == "string" && one.Value.String() == "" && one.Name != "prompt" {
			err = usageError(fmt.Errorf("--%s: it is given and empty; say what it is to be, or leave it out", one.Name))
		}
	})
	return err
}

// called is the runtime that an adapter's name means: its own name goes before what other
// tools call it.
func (s System) called(name string) string {
	op, err := s.operator()
	if err == nil && slices.ContainsFunc(registry.All(s.Self, op.Described()), func(a runtime.Adapter) bool { return a.Name() == name }) {
		return name
	}
	return runtime.Called(name)
}

// guard finds secrets in what is about to be written down in the workspace at root.
func (s System) guard(root string) (func(text string) []spec.Secret, error) {
	op, err := s.operator()
	if err != nil {
		return nil, usageError(err)
	}
	e := engine.Engine{Env: s.Env, Operator: op}
	find, err := e.Guard(root)
	if err != nil {
		return nil, failure(err)
	}
	return func(text string) (all []spec.Secret) {
		for _, f := range find(text) {
			all = append(all, spec.Secret{Rule: f.Rule, Line: f.Line, Col: f.Col, Fingerprint: f.Fingerprint})
		}
		return all
	}, nil
}

// openWorker opens the worker run that a RUN argument names.
func openWorker(sys System, arg string) (worker.Run, error) {
	root := workspaceRoot(sys)
	run, err := worker.Open(root, sys.Cwd, arg)
	var none *worker.NoRunError
	switch {
	case err == nil:
		return run, nil
	case !errors.As(err, &none):
		return run, failure(err)
	}
	return run, usageError(err)
}
