package runtime

import (
	"time"

	"orchestrate/internal/untrusted"
)

// EventKind names a normalized event.
type EventKind string

// The normalized events. A decoder emits those from "session" to "failed"; the
// supervisor adds the others.
const (
	EventSession  EventKind = "session" // SessionID, Model known
	EventModel    EventKind = "model"   // Model: the model that answered
	EventText     EventKind = "text"    // Text: something the agent said
	EventToolCall EventKind = "tool"    // Tool, Text (short form of its input)
	EventToolDone EventKind = "tool_done"
	EventDenied   EventKind = "denied" // Tool, Text: the boundary that refused it
	EventRetry    EventKind = "retry"  // Reason, Text, RetryAfterMs
	EventWarning  EventKind = "warning"
	EventUsage    EventKind = "usage"
	EventAnswer   EventKind = "answer"    // Text: the final answer
	EventComplete EventKind = "completed" // the runtime's own completion event
	EventFailed   EventKind = "failed"    // the runtime's own error flag: Reason, Text

	EventStarted  EventKind = "started"        // PID, StartTime of the direct child
	EventProcess  EventKind = "process"        // PID, StartTime of a descendant, as first seen
	EventBoundary EventKind = "sandbox_denied" // Text: a line of output which says that the OS sandbox refused something
	EventOversize EventKind = "oversize_line"  // Bytes: a line over 4 MiB was dropped for the decoder
	EventSignal   EventKind = "signal"         // Text: which signal the supervisor sent and why
	EventDropped  EventKind = "events_dropped" // Bytes: the event log reached its bound
	EventExited   EventKind = "exited"
)

// Event is one normalized event of an attempt, one line of events.jsonl.
// Strings are redacted before they are written.
type Event struct {
	Seq          int64          `json:"seq"` // from 1, per attempt
	At           time.Time      `json:"at"`
	Kind         EventKind      `json:"kind"`
	Text         untrusted.Text `json:"text,omitzero"`
	Tool         string         `json:"tool,omitempty"`
	Model        string         `json:"model,omitempty"`
	SessionID    string         `json:"sessionId,omitempty"`
	Reason       Reason         `json:"reason,omitempty"`
	Usage        *Usage         `json:"usage,omitempty"`
	PID          int            `json:"pid,omitempty"`
	StartTime    uint64         `json:"startTime,omitempty"` // on Linux clock ticks since boot, on macOS microseconds since 1970; 0 = unknown
	RetryAfterMs int64          `json:"retryAfterMs,omitempty"`
	Bytes        int64          `json:"bytes,omitempty"`
}

// Usage is what the runtime itself reported; a nil pointer is "unknown", never zero.
type Usage struct {
	InputTokens  *int64   `json:"inputTokens"`
	OutputTokens *int64   `json:"outputTokens"`
	CostUSD      *float64 `json:"costUsd"`
}

// Denial is a tool use that the runtime refused.
type Denial struct {
	Tool     string         `json:"tool"`
	Boundary untrusted.Text `json:"boundary"` // what was refused, as the runtime said it
}

// Said is the denial as evidence.
func (d Denial) Said() untrusted.Text { return untrusted.Sprintf("%.200s: %s", d.Tool, d.Boundary) }

// SaidLimit bounds, in bytes, a text that comes in pieces over many lines: an agent that
// babbles must not fill the memory of its supervisor. What comes later is dropped.
const SaidLimit = 4 << 20

// Outcome is what a decoder knows when the stream has ended.
type Outcome struct {
	Completed     bool           `json:"completed"` // the runtime's own completion event was seen
	ErrorFlag     bool           `json:"errorFlag"` // …and it, or a failure event, carried the error flag
	Reason        Reason         `json:"reason"`    // class of the error, if the flag is set or Denials is not empty, or what an exit status other than 0 would mean
	Evidence      untrusted.Text `json:"evidence"`  // the line that says so
	Answer        untrusted.Text `json:"answer"`
	SessionID     string         `json:"sessionId"`
	ObservedModel string         `json:"observedModel"`
	Usage         *Usage         `json:"usage"`
	Denials       []Denial       `json:"denials"`
	WorkBegun     bool           `json:"workBegun"` // a tool ran or the agent said something
	RetryAfterMs  int64          `json:"retryAfterMs"`
}

// Decoder turns one attempt's raw stream into events. It is fed whole lines
// (without the newline, at most 4 MiB) in order, from one goroutine.
type Decoder interface {
	// Stdout takes one line of standard output.
	Stdout(line []byte) []Event
	// Stderr takes one line of standard error.
	Stderr(line []byte) []Event
	// Settle says that the attempt is hopeless and should be ended now (for
	// example after the first authentication failure); ok is false while it is not.
	Settle() (why Reason, ok bool)
	// Outcome is asked once, after both streams ended.
	Outcome() Outcome
}
