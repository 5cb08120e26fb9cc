package commandcode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads the stream of `cmd --print --output-format=json` behind a gate.
// It names the model that was asked for and not the one that answered, so none is
// taken as observed.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder {
	return &decoder{calls: map[string]event{}}
}

type decoder struct {
	out    runtime.Outcome
	gate   bool             // the gate has said that it holds
	left   []string         // the tools that it left
	calls  map[string]event // tool call id -> the call
	cause  string           // what the service said when a run failed
	settle runtime.Reason
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
	case typeGate:
		d.gate, d.left = true, l.Active
	case typeEvent:
		return d.event(l.Event)
	case typeResult:
		return d.result(l.result)
	}
	return nil
}

// Piece knows the deltas and the message that grows by them.
func (d *decoder) Piece(raw []byte) bool {
	own, event := runtime.LineType(raw)
	return own == typeEvent && (strings.HasSuffix(event, "_delta") || event == "message_update")
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

func (d *decoder) event(e event) []runtime.Event {
	switch e.Type {
	case "run_start":
		return d.start(e)
	case "message_end":
		return d.message(e)
	case "tool_queued":
		d.out.WorkBegun = true
		d.calls[e.ToolCallID] = e
		return []runtime.Event{{Kind: runtime.EventToolCall, Tool: e.ToolName, Text: clip(string(e.Input))}}
	case "tool_completed", "tool_errored":
		return []runtime.Event{{Kind: runtime.EventToolDone, Tool: e.ToolName, Text: clip(plain(e.Result) + plain(e.Error))}}
	case "tool_denied":
		return d.deny(e.ToolName, d.boundary(e))
	case "tool_hook_blocked":
		return d.deny(e.ToolName, e.HookOutput)
	case "api_retry":
		return retry(e)
	case "run_error":
		d.cause = plain(e.Error)
	}
	return nil
}

// start ends an attempt that is not held to its tools: the program goes on without
// a gate that it could not load.
func (d *decoder) start(e event) []runtime.Event {
	d.out.SessionID = e.SessionID
	events := []runtime.Event{{Kind: runtime.EventSession, SessionID: e.SessionID}}
	if !d.gate {
		d.settle = runtime.ReasonUnknownFlag
		events = append(events, d.fail(d.settle, flagMod+" was ignored: the file that holds the job to its tools was not loaded"))
	}
	return events
}

// retry is a call of the model that is made again, which the program does only
// where the failure may pass.
func retry(e event) []runtime.Event {
	text := plain(e.Error)
	why := classify(text)
	if why == runtime.ReasonCrash {
		why = runtime.ReasonNetwork
	}
	return []runtime.Event{{Kind: runtime.EventRetry, Reason: why, Text: clip(text), RetryAfterMs: e.DelayMs}}
}

func (d *decoder) message(e event) []runtime.Event {
	text := plain(e.Content)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	d.out.WorkBegun = true
	return []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(text)}}
}

// boundary says what was refused, since the program does not: a tool that the gate
// took away, or a use that would have needed an approval.
func (d *decoder) boundary(e event) string {
	input := string(d.calls[e.ToolCallID].Input)
	if slices.Contains(d.left, e.ToolName) {
		return "needs an approval that nobody can give: " + input
	}
	return fmt.Sprintf("not one of the job's tools (%s): %s", strings.Join(d.left, ", "), input)
}

func (d *decoder) deny(tool, boundary string) []runtime.Event {
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	if d.settle == "" {
		d.settle = runtime.ReasonPermission
	}
	return []runtime.Event{{Kind: runtime.EventDenied, Tool: tool, Text: denial.Boundary, Reason: runtime.ReasonPermission}}
}

func (d *decoder) result(r result) []runtime.Event {
	if !d.gate && r.Subtype == "success" && d.settle == "" { // nothing shows what held it
		d.settle = runtime.ReasonUnknownFlag
		return []runtime.Event{d.fail(runtime.ReasonUnknownFlag, "the run ended without a word of the file that limits it")}
	}
	d.out.Completed = true
	if r.SessionID != "" {
		d.out.SessionID = r.SessionID
	}
	var events []runtime.Event
	if d.out.Usage = reported(r.Usage); d.out.Usage != nil {
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
	}
	switch {
	case d.settle == runtime.ReasonUnknownFlag:
		return events
	case r.Subtype == "max_turns":
		return append(events, d.fail(runtime.ReasonTurnCap, "the run reached its number of turns"))
	case r.Subtype != "success":
		return append(events, d.failed(r)...)
	}
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
	d.out.Answer = untrusted.From(r.FinalText)
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: untrusted.From(r.FinalText)},
		runtime.Event{Kind: runtime.EventComplete})
}

// failed takes the program's own text for the class, and what the service said
// beside it as evidence. Standard error may have said the same before.
func (d *decoder) failed(r result) []runtime.Event {
	text := r.ErrorText
	if d.cause != "" && !strings.Contains(text, d.cause) {
		text += " (" + d.cause + ")"
	}
	said := d.out.ErrorFlag && d.out.Evidence == clip(text)
	event := d.fail(classify(r.ErrorText), text)
	if said {
		return nil
	}
	return []runtime.Event{event}
}

// reported is nil where no call of a model came to an end: the program writes zeros
// then.
func reported(u *usage) *runtime.Usage {
	if u == nil || u.Input == nil || u.Output == nil || (*u.Input == 0 && *u.Output == 0) {
		return nil
	}
	return &runtime.Usage{InputTokens: u.Input, OutputTokens: u.Output}
}

func (d *decoder) fail(why runtime.Reason, evidence string) runtime.Event {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}
}

// Stderr is where the program refuses to start.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "Error:") && !d.out.Completed && !d.out.ErrorFlag:
		return []runtime.Event{d.fail(classify(text), text)}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
}
