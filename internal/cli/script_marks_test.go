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
	ruleSandbox(ts, ownConfig(ts), fmt.Sprintf("{writable: [%q]}", dir))
}

// unboxed switches the sandbox off, as the operator, for a script whose jobs do what no
// sandbox would let them: `unboxed`.
func unboxed(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, 0, "unboxed")
	ruleSandbox(ts, ownConfig(ts), "{off: true}")
}

// ownConfig is the folder of the settings of whoever runs a script.
func ownConfig(ts *testscript.TestScript) string { return filepath.Join(ts.Getenv("HOME"), ".config") }

// ruleSandbox adds the operator's word on the sandbox to what else they say in a folder
// of settings.
func ruleSandbox(ts *testscript.TestScript, folder, rule string) {
	config := filepath.Join(folder, "orchestrate", "config.yaml")
	ts.Check(os.MkdirAll(filepath.Dir(config), 0o700))
	said, err := os.ReadFile(config)
	if err != nil && !os.IsNotExist(err) {
		ts.Check(err)
	}
	if strings.Contains(string(said), "sandbox:") {
		ts.Fatalf("%s already says something of the sandbox", config)
	}
	ts.Check(os.WriteFile(config, fmt.Appendf(said, "sandbox: %s\n", rule), 0o600))
}
