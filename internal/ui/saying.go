package ui

import (
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Saying is the line, or the lines, for an event of a job that says something to a
// person, else "".
func Saying(e runtime.Event) string {
	text := e.Text
	switch e.Kind {
	case runtime.EventText, runtime.EventAnswer:
		return strings.TrimRight(text.Block(), "\n")
	case runtime.EventSession:
		if e.Model == "" {
			return ""
		}
		return named("session", e.Model, untrusted.Text{})
	case runtime.EventToolCall:
		return named("tool", e.Tool, text)
	case runtime.EventDenied:
		return named("denied", e.Tool, text)
	case runtime.EventRetry:
		return named("retry", string(e.Reason), text)
	case runtime.EventFailed:
		return named("failed", string(e.Reason), text)
	case runtime.EventWarning, runtime.EventSignal:
		return named(string(e.Kind), "", text)
	}
	return ""
}

// named is a line that is not the agent's own text.
func named(kind, what string, text untrusted.Text) string {
	said := line(what)
	if what != "" && !text.Empty() {
		said += ": "
	}
	return fmt.Sprintf("[%s] %s", kind, said+text.Line(lineLimit))
}
