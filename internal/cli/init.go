package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrate/internal/inventory"
	"orchestrate/internal/policy"
	"orchestrate/internal/spec"
)

// starterFile is the spec that init leaves in the working directory.
const starterFile = "jobs.yaml"

func newInit(sys System) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a starter spec and, if there is none, the operator's configuration",
		Long: `Write a commented starter spec (jobs.yaml, here) and the operator's configuration
(in your configuration folder). A file that is there already is left alone.

For the configuration the coding agents of this machine are asked what they are, as
` + "`orchestrate doctor`" + ` does; no model is called. It shows, commented out, what they said.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), sys) },
	}
}

func runInit(ctx context.Context, sys System) error {
	if err := leave(sys, filepath.Join(sys.Cwd, starterFile), func() ([]byte, error) { return spec.Starter(), nil }); err != nil {
		return failure(err)
	}
	path, err := sys.configPath()
	if err != nil {
		fmt.Fprintf(sys.Err, "note: %v\n", err)
	} else if err := leave(sys, path, func() ([]byte, error) { return configured(ctx, sys) }); err != nil {
		var status statusError
		if errors.As(err, &status) {
			return status
		}
		return failure(err)
	}
	fmt.Fprintf(sys.Out, "next: orchestrate plan %s, or orchestrate rehearse %s, which needs no agent\n", starterFile, starterFile)
	return nil
}

// configured is the operator's configuration with what the agents say of themselves.
func configured(ctx context.Context, sys System) (data []byte, err error) {
	st, err := sys.station()
	if err != nil {
		return nil, err
	}
	defer func() { err = joined(err, st.close()) }()
	brakes, done := stoppable(ctx, sys)
	defer done()
	sayAsking(sys)
	inv := judged(inventory.Probe(brakes.work, st.host, st.Adapters), st.Operator)
	if brakes.work.Err() != nil {
		return nil, exit(exitInterrupted)
	}
	return policy.OperatorStarter(inv.Profiles...), nil
}

// leave writes a new file and never over one that is there, for which nothing is made.
func leave(sys System, path string, made func() ([]byte, error)) error {
	if _, err := os.Lstat(path); err == nil {
		return kept(sys, path)
	}
	data, err := made()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return kept(sys, path)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	fmt.Fprintf(sys.Out, "wrote  %s\n", path)
	return f.Close()
}

func kept(sys System, path string) error {
	_, err := fmt.Fprintf(sys.Out, "kept   %s (it is there already)\n", path)
	return err
}
