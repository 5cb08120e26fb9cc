package opencode

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewDecoder reads the stream of `run --format=json`.
func NewDecoder(spec runtime.DecoderSpec) runtime.Decoder {
	return &decoder{name: spec.Runtime}
}

type decoder struct {
	name   string
	out    runtime.Outcome
	settle runtime.Reason
	used   tokens  // over all steps
	cost   float64 // likewise
	asked  int     // refusals that standard error named and the stream has not reported yet
	unsaid int     // the other way round
	helped bool    // the help was printed instead of a reason; the rest of it is no news
}

func (d *decoder) Stdout(raw []byte) []runtime.Event {
	if len(raw) == 0 {
		return nil
	}
	l, ok := parse(raw)
	if !ok {
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(string(raw))}}
	}
	events := d.session(l.SessionID)
	switch l.Type {
	case "step_start": // of a further round: the last one was not the end
		d.out.Completed, d.out.Answer = false, untrusted.Text{}
		return events
	case "text":
		return append(events, d.text(l.Part)...)
	case "tool_use":
		return append(events, d.tool(l.Part)...)
	case "step_finish":
		return append(events, d.finished(l.Part)...)
	case "error":
		return append(events, d.fail(classify(l.Error), l.Error.text(), statedDelay(l.Error)))
	}
	return events
}

func (d *decoder) Settle() (runtime.Reason, bool) {
	return d.settle, d.settle != ""
}

// Outcome leaves ObservedModel empty: the stream does not say which model answered.
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

// session notes the session's id, which every line carries.
func (d *decoder) session(id string) []runtime.Event {
	if id == "" || d.out.SessionID != "" {
		return nil
	}
	d.out.SessionID = id
	return []runtime.Event{{Kind: runtime.EventSession, SessionID: id}}
}

func (d *decoder) text(p part) []runtime.Event {
	if strings.TrimSpace(p.Text) == "" {
		return nil
	}
	d.out.WorkBegun = true
	said := untrusted.From(p.Text)
	switch {
	case d.out.Answer.Empty():
		d.out.Answer = said
	case d.out.Answer.Len() < runtime.SaidLimit:
		d.out.Answer = untrusted.Join([]untrusted.Text{d.out.Answer, said}, "\n")
	}
	return []runtime.Event{{Kind: runtime.EventText, Text: said}}
}

func (d *decoder) tool(p part) []runtime.Event {
	d.out.WorkBegun = true
	target := p.State.target()
	call := runtime.Event{Kind: runtime.EventToolCall, Tool: p.Tool, Text: clip(target)}
	said := p.State.Error
	switch {
	case p.State.Status == "error" && strings.HasPrefix(said, saidRule):
		return append([]runtime.Event{call}, d.deny(p.Tool, target+": "+refusing(said))...)
	case p.State.Status == "error" && strings.HasPrefix(said, saidRejected):
		if d.asked > 0 { // standard error has named the boundary already
			d.out.Denials[len(d.out.Denials)-d.asked].Tool = p.Tool
			d.asked--
			return []runtime.Event{call}
		}
		d.unsaid++
		return append([]runtime.Event{call}, d.deny(p.Tool, target+": "+said)...)
	}
	return []runtime.Event{call, {Kind: runtime.EventToolDone, Tool: p.Tool, Text: clip(p.State.Status + " " + p.State.Output + said)}}
}

func (d *decoder) deny(tool, boundary string) []runtime.Event {
	denial := runtime.Denial{Tool: tool, Boundary: clip(boundary)}
	d.out.Denials = append(d.out.Denials, denial)
	d.out.WorkBegun = true
	if d.settle == "" {
		d.settle = runtime.ReasonPermission
	}
	return []runtime.Event{{Kind: runtime.EventDenied, Tool: tool, Text: denial.Boundary, Reason: runtime.ReasonPermission}}
}

// finished ends a step. Only one that ends of itself is the end of the work; after
// one with tool uses another follows, except after a refusal, when nothing does.
func (d *decoder) finished(p part) []runtime.Event {
	usage := d.count(p)
	switch p.Reason {
	case "stop":
		d.out.Completed = true
		return append(usage,
			runtime.Event{Kind: runtime.EventAnswer, Text: d.out.Answer},
			runtime.Event{Kind: runtime.EventComplete})
	case "tool-calls", "":
		return usage
	}
	return append(usage, d.fail(runtime.ReasonCrash, "the model's answer ended early: "+p.Reason, 0))
}

// count adds a step's usage. A count or price of nothing is what the program also
// gives where the service or its own price list says nothing, so it is unknown.
func (d *decoder) count(p part) []runtime.Event {
	if p.Tokens == nil {
		return nil
	}
	d.used.Input += p.Tokens.Input + p.Tokens.Cache.Read + p.Tokens.Cache.Write
	d.used.Output += p.Tokens.Output + p.Tokens.Reasoning
	if p.Cost != nil {
		d.cost += *p.Cost
	}
	if d.used.Input == 0 && d.used.Output == 0 {
		return nil
	}
	d.out.Usage = &runtime.Usage{InputTokens: new(d.used.Input), OutputTokens: new(d.used.Output)}
	if d.cost > 0 {
		d.out.Usage.CostUSD = new(d.cost)
	}
	return []runtime.Event{{Kind: runtime.EventUsage, Usage: d.out.Usage}}
}

func (d *decoder) fail(why runtime.Reason, evidence string, delay int64) runtime.Event {
	d.out.ErrorFlag, d.out.Reason, d.out.Evidence, d.out.RetryAfterMs = true, why, clip(evidence), delay
	return runtime.Event{Kind: runtime.EventFailed, Reason: why, Text: d.out.Evidence, RetryAfterMs: delay}
}

// Stderr is where the program refuses to start, and where it names what it asked
// nobody for.
func (d *decoder) Stderr(raw []byte) []runtime.Event {
	text := strings.TrimSpace(plain(string(raw)))
	if text == "" || d.helped {
		return nil
	}
	if boundary, ok := refused(text); ok {
		return d.named(boundary)
	}
	text = strings.Join(strings.Fields(text), " ")
	why := startFailure(d.name, text)
	if why == "" || d.out.Completed {
		return []runtime.Event{{Kind: runtime.EventWarning, Text: clip(text)}}
	}
	switch {
	case text == usageLine(d.name):
		d.helped = true
		text = "it printed its help instead of starting: a flag is not known to it"
	case why == runtime.ReasonUnknownFlag: // it goes on as another agent
		d.settle = why
	}
	return []runtime.Event{d.fail(why, text, 0)}
}

// named takes the boundary of a refusal from standard error: "bash (ls /)". The
// stream reports the same refusal without it, before or after.
func (d *decoder) named(boundary string) []runtime.Event {
	permission, _, _ := strings.Cut(boundary, " ")
	if d.unsaid > 0 {
		first := len(d.out.Denials) - d.unsaid
		d.unsaid--
		d.out.Denials[first].Boundary = clip(boundary)
		return []runtime.Event{{Kind: runtime.EventWarning, Tool: d.out.Denials[first].Tool, Text: clip("refused: " + boundary)}}
	}
	d.asked++
	return d.deny(permission, boundary)
}
