package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(sys System) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				_, err := fmt.Fprintf(sys.Out, "orchestrate %s\n", sys.Version)
				return err
			}
			return json.NewEncoder(sys.Out).Encode(map[string]any{
				"schemaVersion": 1, "version": sys.Version, "go": runtime.Version(),
				"os": runtime.GOOS, "arch": runtime.GOARCH,
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
