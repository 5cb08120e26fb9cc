package cursor

import (
	"encoding/json"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads the stream of `agent --print --output-format=stream-json`.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder { return &decoder{} }

type decoder struct {
	out    runtime.Outcome
	last   string // what the agent said last; the result joins all that it said
	settle runtime.Reason
}

func (d *decoder) Stdout(raw []byte) []runtime.Event {
	if len(raw) == 0 {
		return nil
	}
	var l line
	// A field of an unexpected type does not make the rest of the line unreadable.
	if err := json.Unmarshal(raw, &l); err != nil && !json.Valid(raw) {
		return d.plain(string(raw))
	}
	switch l.Type {
	case "system":
		return d.system(l)
	case "assistant":
		return d.assistant(l)
	case "tool_call":
		return d.tool(l)
	case "error":
		return []runtime.Event{d.fail(classify(l.said()), l.said())}
	case "result":
		return d.result(l)
	}
	return nil
}

// Piece knows the pieces of what the model thinks.
func (d *decoder) Piece(raw []byte) bool {
	var l line
	return json.Unmarshal(raw, &l) == nil && l.Type == "thinking" && l.Subtype == "delta"
}

func (d *decoder) Settle() (runtime.Reason, bool) {
	return d.settle, d.settle != ""
}

func (d *decoder) Outcome() runtime.Outcome {
	out := d.out
	// A denial outranks whatever the refusal led to afterwards.
	if len(out.Denials) > 0 {
		first := out.Denials[0]
		out.Reason, out.Evidence = runtime.ReasonPermission, first.Said()
	}
	return out
}

func (d *decoder) system(l line) []runtime.Event {
	if l.Subtype != "init" {
		return nil
	}
	d.out.SessionID, d.out.ObservedModel = l.SessionID, l.Model
	return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.SessionID, Model: l.Model}}
}

func (d *decoder) assistant(l line) []runtime.Event {
	text := l.said()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	d.out.WorkBegun, d.last = true, text
	return []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(text)}}
}

func (d *decoder) tool(l line) []runtime.Event {
	name, call := l.tool()
	d.out.WorkBegun = true
	if l.Subtype == "started" {
		return []runtime.Event{{Kind: runtime.EventToolCall, Tool: name, Text: clip(string(call.Args))}}
	}
	for _, refused := range []string{"rejected", "permissionDenied"} {
		if why, ok := call.Result[refused]; ok {
			return d.deny(name, refused+": "+string(why))
		}
	}
	var done string
	for how, what := range call.Result {
		done = how + ": " + string(what)
	}
	return []runtime.Event{{Kind: runtime.EventToolDone, Tool: name, Text: clip(done)}}
}

func (d *decoder) deny(tool, boundary string) []runtime.Event {
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	d.settle = runtime.ReasonPermission
	return []runtime.Event{{Kind: runtime.EventDenied, Tool: tool, Text: denial.Boundary, Reason: runtime.ReasonPermission}}
}

func (d *decoder) result(l line) []runtime.Event {
	d.out.Completed = true
	if l.SessionID != "" {
		d.out.SessionID = l.SessionID
	}
	var events []runtime.Event
	if u := l.Usage; u != nil && u.Input != nil && u.Output != nil {
		d.out.Usage = &runtime.Usage{InputTokens: u.Input, OutputTokens: u.Output}
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
	}
	if l.IsError || l.Subtype != "success" {
		text := strings.TrimSpace(l.Subtype + " " + l.Result)
		return append(events, d.fail(classify(text), text))
	}
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
	if d.out.Answer = untrusted.From(d.last); d.last == "" {
		d.out.Answer = untrusted.From(l.Result)
	}
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
		runtime.Event{Kind: runtime.EventComplete})
}

func (d *decoder) fail(why runtime.Reason, evidence string) runtime.Event {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}
}

// Stderr is where the program refuses to start. It may repeat the stream there.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return nil
	}
	return d.plain(string(raw))
}

// plain is a line that is not part of the stream, on either side. What follows a
// refusal to start explains it and does not replace it.
func (d *decoder) plain(text string) []runtime.Event {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if why := startFailure(text); why != "" && !d.out.Completed && !d.out.ErrorFlag {
		return []runtime.Event{d.fail(why, text)}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
}
