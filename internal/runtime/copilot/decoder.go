package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads the stream of `copilot --output-format=json`. It names the
// session on its last line only, and tokens nowhere.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder {
	return &decoder{tools: map[string]string{}}
}

type decoder struct {
	out    runtime.Outcome
	tools  map[string]string // tool call id -> tool name
	settle runtime.Reason
	failed data // the last failed model call, which a retry follows
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
	case "assistant.message":
		return d.message(l.Data)
	case "tool.execution_start":
		d.tools[l.Data.ToolCall] = l.Data.Tool
		d.out.WorkBegun = true
		return []runtime.Event{{Kind: runtime.EventToolCall, Tool: l.Data.Tool, Text: clip(string(l.Data.Arguments))}}
	case "tool.execution_complete":
		return d.toolDone(l.Data)
	case "model.call_failure":
		d.failed = l.Data
	case "session.info":
		return d.info(l.Data)
	case "session.error":
		return d.problem(l.Data)
	case "result":
		return d.result(l)
	}
	return nil
}

// Piece knows what the program itself calls deltas, and output of a tool that is not all
// of it.
func (d *decoder) Piece(raw []byte) bool {
	own, _ := runtime.LineType(raw)
	return strings.HasSuffix(own, "_delta") || own == "tool.execution_partial_result" || own == "tool.shell_output"
}

func (d *decoder) Settle() (runtime.Reason, bool) {
	return d.settle, d.settle != ""
}

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

// message is something an agent said; the last of the main agent is the answer.
func (d *decoder) message(m data) []runtime.Event {
	var events []runtime.Event
	if m.Parent == "" && m.Model != "" && m.Model != d.out.ObservedModel {
		d.out.ObservedModel = m.Model
		events = append(events, runtime.Event{Kind: runtime.EventModel, Model: m.Model})
	}
	if strings.TrimSpace(m.Content) == "" {
		return events
	}
	d.out.WorkBegun = true
	if m.Parent == "" {
		d.out.Answer = untrusted.From(m.Content)
	}
	return append(events, runtime.Event{Kind: runtime.EventText, Text: untrusted.From(m.Content)})
}

func (d *decoder) toolDone(t data) []runtime.Event {
	tool := d.tools[t.ToolCall]
	if !t.Success && isRefusal(t.Error.Code, t.Error.Message) {
		return d.deny(tool, t.Error.Message)
	}
	return []runtime.Event{{Kind: runtime.EventToolDone, Tool: tool, Text: clip(cmp.Or(t.Result.Content, t.Error.Message))}}
}

func (d *decoder) deny(tool, boundary string) []runtime.Event {
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	d.settle = runtime.ReasonPermission
	return []runtime.Event{{
		Kind: runtime.EventDenied, Tool: tool, Text: denial.Boundary, Reason: runtime.ReasonPermission,
	}}
}

// info is a notice. That of a retry calls every failure transient, a refused
// sign-in too, so the class is that of the call before.
func (d *decoder) info(i data) []runtime.Event {
	switch i.InfoType {
	case "model_retry":
		why := classify(d.failed.StatusCode, "", d.failed.CallError)
		return []runtime.Event{{Kind: runtime.EventRetry, Reason: why, Text: clip(cmp.Or(d.failed.CallError, i.Message))}}
	case "cancellation":
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(i.Message)}}
	}
	return nil
}

// problem is why the run ends. The result line that follows says no more than
// that it failed.
func (d *decoder) problem(p data) []runtime.Event {
	return []runtime.Event{d.fail(classify(p.StatusCode, p.ErrorType, p.Message), p.Message)}
}

func (d *decoder) result(l line) []runtime.Event {
	d.out.Completed = true
	d.out.SessionID = l.SessionID
	events := []runtime.Event{{Kind: runtime.EventSession, SessionID: l.SessionID, Model: d.out.ObservedModel}}
	code, err := strconv.Atoi(string(l.ExitCode))
	if err != nil {
		if d.out.ErrorFlag {
			return events
		}
		return append(events, d.fail(runtime.ReasonCrash, "the result line says no exitCode that can be read"))
	}
	if code == 0 {
		d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
		return append(events,
			runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
			runtime.Event{Kind: runtime.EventComplete})
	}
	if !d.out.ErrorFlag {
		events = append(events, d.fail(runtime.ReasonCrash, fmt.Sprintf("the result line says exitCode %d", code)))
	}
	return events
}

func (d *decoder) fail(why runtime.Reason, evidence string) runtime.Event {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}
}

// Stderr is where the program refuses to start. What follows such a line explains
// it and does not replace it.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return nil
	}
	if why := startFailure(text); why != "" && !d.out.Completed && !d.out.ErrorFlag {
		return []runtime.Event{d.fail(why, text)}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
}
