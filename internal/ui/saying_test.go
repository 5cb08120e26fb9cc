package ui

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// An event that says nothing to a person is no line.
func TestSaying(t *testing.T) {
	for _, tc := range []struct {
		event runtime.Event
		want  string
	}{
		{runtime.Event{Kind: runtime.EventSession}, ""},
		{runtime.Event{Kind: runtime.EventSession, Model: "m"}, "[session] m"},
		{runtime.Event{Kind: runtime.EventToolCall, Tool: "Read", Text: untrusted.From("a.txt")}, "[tool] Read: a.txt"},
		{runtime.Event{Kind: runtime.EventAnswer, Text: untrusted.From("done\n")}, "done"},
	} {
		if got := Saying(tc.event); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.event.Kind, got, tc.want)
		}
	}
}
