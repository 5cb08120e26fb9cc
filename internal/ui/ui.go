// Package ui shows a run as it happens. Its printers subscribe to the records
// that the ledger has taken; nothing of a run depends on them.
package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// Printer is told of every record once it is in the ledger.
type Printer interface {
	Record(r ledger.Record)
}

// Silent prints nothing.
type Silent struct{}

// Record takes no notice.
func (Silent) Record(ledger.Record) {}

// Lines prints one line per transition, for logs and pipes.
type Lines struct {
	mu    sync.Mutex
	out   io.Writer
	begin time.Time
	slow  slowSteps
	skips skips
	same  same
	away  map[string]string // the session's agents that were chosen, by job
}

// NewLines prints to out; times are counted from the first record.
func NewLines(out io.Writer) *Lines { return &Lines{out: out} }

// Record prints the records that are transitions.
func (l *Lines) Record(r ledger.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begin.IsZero() {
		l.begin = r.At
	}
	l.step(r)
	if l.same.more(r) {
		return
	}
	if r.Kind == ledger.KindSettled && r.Status == ledger.Skipped {
		l.skips.add(r)
		return
	}
	text := transition(r)
	if text != "" {
		defer l.same.first(r)
	}
	if handed, mine := l.handed(r); mine {
		text = handed
	}
	if text == "" {
		return
	}
	for _, said := range []string{l.same.text(), l.skips.text(), text} {
		if said != "" {
			fmt.Fprintf(l.out, "%8s  %s\n", r.At.Sub(l.begin).Round(100*time.Millisecond), said)
		}
	}
}

// JSON prints every record as one JSON line: the journal's own form.
type JSON struct {
	mu  sync.Mutex
	enc *json.Encoder
}

// NewJSON prints to out.
func NewJSON(out io.Writer) *JSON {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // as in the journal, byte for byte
	return &JSON{enc: enc}
}

// Record prints r. A reader that went away ends nothing.
func (j *JSON) Record(r ledger.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = j.enc.Encode(r) // the ledger has the record; a closed pipe is the reader's wish
}

// lineLimit bounds what is shown on one line, in runes.
const lineLimit = 160

func line(s string) string { return untrusted.From(s).Line(lineLimit) }
