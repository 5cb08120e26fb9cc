package cli

import (
	"github.com/spf13/cobra"

	"orchestrate/internal/spec"
)

func newSchema(sys System) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a job spec",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := sys.Out.Write(spec.Schema())
			return err
		},
	}
}
