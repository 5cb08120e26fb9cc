//go:build linux

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// marks lets the jobs of a script leave marks, by which it sees what they did: `marks`
// makes the folder $WORK/marks, in which the operator allows every job to write, so that
// its sandbox lets it. It comes after the script's own configuration, if there is one.
func marks(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, 0, "marks")
	dir := filepath.Join(ts.Getenv("WORK"), "marks")
	ts.Check(os.MkdirAll(dir, 0o700))
	config := filepath.Join(ts.Getenv("HOME"), ".config", "orchestrate", "config.yaml")
	ts.Check(os.MkdirAll(filepath.Dir(config), 0o700))
	said, err := os.ReadFile(config)
	if err != nil && !os.IsNotExist(err) {
		ts.Check(err)
	}
	if strings.Contains(string(said), "sandbox:") {
		ts.Fatalf("%s already says something of the sandbox", config)
	}
	ts.Check(os.WriteFile(config, fmt.Appendf(said, "sandbox: {writable: [%q]}\n", dir), 0o600))
}
