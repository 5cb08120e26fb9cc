//go:build linux

package cli_test

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orchestrate/internal/ledger"
)

// held demands that a runtime was held back in the last run, and that nothing was
// started on it until the time that was said: `held RUNTIME`.
func held(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "held RUNTIME")
	var until time.Time
	after := 0
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(filepath.Join(ts.Getenv("RUN"), ledger.JournalFile))))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r ledger.Record
		ts.Check(json.Unmarshal(lines.Bytes(), &r))
		switch {
		case r.Next != nil && r.Next.Pause == args[0] && r.Next.Until != nil:
			until = *r.Next.Until
		case r.Kind == ledger.KindIntent && r.Route.Runtime == args[0] && !until.IsZero():
			after++
			if r.At.Before(until) {
				ts.Fatalf("job %s was started on %s at %v, before %v", r.Job, args[0], r.At, until)
			}
		}
	}
	ts.Check(lines.Err())
	if until.IsZero() || after == 0 {
		ts.Fatalf("%s was held back until %v, and %d attempts followed", args[0], until, after)
	}
}
