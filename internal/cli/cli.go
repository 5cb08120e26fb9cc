// Package cli is the command line: one file per command, each an options struct,
// a constructor and a run function. Results go to standard output, everything
// else to standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/handoff"
	"orchestrate/internal/runtime"
)

// System is the machine as a command sees it.
type System struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Env     []string
	Cwd     string
	Self    string // absolute path of this executable
	Version string
	Home    string // of the account, as the system knows it; "" = it does not
	Now     func() time.Time

	args   []string             // the command line, for an engine that is to carry it out
	engine *presence            // of a process that is such an engine, else nil
	begun  func(id, dir string) // is told of the run that it begins, nil = nobody is

	known  []runtime.Profile // learned for this command line a moment ago
	agents *handoff.Agents   // of the hosting session, as it told for this command line; nil = it did not
}

// Main runs the command line args (without the program's name) and returns the
// exit status.
func Main(ctx context.Context, args []string, sys System) int {
	sys.args = args
	out := &outlet{to: sys.Out}
	sys.Out = out
	root := newRoot(sys)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status statusError
	if err != nil && !errors.As(err, &status) {
		status = statusError{exitUsage, err}
		if out.broken() != nil {
			status.code = exitFailed
		}
	}
	if status.code == exitOK && out.broken() != nil {
		status = statusError{exitFailed, out.broken()}
	}
	if status.err != nil {
		fmt.Fprintf(sys.Err, "orchestrate: %v\n", status.err)
	}
	return status.code
}

func newRoot(sys System) *cobra.Command {
	opts, resume := runOptions{}, ""
	root := &cobra.Command{
		Use:   "orchestrate [SPEC.yaml | \"a request\"]",
		Short: "Run a graph of jobs on coding agents and leave evidence that can be believed",
		Long: `orchestrate runs a graph of jobs on the coding-agent programs of this machine.
Every route comes from live evidence, every parallel writer has its own git
worktree, and nothing is called finished before an independent arbiter has
checked the claims against the evidence.

A sentence in quotes in place of a spec is a request: an agent that only reads makes a
spec from it, which is shown, kept, and run once you have said so (or at once with
--yes, which never covers effects outside that the agent put in). Where nobody can be
asked it is kept and shown: exit status 3. One word, a path and what is nearly a command
are usage errors and call no model.

` + exitTable,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.Version = sys.Version
	root.SetVersionTemplate("orchestrate {{.Version}}\n")
	root.SetIn(sys.In)
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.SetHelpCommand(newHelp(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w; `%s --help` lists the flags", err, cmd.CommandPath()))
	})
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case resume != "" && len(args) == 0:
			return runResume(cmd.Context(), sys, resumeOptions{run: resume, manner: opts.manner, yes: opts.yes, internal: opts.internal, agents: opts.agents})
		case resume != "":
			return usageError(errors.New("--resume names a run and takes no spec: the run has its own"))
		case len(args) == 0:
			return cmd.Help()
		case len(args) > 1 || !looksLikeSpec(args[0]):
			request, err := likeRequest(root, args)
			if err != nil {
				return err
			}
			return runRequest(cmd.Context(), sys, opts, request)
		}
		opts.spec = args[0]
		return runRun(cmd.Context(), sys, opts)
	}
	opts.flags(root.Flags())
	yesFlag(root.Flags(), &opts.yes)
	internalFlag(root.Flags(), &opts.internal)
	agentsFlag(root.Flags(), &opts.agents)
	root.Flags().StringVar(&resume, "resume", "", "go on with this `RUN`, as `orchestrate resume RUN` does")
	addGroup(root, "Before a run:", newInit(sys), newDoctor(sys), newPlan(sys), newRehearse(sys), newSchema(sys), newPrompts(sys))
	addGroup(root, "A run:", newRun(sys), newResume(sys), newWait(sys), newAttach(sys), newStatus(sys), newOutput(sys), newExplain(sys), newCancel(sys), newReport(sys))
	addGroup(root, "Worker form, a shell's way to many small tasks:", newNewRun(sys), newDispatch(sys), newBatch(sys))
	addGroup(root, "Jobs for the hosting session:", newNext(sys), newSubmit(sys), newMCP(sys))
	addGroup(root, "After a run:", newIntegrate(sys), newClean(sys), newHistory(sys))
	root.AddCommand(newVersion(sys))
	root.AddCommand(newSkill(sys))
	root.AddCommand(hidden(sys)...)
	return root
}

// addGroup adds commands that the help lists together.
func addGroup(root *cobra.Command, title string, cmds ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range cmds {
		c.GroupID = title
	}
	root.AddCommand(cmds...)
}

// newHelp is cobra's help command, but a topic that is no command is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return notACommand(root, args)
			}
			return cmd.Help()
		},
	}
}

// looksLikeSpec reports whether a bare argument can only mean a spec file.
func looksLikeSpec(arg string) bool {
	switch strings.ToLower(filepath.Ext(arg)) {
	case ".yaml", ".yml", ".json":
		return !strings.ContainsAny(arg, "\n")
	}
	return false
}

// notACommand explains an argument that is neither a command nor a spec. It
// never guesses: a guess could cost money.
func notACommand(root *cobra.Command, args []string) error {
	msg := fmt.Sprintf("%q is not a command", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	} else {
		msg += "; a spec's name ends in .yaml, .yml or .json (orchestrate --help lists the commands)"
	}
	return usageError(errors.New(msg))
}
