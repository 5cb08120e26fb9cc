//go:build linux

package cli_test

import (
	"github.com/rogpeppe/go-internal/testscript"

	"orchestrate/internal/ledger/ledgertest"
)

// published holds a JSON document against the schema that is published for it:
// `published SCHEMA FILE`.
func published(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 2, 2, "published SCHEMA FILE")
	all, err := ledgertest.Load()
	ts.Check(err)
	ts.Check(all.Check(args[0], []byte(ts.ReadFile(args[1]))))
}
