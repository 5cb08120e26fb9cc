package output

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/untrusted"
)

// Names of the decoders in a DecoderSpec.
const (
	TextName     = "text"
	LastLineName = "json-last-line"
)

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

// NewText reads a program whose standard output is its answer and whose exit status
// says whether it completed.
func NewText(runtime.DecoderSpec) runtime.Decoder { return &text{} }

// text keeps the last thing that was said on standard error, for the case that the
// exit status is not 0.
type text struct {
	out  runtime.Outcome
	last untrusted.Text
}

func (d *text) Stdout(line []byte) []runtime.Event {
	if strings.TrimSpace(string(line)) != "" {
		d.out.WorkBegun = true
	}
	return nil
}

func (d *text) Stderr(line []byte) []runtime.Event { return said(line, &d.last, &d.out) }

func (d *text) Settle() (runtime.Reason, bool) { return "", false }

// Outcome calls the attempt completed: whether it is, the exit status decides. The
// reason counts only where that is not 0.
func (d *text) Outcome() runtime.Outcome {
	out := d.out
	out.Completed = true
	if out.Reason == "" && !d.last.Empty() {
		out.Reason, out.Evidence = runtime.ReasonCrash, d.last
	}
	return out
}

// said takes a line of standard error. The last line that tells a class of failure is
// kept as the reason.
func said(line []byte, last *untrusted.Text, out *runtime.Outcome) []runtime.Event {
	text := strings.TrimSpace(string(line))
	if text == "" {
		return nil
	}
	*last = clip(text)
	if why := classify(text); why != "" {
		out.Reason, out.Evidence, out.RetryAfterMs = why, clip(text), acp.StatedDelay(text)
	}
	return []runtime.Event{{Kind: runtime.EventWarning, Text: *last}}
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
