package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orchestrate/internal/runtime"
)

// told are the lines of an events.jsonl, or of its beginning and end, in short. Times
// count from the first.
func told(head, tail string) (first, last string) {
	var from time.Time
	return tell(head, &from), tell(tail, &from)
}

func tell(events string, from *time.Time) string {
	var b strings.Builder
	for line := range strings.Lines(events) {
		var e runtime.Event
		if json.Unmarshal([]byte(line), &e) != nil || e.Kind == runtime.EventProcess {
			continue // part of a line, or a process that came and went
		}
		if from.IsZero() {
			*from = e.At
		}
		line := fmt.Sprintf("%8s  %s", "+"+took(max(0, e.At.Sub(*from).Milliseconds())), strings.Join(saidBy(e), "  "))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// mostOfEvent bounds one event's text, in characters.
const mostOfEvent = 240

// saidBy are the parts of an event that say something.
func saidBy(e runtime.Event) []string {
	parts := []string{fmt.Sprintf("%-10s", e.Kind)}
	for _, s := range []string{e.Tool, e.Model, string(e.Reason), e.Text.Line(mostOfEvent)} {
		if s = oneLine(s); s != "" {
			parts = append(parts, s)
		}
	}
	if e.Usage != nil {
		parts = append(parts, cost(e.Usage))
	}
	if e.Bytes > 0 {
		parts = append(parts, byteText(e.Bytes))
	}
	return parts
}
