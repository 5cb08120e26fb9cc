package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrate/internal/policy"
	"orchestrate/internal/spec"
)

// starterFile is the spec that init leaves in the working directory.
const starterFile = "jobs.yaml"

func newInit(sys System) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a starter spec and, if there is none, the operator's configuration",
		Long:  "Write a commented starter spec (jobs.yaml, here) and the operator's configuration\n(in your configuration folder). A file that is there already is left alone.",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return runInit(sys) },
	}
}

func runInit(sys System) error {
	if err := leave(sys, filepath.Join(sys.Cwd, starterFile), spec.Starter()); err != nil {
		return failure(err)
	}
	path, err := sys.configPath()
	if err != nil {
		fmt.Fprintf(sys.Err, "note: %v\n", err)
	} else if err := leave(sys, path, policy.OperatorStarter()); err != nil {
		return failure(err)
	}
	fmt.Fprintf(sys.Out, "next: orchestrate plan %s, or orchestrate rehearse %s, which needs no agent\n", starterFile, starterFile)
	return nil
}

// leave writes a new file and never over one that is there.
func leave(sys System, path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		fmt.Fprintf(sys.Out, "kept   %s (it is there already)\n", path)
		return nil
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
