package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// maxRefusal bounds what is quoted of one refusal of the sandbox, in characters.
const maxRefusal = 160

// refusedHint says that the sandbox may be why a job failed; "" when it refused nothing.
func refusedHint(denied []untrusted.Text) string {
	if len(denied) == 0 {
		return ""
	}
	return fmt.Sprintf("; it seems that the sandbox refused something (%d such lines, the first: %s): what jobs may change besides is sandbox.writable in your configuration, see docs/sandbox.md",
		len(denied), denied[0].Line(maxRefusal))
}

// takeRefusals puts what the sandbox refused to a check among its job's events, before the
// check's own folder goes.
func (c *checkRunner) takeRefusals(name, dir string) error {
	refused, err := refusalsIn(dir)
	var recs []ledger.Record
	for _, e := range refused {
		c.attempt.from++ // it comes after the program's
		e.Seq, e.Text = c.attempt.from, untrusted.Sprintf("%s: %s", name, e.Text)
		recs = append(recs, ledger.Imported(c.attempt.job.ID, c.attempt.n, e))
		c.attempt.denied = append(c.attempt.denied, e.Text)
	}
	return errors.Join(err, c.run.led.Note(recs...))
}

// refusalsIn are the events of a command's own folder that tell of the sandbox.
func refusalsIn(dir string) (all []runtime.Event, err error) {
	data, err := os.ReadFile(filepath.Join(dir, ledger.EventsFile))
	for line := range strings.Lines(string(data)) {
		var e runtime.Event
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == runtime.EventBoundary {
			all = append(all, e)
		}
	}
	return all, err
}
