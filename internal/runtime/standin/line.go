// Package standin is the stand-in agent's adapter and decoder. The stand-in is a
// scripted program that goes through the same supervisor, capture and decoding as
// a real agent, and marks everything it says REHEARSAL. The program itself is in
// the folder script, apart from this package, so that the supervisor links the
// decoder without the script's parser.
package standin

import "orchestrate/internal/runtime"

// Name is the runtime's name in a spec.
const Name = "standin"

// Mark begins every text that the stand-in says.
const Mark = "REHEARSAL"

// Line is one line of the stand-in's standard output, as JSON: the plainest form
// of a normalized event.
type Line struct {
	Kind         runtime.EventKind `json:"kind"`
	Text         string            `json:"text,omitempty"`
	Tool         string            `json:"tool,omitempty"`
	Model        string            `json:"model,omitempty"`
	SessionID    string            `json:"sessionId,omitempty"`
	Reason       runtime.Reason    `json:"reason,omitempty"`
	Usage        *runtime.Usage    `json:"usage,omitempty"`
	RetryAfterMs int64             `json:"retryAfterMs,omitempty"`
}
