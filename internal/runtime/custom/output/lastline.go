package output

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/untrusted"
)

// NewLastLine reads a program of whose standard output the last line is a JSON object
// that says how it went. spec.Custom says where in it.
func NewLastLine(spec runtime.DecoderSpec) runtime.Decoder {
	d := &lastLine{}
	if spec.Custom != nil {
		d.form = *spec.Custom
	}
	return d
}

type lastLine struct {
	form  runtime.Form
	out   runtime.Outcome
	last  []byte         // line of standard output that is not blank
	said  untrusted.Text // last line of standard error
	model string         // the last that an event told
}

func (d *lastLine) Stdout(line []byte) []runtime.Event {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	d.out.WorkBegun = true
	d.last = append(d.last[:0], line...)
	if line[0] != '{' || !json.Valid(line) {
		return []runtime.Event{{Kind: runtime.EventText, Text: clip(string(line))}}
	}
	events := append(d.session(line), d.refusal(line)...)
	if d.form.Completion != "" && holds(line, d.form.Completion) {
		events = append(events, d.completion(line)...)
	}
	return events
}

func (d *lastLine) Stderr(line []byte) []runtime.Event { return said(line, &d.said, &d.out) }

// Piece takes a line for one that tells a piece of a text by the words that programs use
// for it: descriptions do not say. What the description asks of a line is never one.
func (d *lastLine) Piece(line []byte) bool {
	var l map[string]json.RawMessage
	if json.Unmarshal(line, &l) != nil || d.form.Completion != "" && holds(line, d.form.Completion) {
		return false
	}
	return piecemeal(l, 3)
}

// piecemeal looks for the words in an object and in those within it.
func piecemeal(l map[string]json.RawMessage, depth int) bool {
	for name, value := range l {
		var text string
		var inner map[string]json.RawMessage
		switch {
		case inPieces(name) && string(value) != "null" && string(value) != "false":
			return true
		case strings.HasSuffix(strings.ToLower(name), "type") && json.Unmarshal(value, &text) == nil && inPieces(text):
			return true
		case depth > 1 && json.Unmarshal(value, &inner) == nil && piecemeal(inner, depth-1):
			return true
		}
	}
	return false
}

// inPieces reports whether a name is one that programs use where a text comes in pieces
// or grows.
func inPieces(name string) bool {
	name = strings.ToLower(name)
	has := func(word string) bool { return strings.Contains(name, word) }
	return slices.ContainsFunc([]string{"delta", "chunk", "partial", "accumulated", "message_update", "execution_update"}, has)
}

// Settle ends an attempt whose tool was refused: what it does from there on is not
// what it was asked for.
func (d *lastLine) Settle() (runtime.Reason, bool) {
	return runtime.ReasonPermission, len(d.out.Denials) > 0
}

func (d *lastLine) session(line []byte) []runtime.Event {
	if d.form.Session == "" || d.out.SessionID != "" {
		return nil
	}
	id, ok := textAt(line, d.form.Session)
	if !ok || id == "" {
		return nil
	}
	d.out.SessionID = id
	return []runtime.Event{{Kind: runtime.EventSession, SessionID: id}}
}

func (d *lastLine) refusal(line []byte) []runtime.Event {
	if d.form.Refused == "" {
		return nil
	}
	boundary, ok := textAt(line, d.form.Refused)
	if !ok || !strings.Contains(boundary, d.form.RefusedText) {
		return nil
	}
	tool := ""
	if d.form.RefusedTool != "" {
		tool, _ = textAt(line, d.form.RefusedTool)
	}
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	return []runtime.Event{{
		Kind: runtime.EventDenied, Tool: tool, Text: denial.Boundary, Reason: runtime.ReasonPermission,
	}}
}

func (d *lastLine) completion(line []byte) []runtime.Event {
	var events []runtime.Event
	if model, ok := d.at(line, d.form.Model); ok && model != d.model {
		d.model = model
		events = append(events, runtime.Event{Kind: runtime.EventModel, Model: model})
	}
	if u := d.usage(line); u != nil {
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: u})
	}
	answer, _ := d.at(line, d.form.Answer)
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: untrusted.From(answer)},
		runtime.Event{Kind: runtime.EventComplete})
}

// Outcome judges the last line. Where the exit status is the completion, the line has
// to hold an answer all the same.
func (d *lastLine) Outcome() runtime.Outcome {
	out := d.out
	if len(d.last) > 0 && d.last[0] == '{' && json.Valid(d.last) {
		d.read(&out)
	}
	switch {
	case len(out.Denials) > 0:
		first := out.Denials[0]
		out.Reason, out.Evidence = runtime.ReasonPermission, first.Said()
	case out.Completed && d.form.Completion != "":
		out.Reason, out.Evidence, out.RetryAfterMs = "", untrusted.Text{}, 0
	case out.Reason == "":
		out.Reason, out.RetryAfterMs = classify(string(d.last)), acp.StatedDelay(string(d.last))
		out.Evidence = clip(d.failure())
		if out.Evidence.Empty() {
			out.Evidence = d.said
		}
	}
	return out
}

// failure is what the last line says went wrong: its message, or else all of it.
func (d *lastLine) failure() string {
	if text, ok := d.at(d.last, d.form.Error); ok && text != "" {
		return text
	}
	return string(d.last)
}

func (d *lastLine) read(out *runtime.Outcome) {
	answer, answered := d.at(d.last, d.form.Answer)
	out.Answer = untrusted.From(answer)
	if d.form.Completion == "" {
		out.Completed = answered
	} else {
		out.Completed = holds(d.last, d.form.Completion)
	}
	if out.Completed {
		out.ObservedModel, _ = d.at(d.last, d.form.Model)
		out.Usage = d.usage(d.last)
	}
}

// usage is what the line reports; what it does not report is unknown.
func (d *lastLine) usage(line []byte) *runtime.Usage {
	var u runtime.Usage
	in, out := numberAt[int64](line, d.form.InputTokens), numberAt[int64](line, d.form.OutputTokens)
	u.InputTokens, u.OutputTokens, u.CostUSD = in, out, numberAt[float64](line, d.form.CostUSD)
	if in == nil && out == nil && u.CostUSD == nil {
		return nil
	}
	return &u
}

func (d *lastLine) at(line []byte, field string) (string, bool) {
	if field == "" {
		return "", false
	}
	return textAt(line, field)
}
