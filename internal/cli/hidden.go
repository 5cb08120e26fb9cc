package cli

import (
	"os"

	"github.com/spf13/cobra"

	"orchestrate/internal/detach"
	"orchestrate/internal/runtime/acp"
	acpclient "orchestrate/internal/runtime/acp/client"
	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/runtime/standin/script"
	"orchestrate/internal/sandbox/private/gocache"
	"orchestrate/internal/supervise"
)

// hidden are the commands that only the program itself starts.
func hidden(sys System) []*cobra.Command {
	return []*cobra.Command{
		newDraft(sys),
		newContinue(sys),
		newWorkerCall(sys),
		{
			Use: "supervise", Hidden: true, Args: noArgs,
			Short: "Own one process tree (where orchestrate-supervise is not installed)",
			RunE: func(*cobra.Command, []string) error {
				socket := os.NewFile(supervise.ControlFD, "control")
				if err := supervise.Serve(socket, supervise.Options{Version: sys.Version, Decoders: decoders.For}); err != nil {
					return failure(err)
				}
				return nil
			},
		},
		{
			Use: launchCommand, Hidden: true, DisableFlagParsing: true,
			Short: "Start an engine that has no parent of ours",
			RunE: func(_ *cobra.Command, args []string) error {
				if err := detach.Launch(sys.Self, append([]string{engineCommand}, args...)); err != nil {
					return failure(err)
				}
				return nil
			},
		},
		{
			Use: engineCommand, Hidden: true, DisableFlagParsing: true,
			Short: "Carry out a command line as an engine of its own",
			RunE: func(cmd *cobra.Command, args []string) error {
				return runEngine(cmd.Context(), sys, args)
			},
		},
		{
			Use: "standin", Hidden: true, DisableFlagParsing: true,
			Short: "Play the part of an agent in a rehearsal",
			RunE: func(_ *cobra.Command, args []string) error {
				return exit(script.Main(args, sys.In, sys.Out, sys.Err))
			},
		},
		{
			Use: acp.Command, Hidden: true, Args: cobra.MaximumNArgs(1),
			Short: "Have one turn with an agent that speaks the Agent Client Protocol",
			RunE: func(_ *cobra.Command, args []string) error {
				return exit(acpclient.Main(args, sys.In, sys.Out, sys.Err))
			},
		},
		{
			Use: gocache.Command, Hidden: true, DisableFlagParsing: true,
			Short: "Serve a go command as its build cache",
			RunE: func(_ *cobra.Command, args []string) error {
				return exit(gocache.Main(args, sys.In, sys.Out, sys.Err))
			},
		},
	}
}
