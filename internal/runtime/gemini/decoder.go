package gemini

import (
	"bytes"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads the stream of `gemini --output-format=stream-json`.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder {
	return &decoder{tools: map[string]string{}}
}

type decoder struct {
	out     runtime.Outcome
	text    strings.Builder   // what the agent is saying, which comes in pieces
	tools   map[string]string // tool use id -> tool name
	settle  runtime.Reason
	retried *runtime.Event // the last retry, as long as nothing came after it
}

func (d *decoder) Stdout(raw []byte) []runtime.Event {
	if len(raw) == 0 {
		return nil
	}
	var l line
	if !known(raw, &l) {
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(string(raw))}}
	}
	switch l.Type {
	case "init":
		d.out.SessionID = l.SessionID
		return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.SessionID, Model: l.Model}}
	case "message":
		d.message(l)
		return nil
	case "tool_use":
		return d.toolUse(l)
	case "tool_result":
		return d.toolResult(l)
	case "result":
		return d.result(l)
	}
	return nil
}

// Piece knows the pieces of a message.
func (d *decoder) Piece(raw []byte) bool {
	var l line
	return bytes.Contains(raw, []byte(`"delta"`)) && known(raw, &l) && l.Type == "message" && l.Delta
}

// Unfinished is the message that was being said.
func (d *decoder) Unfinished() []runtime.Event {
	if d.text.Len() > 0 {
		d.text.WriteString("…")
	}
	_, events := d.said()
	return events
}

func (d *decoder) Settle() (runtime.Reason, bool) { return d.settle, d.settle != "" }

func (d *decoder) Outcome() runtime.Outcome {
	out := d.out
	// Cut off while it was repeating a call: what it last complained of is why.
	if d.retried != nil && !out.Completed && !out.ErrorFlag {
		out.ErrorFlag, out.Reason, out.Evidence = true, d.retried.Reason, d.retried.Text
	}
	if out.Reason == runtime.ReasonRateLimit || out.Reason == runtime.ReasonQuota {
		out.RetryAfterMs = statedDelay(out.Evidence.Unshown())
	}
	// A denial outranks whatever the refusal led to afterwards.
	if len(out.Denials) > 0 {
		first := out.Denials[0]
		out.Reason, out.Evidence = runtime.ReasonPermission, first.Said()
	}
	return out
}

// message gathers the pieces of what the agent says; the prompt comes back as a
// message of the user's.
func (d *decoder) message(l line) {
	if l.Role != "assistant" || l.Content == "" {
		return
	}
	d.out.WorkBegun, d.retried = true, nil
	if d.text.Len() < runtime.SaidLimit {
		d.text.WriteString(l.Content)
	}
}

// said is what was gathered, as one event, and begins anew.
func (d *decoder) said() (text string, events []runtime.Event) {
	text = d.text.String()
	d.text.Reset()
	if strings.TrimSpace(text) != "" {
		events = []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(text)}}
	}
	return text, events
}

func (d *decoder) toolUse(l line) []runtime.Event {
	_, events := d.said()
	d.out.WorkBegun, d.retried = true, nil
	d.tools[l.ToolID] = l.Tool
	return append(events, runtime.Event{Kind: runtime.EventToolCall, Tool: l.Tool, Text: clip(string(l.Parameters))})
}

func (d *decoder) toolResult(l line) []runtime.Event {
	tool, text := d.tools[l.ToolID], l.Output
	if l.Error != nil {
		text = l.Error.Message
		if refusal(tool, *l.Error) {
			return d.deny(tool, text)
		}
	}
	return []runtime.Event{{Kind: runtime.EventToolDone, Tool: tool, Text: clip(text)}}
}

func (d *decoder) deny(tool, boundary string) []runtime.Event {
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	if d.settle == "" {
		d.settle = runtime.ReasonPermission
	}
	return []runtime.Event{{
		Kind: runtime.EventDenied, Tool: denial.Tool, Text: denial.Boundary, Reason: runtime.ReasonPermission,
	}}
}

func (d *decoder) result(l line) []runtime.Event {
	answer, events := d.said()
	d.out.Completed, d.retried = true, nil
	events = append(events, d.account(l.Stats)...)
	if l.Status != "success" {
		text := "the run ended with status " + l.Status
		if l.Error != nil {
			text = l.Error.Type + ": " + l.Error.Message
		}
		why := classify(text)
		d.fail(why, text)
		return append(events, runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence})
	}
	if d.settle != runtime.ReasonUnknownFlag { // it ran without its limits
		d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
	}
	d.out.Answer = untrusted.From(answer)
	return append(events, runtime.Event{Kind: runtime.EventAnswer, Text: untrusted.From(answer)}, runtime.Event{Kind: runtime.EventComplete})
}

// account takes usage and model from the final count. A count of nothing is that
// of a call that was never answered; usage is unknown then.
func (d *decoder) account(s *stats) (events []runtime.Event) {
	if s == nil || s.Total == 0 {
		return nil
	}
	if model := s.answered(); model != "" {
		d.out.ObservedModel = model
		events = append(events, runtime.Event{Kind: runtime.EventModel, Model: model})
	}
	d.out.Usage = &runtime.Usage{InputTokens: s.Input, OutputTokens: s.Output}
	return append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
}

// answered is the one model that was called; "" when there were several, since the
// count does not tell the one that answers from those that choose a route or
// summarize.
func (s *stats) answered() (model string) {
	for name, used := range s.Models {
		switch {
		case used.Total == 0:
		case model != "":
			return ""
		default:
			model = name
		}
	}
	return model
}

func (d *decoder) fail(why runtime.Reason, evidence string) {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
}

// Stderr is where the program refuses to start and tells of calls it repeats; it
// writes much else there on every run.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(plain(string(raw)))
	switch why := startFailure(text); {
	case text == "" || isNoise(text):
		return nil
	case ignoresPolicy(text):
		d.fail(runtime.ReasonUnknownFlag, text)
		d.settle = runtime.ReasonUnknownFlag
	case why != "" && d.out.SessionID == "" && !d.out.ErrorFlag:
		d.fail(why, text)
	case strings.HasPrefix(text, "Attempt ") && strings.Contains(text, "etrying"):
		return d.retry(text)
	default:
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
	}
	return []runtime.Event{{Kind: runtime.EventFailed, Reason: d.out.Reason, Text: clip(text)}}
}

func (d *decoder) retry(text string) []runtime.Event {
	e := runtime.Event{Kind: runtime.EventRetry, Reason: classify(text), Text: clip(text), RetryAfterMs: statedDelay(text)}
	d.retried = &e
	return []runtime.Event{e}
}
