//go:build linux

package cli_test

import (
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"
)

// taken keeps the job that `next --json` printed last: `taken NAME` sets $NAME to the
// attempt's id, $NAME_JOB to its job and $NAME_CWD to where it works. `! taken` demands
// that there was none.
func taken(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 0, 1, "taken NAME")
	var doc struct {
		Request *struct{ Attempt, Job, Cwd string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	switch {
	case (doc.Request == nil) != neg:
		ts.Fatalf("request: %+v", doc.Request)
	case len(args) == 1 && !neg:
		ts.Setenv(args[0], doc.Request.Attempt)
		ts.Setenv(args[0]+"_JOB", doc.Request.Job)
		ts.Setenv(args[0]+"_CWD", doc.Request.Cwd)
	}
}
