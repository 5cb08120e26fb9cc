package codex

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads the stream of `codex exec --json`. The spec's baseline is what
// a continued thread had used before, since codex counts over the whole thread.
func NewDecoder(spec runtime.DecoderSpec) runtime.Decoder {
	return &decoder{spec: spec}
}

type decoder struct {
	spec   runtime.DecoderSpec
	out    runtime.Outcome
	settle runtime.Reason
}

func (d *decoder) Stdout(raw []byte) []runtime.Event {
	if len(raw) == 0 {
		return nil
	}
	l, ok := parse(raw)
	if !ok {
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(string(raw))}}
	}
	switch l.Type {
	case "thread.started":
		d.out.SessionID = l.ThreadID
		return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.ThreadID}}
	case "item.started":
		return d.started(l.Item)
	case "item.completed":
		return d.completed(l.Item)
	case "error":
		return d.problem(l.Message)
	case "turn.failed":
		d.out.Completed = true
		return d.fail(l.Error.Message)
	case "turn.completed":
		return d.turnCompleted(l)
	}
	return nil
}

func (d *decoder) Settle() (runtime.Reason, bool) {
	return d.settle, d.settle != ""
}

// Outcome leaves ObservedModel empty: codex does not say which model answered.
func (d *decoder) Outcome() runtime.Outcome {
	out := d.out
	if !out.Completed || out.ErrorFlag {
		out.Answer = untrusted.Text{}
	}
	// A denial outranks whatever the refusal led to afterwards.
	if len(out.Denials) > 0 {
		first := out.Denials[0]
		out.Reason, out.Evidence = runtime.ReasonPermission, first.Said()
	}
	return out
}

func (d *decoder) started(i item) []runtime.Event {
	name, input, ok := i.tool()
	if !ok {
		return nil
	}
	d.out.WorkBegun = true
	return []runtime.Event{{Kind: runtime.EventToolCall, Tool: name, Text: clip(input)}}
}

func (d *decoder) completed(i item) []runtime.Event {
	switch i.Type {
	case "agent_message":
		d.out.WorkBegun = true
		d.out.Answer = untrusted.From(i.Text) // the last one is the answer
		return []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(i.Text)}}
	case "error": // a notice; failures come as lines of their own
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(i.Message)}}
	}
	name, input, ok := i.tool()
	if !ok {
		return nil
	}
	d.out.WorkBegun = true
	if i.Status == "declined" {
		return d.deny(name, "declined: "+input)
	}
	return []runtime.Event{{Kind: runtime.EventToolDone, Tool: name, Text: clip(strings.TrimSpace(i.Status + " " + i.Output))}}
}

// problem is an error line: a retry notice, or the message of the failure that
// the next line reports.
func (d *decoder) problem(message string) []runtime.Event {
	why := classify(message)
	if !strings.HasPrefix(message, "Reconnecting") {
		d.note(why, message)
		return []runtime.Event{{Kind: runtime.EventWarning, Reason: why, Text: clip(message)}}
	}
	if why == runtime.ReasonAuth {
		d.note(why, message)
		d.settle = why
	}
	return []runtime.Event{{
		Kind: runtime.EventRetry, Reason: why, Text: clip(message), RetryAfterMs: statedDelay(message),
	}}
}

func (d *decoder) fail(message string) []runtime.Event {
	d.note(classify(message), message)
	return []runtime.Event{{
		Kind: runtime.EventFailed, Reason: d.out.Reason, Text: clip(message), RetryAfterMs: d.out.RetryAfterMs,
	}}
}

func (d *decoder) note(why runtime.Reason, message string) {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(message)
	d.out.RetryAfterMs = statedDelay(message)
}

func (d *decoder) turnCompleted(l line) []runtime.Event {
	d.out.Completed = true
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence, d.out.RetryAfterMs = false, "", untrusted.Text{}, 0
	var events []runtime.Event
	if l.Usage != nil {
		d.out.Usage = &runtime.Usage{
			InputTokens:  since(l.Usage.Input, d.spec.BaselineInput),
			OutputTokens: since(l.Usage.Output, d.spec.BaselineOut),
		}
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
	}
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
		runtime.Event{Kind: runtime.EventComplete})
}

// since is the part of a cumulative count that this attempt added. A count below
// the baseline belongs to some other thread and says nothing.
func since(count *int64, baseline int64) *int64 {
	if count == nil || *count < baseline {
		return nil
	}
	return new(*count - baseline)
}

// Stderr is the only place where a refused patch or escalation shows.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(plain(string(raw)))
	if text == "" || text == "Reading additional input from stdin..." {
		return nil
	}
	if boundary, ok := refusal(text); ok {
		return d.deny("tool", boundary)
	}
	if why := startFailure(text); why != "" && !d.out.Completed {
		d.note(why, text)
		return []runtime.Event{{Kind: runtime.EventFailed, Reason: why, Text: clip(text)}}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
}

func (d *decoder) deny(tool, boundary string) []runtime.Event {
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	d.out.WorkBegun = true
	if d.settle == "" {
		d.settle = runtime.ReasonPermission
	}
	return []runtime.Event{{
		Kind: runtime.EventDenied, Tool: tool, Text: denial.Boundary, Reason: runtime.ReasonPermission,
	}}
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
