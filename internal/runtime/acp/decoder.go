package acp

import (
	"encoding/json"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/untrusted"
)

// DecoderName names the decoder of the client's lines.
const DecoderName = "acp"

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads what `orchestrate acp-turn` prints. The spec's baseline is what a
// continued session had used before.
func NewDecoder(spec runtime.DecoderSpec) runtime.Decoder { return &decoder{spec: spec} }

type decoder struct {
	spec    runtime.DecoderSpec
	out     runtime.Outcome
	settle  runtime.Reason
	message string          // id of the message that is being said
	text    strings.Builder // what was said of it so far
	last    string          // the message before
	stderr  string          // the agent's last line there
}

func (d *decoder) Stdout(raw []byte) []runtime.Event {
	if len(raw) == 0 {
		return nil
	}
	var l Line
	// A field of an unexpected type does not make the rest of the line unreadable.
	if err := json.Unmarshal(raw, &l); err != nil && !json.Valid(raw) {
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(string(raw))}}
	}
	if l.Type == LineText {
		return d.said(l)
	}
	return d.other(l)
}

// said takes a piece of a message. An agent says one word at a time; a message is
// one event, made when the next thing happens.
func (d *decoder) said(l Line) (events []runtime.Event) {
	if l.Message != d.message {
		events = d.flush()
		d.message = l.Message
	}
	if d.text.Len() < runtime.SaidLimit {
		d.text.WriteString(l.Text)
	}
	d.out.WorkBegun = d.out.WorkBegun || strings.TrimSpace(l.Text) != ""
	return events
}

// flush ends the message that is being said.
func (d *decoder) flush() []runtime.Event {
	text := d.text.String()
	d.text.Reset()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	d.last = text
	return []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(text)}}
}

func (d *decoder) other(l Line) []runtime.Event {
	switch l.Type {
	case LineSession:
		d.out.SessionID = l.SessionID
		return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.SessionID}}
	case LineModel:
		d.out.ObservedModel = l.Model
		return []runtime.Event{{Kind: runtime.EventModel, Model: l.Model}}
	case LineTool:
		d.out.WorkBegun = true
		events := append(d.flush(), runtime.Event{Kind: runtime.EventToolCall, Tool: kindOf(l), Text: untrusted.From(describe(l))})
		d.last = "" // what is said before a tool is used is no final answer
		return events
	case LineToolDone:
		d.out.WorkBegun = true
		text := strings.TrimSpace(strings.Join([]string{l.Status, describe(l), l.Text}, " "))
		return append(d.flush(), runtime.Event{Kind: runtime.EventToolDone, Tool: kindOf(l), Text: clip(text)})
	case LinePermission:
		return append(d.flush(), d.permission(l))
	case LineUsage:
		return d.usage(l)
	case LineStop:
		return append(d.flush(), d.stop(l)...)
	case LineError:
		return append(d.flush(), d.fail(l.Reason, l.Text, l.RetryAfterMs))
	case LineWarning:
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(l.Text)}}
	}
	return nil
}

func (d *decoder) permission(l Line) runtime.Event {
	d.out.WorkBegun = true
	if l.Allowed {
		return runtime.Event{Kind: runtime.EventWarning, Tool: kindOf(l), Text: clip("permitted once: " + describe(l) + ": " + l.Rule)}
	}
	boundary := clip(describe(l) + ": " + l.Rule)
	d.out.Denials = append(d.out.Denials, runtime.Denial{Tool: kindOf(l), Boundary: boundary})
	if d.settle == "" {
		d.settle = runtime.ReasonPermission
	}
	return runtime.Event{Kind: runtime.EventDenied, Tool: kindOf(l), Text: boundary, Reason: runtime.ReasonPermission}
}

// usage takes what the agent counted over the whole session; what a continued one
// had used before is not this attempt's.
func (d *decoder) usage(l Line) []runtime.Event {
	if l.Usage == nil {
		return nil
	}
	d.out.Usage = &runtime.Usage{
		InputTokens:  since(d.spec.BaselineInput, l.Usage.InputTokens),
		OutputTokens: since(d.spec.BaselineOut, l.Usage.OutputTokens),
		CostUSD:      l.Usage.CostUSD,
	}
	return []runtime.Event{{Kind: runtime.EventUsage, Usage: d.out.Usage}}
}

// since leaves a count alone that is below the baseline: that agent counts by turn.
func since(baseline int64, count *int64) *int64 {
	if count == nil || *count < baseline {
		return count
	}
	return new(*count - baseline)
}

func (d *decoder) stop(l Line) []runtime.Event {
	switch l.StopReason {
	case "end_turn":
		d.out.Completed, d.out.Answer = true, untrusted.From(d.last)
		return []runtime.Event{{Kind: runtime.EventAnswer, Text: untrusted.From(d.last)}, {Kind: runtime.EventComplete}}
	case "cancelled":
		if l.Asked {
			return []runtime.Event{d.fail(runtime.ReasonCancelled, "the agent ended its turn when it was told to stop", 0)}
		}
		return []runtime.Event{d.fail(runtime.ReasonCrash, "the agent ended its turn as cancelled, though nobody had asked for that", 0)}
	case "max_turn_requests":
		return []runtime.Event{d.fail(runtime.ReasonTurnCap, "the agent reached the most requests that it may make in a turn (stop reason max_turn_requests)", 0)}
	case "refusal":
		return []runtime.Event{d.fail(runtime.ReasonCrash, "the agent refuses to go on (stop reason refusal)", 0)}
	}
	return []runtime.Event{d.fail(runtime.ReasonCrash, fmt.Sprintf("the agent's turn ended early (stop reason %s)", l.StopReason), 0)}
}

func (d *decoder) fail(why runtime.Reason, evidence string, delay int64) runtime.Event {
	if why == "" {
		why = runtime.ReasonCrash
	}
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence, d.out.RetryAfterMs = true, why, clip(evidence), delay
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence, RetryAfterMs: delay}
}

// Stderr is the agent's log. It is kept as it is; only where the agent failed is
// its last line of use here.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	if text := strings.TrimSpace(string(raw)); text != "" {
		d.stderr = text
	}
	return nil
}

// Piece knows the pieces of a message.
func (d *decoder) Piece(raw []byte) bool {
	own, _ := runtime.LineType(raw)
	return LineType(own) == LineText
}

// Unfinished is the message that was being said.
func (d *decoder) Unfinished() []runtime.Event {
	if d.text.Len() > 0 {
		d.text.WriteString("…")
	}
	return d.flush()
}

func (d *decoder) Settle() (runtime.Reason, bool) { return d.settle, d.settle != "" }

func (d *decoder) Outcome() runtime.Outcome {
	out := d.out
	switch {
	case len(out.Denials) > 0: // it outranks whatever the refusal led to afterwards
		first := out.Denials[0]
		out.Reason, out.Evidence = runtime.ReasonPermission, first.Said()
	case out.Reason == runtime.ReasonCrash && d.stderr != "":
		out.Evidence = untrusted.Sprintf("%s; its last line on standard error: %s", out.Evidence, d.stderr)
	}
	return out
}

// kindOf is the name that events have for a tool: agents give each use a title of
// its own, but the kinds are the protocol's.
func kindOf(l Line) string {
	if l.Kind == "" {
		return "other"
	}
	return l.Kind
}

// describe is the title with the paths that are not in it.
func describe(l Line) string {
	parts := []string{l.Title}
	for _, path := range l.Paths {
		if !strings.Contains(l.Title, path) {
			parts = append(parts, path)
		}
	}
	return probe.Bounded(strings.Join(parts, " "), evidenceLimit/2)
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
