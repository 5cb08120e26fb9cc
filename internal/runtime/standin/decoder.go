package standin

import (
	"encoding/json"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// NewDecoder returns the decoder of the stand-in's output.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder { return &decoder{} }

type decoder struct {
	out    runtime.Outcome
	settle runtime.Reason
}

// Stdout takes one line. What is no event is text: the stand-in's children share
// its standard output.
func (d *decoder) Stdout(line []byte) []runtime.Event {
	if len(line) == 0 {
		return nil
	}
	var l Line
	if err := json.Unmarshal(line, &l); err != nil || l.Kind == "" {
		l = Line{Kind: runtime.EventText, Text: string(line)}
	}
	d.note(l)
	return []runtime.Event{{
		Kind: l.Kind, Text: untrusted.From(l.Text), Tool: l.Tool, Model: l.Model, SessionID: l.SessionID,
		Reason: l.Reason, Usage: l.Usage, RetryAfterMs: l.RetryAfterMs,
	}}
}

func (d *decoder) note(l Line) {
	switch l.Kind {
	case runtime.EventSession:
		d.out.SessionID = l.SessionID
	case runtime.EventModel:
		d.out.ObservedModel = l.Model
	case runtime.EventText, runtime.EventToolCall:
		d.out.WorkBegun = true
	case runtime.EventUsage:
		d.out.Usage = l.Usage
	case runtime.EventAnswer:
		d.out.Answer = untrusted.From(l.Text)
	case runtime.EventComplete:
		d.out.Completed = true
	case runtime.EventDenied:
		d.denied(l)
	case runtime.EventFailed:
		d.failed(l)
	}
}

// denied keeps the first refusal as the evidence and asks for an early end.
func (d *decoder) denied(l Line) {
	d.out.Denials = append(d.out.Denials, runtime.Denial{Tool: l.Tool, Boundary: untrusted.From(l.Text)})
	d.out.WorkBegun = true
	d.settle = runtime.ReasonPermission
	if !d.out.ErrorFlag && len(d.out.Denials) == 1 {
		d.out.Reason, d.out.Evidence = runtime.ReasonPermission, untrusted.From(l.Text)
	}
}

// failed is the completion event with the error flag.
func (d *decoder) failed(l Line) {
	d.out.Completed, d.out.ErrorFlag = true, true
	d.out.Reason, d.out.Evidence, d.out.RetryAfterMs = l.Reason, untrusted.From(l.Text), l.RetryAfterMs
}

// Stderr carries nothing that the stand-in means as an event.
func (d *decoder) Stderr([]byte) []runtime.Event { return nil }

func (d *decoder) Settle() (runtime.Reason, bool) { return d.settle, d.settle != "" }

func (d *decoder) Outcome() runtime.Outcome { return d.out }
