package inventory

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/runtime/fakecli"
	"orchestrate/internal/supervise"
)

const (
	supervisorVersion = "test"
	supervisorWord    = "serve-as-supervisor"
)

// TestMain makes the test binary its own supervisor when it is asked to be one,
// and the fake of a command line when it is called like one. Both leave by
// syscall.Exit: os.Exit waits a second in a binary with the race detector.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "claude" || name == "codex" {
		syscall.Exit(fakecli.Main(os.Args[0], os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 2 && os.Args[1] == supervisorWord {
		opt := supervise.Options{Version: supervisorVersion, Decoders: decoders.For}
		if err := supervise.Serve(os.NewFile(3, "control"), opt); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// supervisor is the command that starts the test binary as a supervisor.
func supervisor(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, supervisorWord}
}
