package engine

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// meter reads what an attempt that still runs has reported: the usage events in its
// events.jsonl, from where it read last.
type meter struct {
	path string
	from int64
}

// read is the newest count since the last reading, nil = no new one. What cannot be read
// now counts when the attempt ends, and then whoever imports the file says what is wrong.
func (m *meter) read() (latest *runtime.Usage) {
	f, err := os.Open(m.path)
	if err != nil {
		return nil
	}
	defer f.Close() // only read
	fresh, err := io.ReadAll(io.NewSectionReader(f, m.from, 1<<62))
	if err != nil {
		return nil
	}
	whole := fresh[:bytes.LastIndexByte(fresh, '\n')+1] // the last line may still be written
	m.from += int64(len(whole))
	for line := range bytes.Lines(whole) {
		var e runtime.Event
		if bytes.Contains(line, []byte(`"usage"`)) && json.Unmarshal(line, &e) == nil && e.Usage != nil {
			latest = e.Usage
		}
	}
	return latest
}

// look takes in what the attempts under way have reported meanwhile.
func (s *spending) look() {
	for _, h := range s.held {
		if h.meter == nil {
			continue
		}
		if u := h.meter.read(); u != nil {
			seen, _ := amountOf(u)
			h.amount = h.atLeast(seen)
		}
	}
}

// metered says that an attempt has a process from now on, whose events count.
func (r *run) metered(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.spent.held[a.job.ID]; h != nil {
		h.meter = &meter{path: r.led.Path(ledger.JobPath(a.job.ID, ledger.EventsFile))}
	}
}
