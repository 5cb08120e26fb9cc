package claude

import (
	"encoding/json"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// synthetic is the model name under which the program itself reports an error.
const synthetic = "<synthetic>"

// answerTool is the tool through which an answer that is held to a schema is given.
const answerTool = "StructuredOutput"

// misformed is how a run ends whose tries at the schema all failed.
const misformed = "error_max_structured_output_retries"

// NewDecoder reads the stream of `claude -p --output-format=stream-json`.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder {
	return &decoder{tools: map[string]string{}, denied: map[string]bool{}}
}

type decoder struct {
	out       runtime.Outcome
	initModel string            // as the session line named it
	mainModel string            // as the last message of the main agent named it
	tools     map[string]string // tool use id -> tool name
	denied    map[string]bool   // tool use ids whose denial is known
	lastTry   string            // at an answer that is held to a schema
	settle    runtime.Reason
	limited   int64 // delay of the last rate-limit retry, in ms
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
	out.ObservedModel = d.observedModel()
	if out.Reason == runtime.ReasonRateLimit {
		out.RetryAfterMs = d.limited
	}
	// A denial outranks whatever the refusal led to afterwards.
	if len(out.Denials) > 0 {
		first := out.Denials[0]
		out.Reason, out.Evidence = runtime.ReasonPermission, first.Said()
	}
	return out
}

func (d *decoder) system(l line) []runtime.Event {
	switch l.Subtype {
	case "init":
		d.out.SessionID, d.initModel = l.SessionID, l.Model
		return []runtime.Event{{Kind: runtime.EventSession, SessionID: l.SessionID, Model: l.Model}}
	case "api_retry":
		return d.apiRetry(l)
	}
	return nil
}

// apiRetry notes a retry of the program's own. It repeats a refused sign-in for
// minutes, so the first one settles the attempt.
func (d *decoder) apiRetry(l line) []runtime.Event {
	why := classify(l.ErrorStatus, l.Error, "")
	text := strings.TrimSpace("the model service answered " + statusText(l.ErrorStatus) + " " + l.Error)
	delay := int64(l.RetryDelay)
	switch why {
	case runtime.ReasonAuth:
		d.fail(why, text)
		d.settle = why
	case runtime.ReasonRateLimit:
		d.limited = delay
	}
	return []runtime.Event{{Kind: runtime.EventRetry, Reason: why, Text: clip(text), RetryAfterMs: delay}}
}

func (d *decoder) assistant(l line) []runtime.Event {
	if l.Message.Model == synthetic {
		return d.syntheticMessage(l)
	}
	events := d.seeModel(l)
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
			d.out.WorkBegun = true
			events = append(events, runtime.Event{Kind: runtime.EventText, Text: untrusted.From(b.Text)})
		case "tool_use":
			d.out.WorkBegun = true
			d.tools[b.ID] = b.Name
			if b.Name == answerTool {
				d.lastTry = string(b.Input)
			}
			events = append(events, runtime.Event{Kind: runtime.EventToolCall, Tool: b.Name, Text: clip(string(b.Input))})
		}
	}
	return events
}

// syntheticMessage is the program's own report of an API error, in the place of
// an answer. The result line that follows repeats it with the status.
func (d *decoder) syntheticMessage(l line) []runtime.Event {
	if l.Error == "" {
		return nil
	}
	text := plain(l.Message.Content)
	why := classify(0, l.Error, text)
	d.fail(why, text)
	if why == runtime.ReasonAuth {
		d.settle = why
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Reason: why, Text: d.out.Evidence}}
}

// seeModel notes which model the main agent answers with; subagents may use others.
func (d *decoder) seeModel(l line) []runtime.Event {
	name := l.Message.Model
	if l.Parent != nil || name == "" || name == d.mainModel {
		return nil
	}
	d.mainModel = name
	return []runtime.Event{{Kind: runtime.EventModel, Model: d.observedModel()}}
}

// observedModel prefers the session's spelling, which carries the context variant
// ("name[1m]"), where the messages name the same model without it.
func (d *decoder) observedModel() string {
	base, _, _ := strings.Cut(d.initModel, "[")
	if d.mainModel == base && base != "" {
		return d.initModel
	}
	return d.mainModel
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
	if d.mainModel == "" && len(l.ModelUsage) == 1 {
		for name := range l.ModelUsage {
			d.mainModel = name
		}
	}
	if l.Usage != nil {
		d.out.Usage = l.reportedUsage()
		events = append(events, runtime.Event{Kind: runtime.EventUsage, Usage: d.out.Usage})
	}
	if l.IsError || strings.HasPrefix(l.Subtype, "error") {
		return append(events, d.failedResult(l))
	}
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = false, "", untrusted.Text{}
	d.out.Answer = untrusted.From(l.answer())
	return append(events,
		runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
		runtime.Event{Kind: runtime.EventComplete})
}

// answer is the one that fits the schema where there was one, else the final text: an
// agent that answers in plain words ends in success all the same.
func (l line) answer() string {
	if len(l.Structured) > 0 && string(l.Structured) != "null" {
		return string(l.Structured)
	}
	return l.Result
}

func (d *decoder) failedResult(l line) runtime.Event {
	if l.Subtype == misformed {
		return d.misformedResult(l)
	}
	text := l.Result
	if text == "" {
		text = strings.Join(append([]string{l.Subtype}, l.Errors...), ": ")
	}
	why := classify(l.APIStatus, l.Subtype, text)
	// A retry or the synthetic message before may have said why where the result,
	// after an early end of our own, does not.
	if why == runtime.ReasonCrash && d.out.Reason != "" {
		return runtime.Event{Kind: runtime.EventFailed, Reason: d.out.Reason, Text: d.out.Evidence}
	}
	d.fail(why, text)
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}
}

// misformedResult is no fault of the runtime: the model did answer, in another form
// than the one asked for. What it tried last is kept, to be shown to it.
func (d *decoder) misformedResult(l line) runtime.Event {
	d.fail(runtime.BlockedNoAnswer, strings.Join(append([]string{l.Subtype}, l.Errors...), ": "))
	d.out.Answer = untrusted.From(d.lastTry)
	return runtime.Event{Kind: runtime.EventFailed, Reason: d.out.Reason, Text: d.out.Evidence}
}

// reportedUsage is the sum over the models, which also holds after a call that was
// cut off and asked again, where the plain count is 0. Cached input counts as
// input, since it is sent and billed.
func (l line) reportedUsage() *runtime.Usage {
	u := &runtime.Usage{OutputTokens: l.Usage.Output, CostUSD: l.CostUSD}
	if l.Usage.Input != nil {
		u.InputTokens = new(*l.Usage.Input + l.Usage.CacheCreation + l.Usage.CacheRead)
	}
	if len(l.ModelUsage) == 0 {
		return u
	}
	var input, output int64
	for _, m := range l.ModelUsage {
		input += m.Input + m.CacheRead + m.CacheCreation
		output += m.Output
	}
	u.InputTokens, u.OutputTokens = &input, &output
	return u
}

func (d *decoder) fail(why runtime.Reason, evidence string) {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence = true, why, clip(evidence)
}

// Stderr is where the program refuses to start; while it works it is silent there.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return nil
	}
	if why := startFailure(text); why != "" && !d.out.Completed {
		d.fail(why, text)
		return []runtime.Event{{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence}}
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
}
