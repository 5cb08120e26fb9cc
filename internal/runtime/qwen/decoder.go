package qwen

import (
	"encoding/json"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// misformed begins the error of a run whose agent did not give its answer through the
// tool that an answer held to a schema is given by.
const misformed = "Model produced plain text instead of calling the structured_output tool"

// NewDecoder reads the stream of `qwen --output-format=stream-json`. The spec's
// baseline is what a continued session had used before.
func NewDecoder(spec runtime.DecoderSpec) runtime.Decoder {
	return &decoder{spec: spec, tools: map[string]string{}, denied: map[string]bool{}}
}

type decoder struct {
	spec   runtime.DecoderSpec
	out    runtime.Outcome
	tools  map[string]string // tool use id -> tool name
	denied map[string]bool   // tool use ids whose denial is known
	said   string            // last by the agent
	settle runtime.Reason
	inHelp bool // standard error has come to the help text of a refused start
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
	case "system":
		return d.system(l)
	case "assistant":
		return d.assistant(l)
	case "user":
		return d.toolResults(l)
	case "result":
		return d.result(l)
	}
	return nil
}

// Piece knows the pieces of a message. The commands built here do not ask for them.
func (d *decoder) Piece(raw []byte) bool {
	own, event := runtime.LineType(raw)
	return own == "stream_event" && event == "content_block_delta"
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
	d.out.SessionID = l.SessionID
	return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.SessionID, Model: l.Model}}
}

func (d *decoder) assistant(l line) []runtime.Event {
	list := blocks(l.Message.Content)
	if len(list) == 1 && strings.HasPrefix(list[0].Text, apiError) {
		return d.failedCall(list[0].Text)
	}
	events := d.seeModel(l)
	for _, b := range list {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
			d.out.WorkBegun = true
			d.said = b.Text
			events = append(events, runtime.Event{Kind: runtime.EventText, Text: untrusted.From(b.Text)})
		case "tool_use":
			d.out.WorkBegun = true
			d.tools[b.ID] = b.Name
			events = append(events, runtime.Event{Kind: runtime.EventToolCall, Tool: b.Name, Text: clip(string(b.Input))})
		}
	}
	return events
}

// failedCall is the program's own report of a failed model call, in the place of
// an answer. The result line that follows says whether that was the end.
func (d *decoder) failedCall(text string) []runtime.Event {
	return []runtime.Event{{Kind: runtime.EventWarning, Reason: classify(text), Text: clip(text)}}
}

// seeModel notes which model the main agent answers with; subagents may use others.
func (d *decoder) seeModel(l line) []runtime.Event {
	name := l.Message.Model
	if l.Parent != nil || name == "" || name == d.out.ObservedModel {
		return nil
	}
	d.out.ObservedModel = name
	return []runtime.Event{{Kind: runtime.EventModel, Model: name}}
}

func (d *decoder) toolResults(l line) []runtime.Event {
	var events []runtime.Event
	for _, b := range blocks(l.Message.Content) {
		if b.Type != "tool_result" {
			continue
		}
		tool, text := d.tools[b.ToolUseID], plain(b.Content)
		if b.IsError && isRefusal(text) {
			events = append(events, d.deny(b.ToolUseID, tool, text)...)
			continue
		}
		events = append(events, runtime.Event{Kind: runtime.EventToolDone, Tool: tool, Text: clip(text)})
	}
	return events
}

func (d *decoder) deny(id, tool, boundary string) []runtime.Event {
	if d.denied[id] {
		return nil
	}
	d.denied[id] = true
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
	d.out.Completed = true
	if l.SessionID != "" {
		d.out.SessionID = l.SessionID
	}
	var events []runtime.Event
	for _, denial := range l.Denials {
		events = append(events, d.deny(denial.ID, denial.Tool, "refused: "+string(denial.Input))...)
	}
	if d.out.Usage = d.reported(l.Usage); d.out.Usage != nil {
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
	}
	if l.IsError || l.Subtype != "success" {
		text := l.Error.Message
		if text == "" {
			text = strings.TrimSpace(l.Subtype + " " + l.Result)
		}
		if strings.HasPrefix(text, misformed) { // no fault of the runtime: the model did answer
			d.out.Answer = untrusted.From(d.said)
			return append(events, d.fail(runtime.BlockedNoAnswer, text))
		}
		return append(events, d.fail(classify(text), text))
	}
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
	d.out.Answer = untrusted.From(l.answer())
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
		runtime.Event{Kind: runtime.EventComplete})
}

// answer is the one that fits the schema where there was one, else the final text.
func (l line) answer() string {
	if len(l.Structured) > 0 && string(l.Structured) != "null" {
		return string(l.Structured)
	}
	return l.Result
}

// reported is what this run added to the session's count. The program writes
// zeros where no call of a model came to an end, and then nothing is known.
func (d *decoder) reported(u *usage) *runtime.Usage {
	if u == nil || u.Input == nil || u.Output == nil || (*u.Input == 0 && *u.Output == 0) {
		return nil
	}
	return &runtime.Usage{
		InputTokens:  since(*u.Input, d.spec.BaselineInput),
		OutputTokens: since(*u.Output, d.spec.BaselineOut),
	}
}

// since is the part of a cumulative count that this attempt added. A count below
// the baseline belongs to some other session and says nothing.
func since(count, baseline int64) *int64 {
	if count < baseline {
		return nil
	}
	return new(count - baseline)
}

func (d *decoder) fail(why runtime.Reason, evidence string) runtime.Event {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}
}

// Stderr is where the program refuses to start. After a flag that it does not
// know, the whole help follows.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(string(raw))
	if text == "" || d.inHelp || expected(text) {
		return nil
	}
	d.inHelp = strings.HasPrefix(text, unknownArguments)
	if why := startFailure(text); why != "" && !d.out.Completed {
		return []runtime.Event{d.fail(why, text)}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
}
