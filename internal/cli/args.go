package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// noArgs and exactArgs are cobra's checks with the exit status of a usage error.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(fmt.Errorf("%s takes no argument, got %q", cmd.CommandPath(), args[0]))
	}
	return nil
}

func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usageError(fmt.Errorf("%s needs %s; usage: %s", cmd.CommandPath(), names[len(args)], cmd.UseLine()))
		}
		if len(args) > len(names) {
			return usageError(fmt.Errorf("%s: unexpected argument %q; usage: %s", cmd.CommandPath(), args[len(names)], cmd.UseLine()))
		}
		return nil
	}
}
