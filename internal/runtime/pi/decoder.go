package pi

import (
	"encoding/json"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// NewDecoder reads the stream of `pi --mode json`. Usage is told per answer, so a
// continued session needs no baseline.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder { return &decoder{} }

type decoder struct {
	out    runtime.Outcome
	last   message // the last answer of the model
	settle runtime.Reason
	input  int64
	output int64
	cost   float64
}

func (d *decoder) Stdout(raw []byte) []runtime.Event {
	if len(raw) == 0 {
		return nil
	}
	var l line
	// A field of an unexpected type does not make the rest of the line unreadable.
	if err := json.Unmarshal(raw, &l); err != nil && !json.Valid(raw) {
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(string(raw))}}
	}
	switch l.Type {
	case "session":
		d.out.SessionID = l.ID
		return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.ID}}
	case "message_end":
		return d.message(l.Message)
	case "tool_execution_start":
		d.out.WorkBegun = true
		return []runtime.Event{{Kind: runtime.EventToolCall, Tool: l.Tool, Text: clip(string(l.Args))}}
	case "tool_execution_end":
		return d.toolDone(l)
	case "auto_retry_start":
		return []runtime.Event{{Kind: runtime.EventRetry, Reason: classify(l.Error), Text: clip(l.Error)}}
	case "agent_settled":
		return d.end(l)
	}
	return nil
}

// Piece knows the lines that tell a text while it grows: the model's, and a tool's output.
func (d *decoder) Piece(raw []byte) bool {
	own, _ := runtime.LineType(raw)
	return own == "message_update" || own == "tool_execution_update"
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

// message takes one whole message; only those of the model tell something new.
func (d *decoder) message(m message) []runtime.Event {
	if m.Role != "assistant" {
		return nil
	}
	d.last = m
	if m.StopReason == "error" {
		return []runtime.Event{{Kind: runtime.EventWarning, Reason: classify(m.Error), Text: clip(m.Error)}}
	}
	events := d.seeModel(m)
	if said := text(m.Content); strings.TrimSpace(said) != "" {
		d.out.WorkBegun = true
		events = append(events, runtime.Event{Kind: runtime.EventText, Text: untrusted.From(said)})
	}
	d.count(m.Usage)
	return events
}

// seeModel notes which model answers, under the name that --model takes.
func (d *decoder) seeModel(m message) []runtime.Event {
	name := m.Model
	if m.Answered != "" {
		name = m.Answered
	}
	if name == "" {
		return nil
	}
	if m.Provider != "" {
		name = m.Provider + "/" + name
	}
	if name == d.out.ObservedModel {
		return nil
	}
	d.out.ObservedModel = name
	return []runtime.Event{{Kind: runtime.EventModel, Model: name}}
}

// count adds up what each answer used. The program writes zeros where it was not
// told, and a cost of zero where it knows no price.
func (d *decoder) count(u usage) {
	input := u.Input + u.CacheRead + u.CacheWrite
	if input == 0 && u.Output == 0 {
		return
	}
	d.input, d.output, d.cost = d.input+input, d.output+u.Output, d.cost+u.Cost.Total
	d.out.Usage = &runtime.Usage{InputTokens: new(d.input), OutputTokens: new(d.output)}
	if d.cost > 0 {
		d.out.Usage.CostUSD = new(d.cost)
	}
}

func (d *decoder) toolDone(l line) []runtime.Event {
	said := text(l.Result.Content)
	if !l.IsError || !isRefusal(l.Tool, said) {
		return []runtime.Event{{Kind: runtime.EventToolDone, Tool: l.Tool, Text: clip(said)}}
	}
	denial := runtime.Denial{Tool: l.Tool, Boundary: clip(said)}
	d.out.Denials = append(d.out.Denials, denial)
	d.settle = runtime.ReasonPermission
	return []runtime.Event{{
		Kind: runtime.EventDenied, Tool: denial.Tool, Text: denial.Boundary, Reason: runtime.ReasonPermission,
	}}
}

// end judges the whole run by the model's last message: the exit status is 0
// whatever became of it.
func (d *decoder) end(l line) []runtime.Event {
	d.out.Completed = true
	var events []runtime.Event
	if d.out.Usage != nil {
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
	}
	switch {
	case d.last.StopReason == "error":
		return append(events, d.fail(classify(d.last.Error), d.last.Error))
	case l.Aborted || d.last.StopReason != "stop":
		return append(events, d.fail(runtime.ReasonCrash, "the run ended with stop reason "+strings.TrimSpace(d.last.StopReason+" "+d.last.Error)))
	}
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
	d.out.Answer = untrusted.From(text(d.last.Content))
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
		runtime.Event{Kind: runtime.EventComplete})
}

func (d *decoder) fail(why runtime.Reason, evidence string) runtime.Event {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}
}

// Stderr is where the program refuses to start.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	said := strings.TrimSpace(string(raw))
	if said == "" {
		return nil
	}
	if why := startFailure(said); why != "" && !d.out.Completed {
		return []runtime.Event{d.fail(why, said)}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(said)}}
}
