package output_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/custom/output"
	"orchestrate/internal/untrusted"
)

func feed(d runtime.Decoder, stdout, stderr string) (runtime.Outcome, []runtime.EventKind) {
	var kinds []runtime.EventKind
	note := func(events []runtime.Event) {
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
	}
	for line := range strings.Lines(stdout) {
		note(d.Stdout([]byte(strings.TrimSuffix(line, "\n"))))
	}
	for line := range strings.Lines(stderr) {
		note(d.Stderr([]byte(strings.TrimSuffix(line, "\n"))))
	}
	return d.Outcome(), kinds
}

func TestTextIsCompletedByItsExitStatus(t *testing.T) {
	for name, c := range map[string]struct {
		stdout, stderr string
		want           runtime.Outcome
	}{
		"silent":      {"", "", runtime.Outcome{Completed: true}},
		"an answer":   {"yes\n", "", runtime.Outcome{Completed: true, WorkBegun: true}},
		"a complaint": {"", "something broke\n\n", runtime.Outcome{Completed: true, Reason: runtime.ReasonCrash, Evidence: untrusted.From("something broke")}},
		"a class": {"", "ERROR\n  unauthorized: Incorrect API key provided: x.\n\nsee the log\n", runtime.Outcome{
			Completed: true, Reason: runtime.ReasonAuth, Evidence: untrusted.From("unauthorized: Incorrect API key provided: x."),
		}},
	} {
		got, _ := feed(output.NewText(runtime.DecoderSpec{}), c.stdout, c.stderr)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// cline prints many lines and then says how it went.
var form = runtime.Form{
	Completion: "finishReason=completed", Answer: "text", Session: "taskId", Model: "model.id",
	InputTokens: "usage.inputTokens", OutputTokens: "usage.outputTokens", CostUSD: "usage.totalCost",
	Error: "message", Refused: "event.output.error", RefusedText: "requires approval", RefusedTool: "event.toolName",
}

const (
	began    = `{"type":"hook_event","taskId":"conv_1"}` + "\n"
	finished = `{"type":"run_result","finishReason":"completed","usage":{"inputTokens":11,"outputTokens":7},"text":"hi","model":{"id":"m-1"}}` + "\n"
	broken   = `{"type":"run_result","finishReason":"error","usage":{"inputTokens":0,"outputTokens":0},"text":""}` + "\n"
	refused  = `{"event":{"type":"content_end","toolName":"run","output":{"error":"Tool \"run\" requires approval in a TTY session"}}}` + "\n"
)

func TestLastLine(t *testing.T) {
	seven, eleven := int64(7), int64(11)
	usage := &runtime.Usage{InputTokens: &eleven, OutputTokens: &seven}
	for name, c := range map[string]struct {
		stdout, stderr string
		want           runtime.Outcome
		kinds          []runtime.EventKind
	}{
		"nothing": {"", "", runtime.Outcome{}, nil},
		"completed": {
			began + finished, "",
			runtime.Outcome{
				Completed: true, Answer: untrusted.From("hi"), SessionID: "conv_1", ObservedModel: "m-1", Usage: usage, WorkBegun: true,
			},
			[]runtime.EventKind{runtime.EventSession, runtime.EventModel, runtime.EventUsage, runtime.EventAnswer, runtime.EventComplete},
		},
		"the error that it reports": {
			began + broken, "Incorrect API key provided: x\n",
			runtime.Outcome{
				SessionID: "conv_1", Reason: runtime.ReasonAuth, Evidence: untrusted.From("Incorrect API key provided: x"), WorkBegun: true,
			},
			[]runtime.EventKind{runtime.EventSession, runtime.EventWarning},
		},
		"the message of an error": {
			broken + `{"type":"error","message":"Incorrect API key provided."}` + "\n", "",
			runtime.Outcome{Reason: runtime.ReasonAuth, Evidence: untrusted.From("Incorrect API key provided."), WorkBegun: true},
			nil,
		},
		"something after the result": {finished + "bye\n", "", runtime.Outcome{Evidence: untrusted.From("bye"), WorkBegun: true}, []runtime.EventKind{
			runtime.EventModel, runtime.EventUsage, runtime.EventAnswer, runtime.EventComplete, runtime.EventText,
		}},
		"a refused tool": {
			refused + finished, "",
			runtime.Outcome{
				Completed: true, Answer: untrusted.From("hi"), ObservedModel: "m-1", Usage: usage, WorkBegun: true, Reason: runtime.ReasonPermission,
				Evidence: untrusted.From(`run: Tool "run" requires approval in a TTY session`),
				Denials:  []runtime.Denial{{Tool: "run", Boundary: untrusted.From(`Tool "run" requires approval in a TTY session`)}},
			},
			[]runtime.EventKind{runtime.EventDenied, runtime.EventModel, runtime.EventUsage, runtime.EventAnswer, runtime.EventComplete},
		},
	} {
		d := output.NewLastLine(runtime.DecoderSpec{Custom: &form})
		got, kinds := feed(d, c.stdout, c.stderr)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !slices.Equal(kinds, c.kinds) {
			t.Errorf("%s: events %q, want %q", name, kinds, c.kinds)
		}
		if why, ok := d.Settle(); ok != (len(got.Denials) > 0) || (ok && why != runtime.ReasonPermission) {
			t.Errorf("%s: settles as %q, %v", name, why, ok)
		}
	}
}

func TestLastLineCompletedByItsExitStatus(t *testing.T) {
	form := runtime.Form{Answer: "result.0.text"}
	for stdout, want := range map[string]runtime.Outcome{
		`{"result":[{"text":"hi"}]}`:        {Completed: true, Answer: untrusted.From("hi"), WorkBegun: true, Evidence: untrusted.From(`{"result":[{"text":"hi"}]}`)},
		`{"result":[{"text":null}]}`:        {WorkBegun: true, Evidence: untrusted.From(`{"result":[{"text":null}]}`)},
		`{"result":[{"text":{"a":1}}]}`:     {Completed: true, Answer: untrusted.From(`{"a":1}`), WorkBegun: true, Evidence: untrusted.From(`{"result":[{"text":{"a":1}}]}`)},
		`{"error":"429 too many requests"}`: {Reason: runtime.ReasonRateLimit, WorkBegun: true, Evidence: untrusted.From(`{"error":"429 too many requests"}`)},
		"plain":                             {WorkBegun: true, Evidence: untrusted.From("plain")},
	} {
		got, _ := feed(output.NewLastLine(runtime.DecoderSpec{Custom: &form}), stdout, "")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", stdout, diff)
		}
	}
}

// Whatever a program prints, a decoder takes it; without the completion that was
// described nothing is called complete, and unreported usage stays unknown.
func TestAnyOutputIsTaken(t *testing.T) {
	line := rapid.OneOf(rapid.SampledFrom([]string{began, finished, broken, refused, "{", "{}", "[1]", `{"usage":{"inputTokens":"x"}}`, "null", "\xff\xfe"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		d := output.NewLastLine(runtime.DecoderSpec{Custom: &form})
		lines := rapid.SliceOf(line).Draw(t, "lines")
		last := ""
		for _, l := range lines {
			d.Stdout([]byte(l))
			d.Stderr([]byte(l))
			if strings.TrimSpace(l) != "" {
				last = strings.TrimSpace(l)
			}
		}
		got := d.Outcome()
		if got.Completed != (last == strings.TrimSpace(finished)) {
			var v struct{ FinishReason string }
			if json.Unmarshal([]byte(last), &v) != nil || v.FinishReason != "completed" {
				t.Fatalf("completed is %v after %q", got.Completed, last)
			}
		}
		if !got.Completed && got.Usage != nil {
			t.Fatalf("usage %+v without a completion", got.Usage)
		}
	})
}

func TestTextsOfAList(t *testing.T) {
	for _, c := range []struct {
		data, path, key string
		want            []string
		ok              bool
	}{
		{`["a","b",3,""]`, ".", "", []string{"a", "b"}, true},
		{`{"data":[{"id":"a"},{"x":1}]}`, "data", "id", []string{"a"}, true},
		{`{"data":{}}`, "data", "", nil, false},
		{`{}`, "data", "", nil, false},
		{`no`, ".", "", nil, false},
	} {
		got, ok := output.Texts([]byte(c.data), c.path, c.key)
		if !slices.Equal(got, c.want) || ok != c.ok {
			t.Errorf("%s at %q: %q, %v", c.data, c.path, got, ok)
		}
	}
}

func TestLinesWithPieces(t *testing.T) {
	d := output.NewLastLine(runtime.DecoderSpec{Custom: &form}).(runtime.Piecemeal)
	for line, want := range map[string]bool{
		`{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"a","accumulated":"a"}}`: true,
		`{"type":"event","event":{"type":"text_delta","text":"a"}}`:                                                 true,
		`{"type":"message","content":"a","delta":true}`:                                                             true,
		`{"params":{"update":{"sessionUpdate":"x","contentType":"message_chunk"}}}`:                                 true,
		`{"type":"message_update","content":[]}`:                                                                    true,
		`{"type":"message","content":"a","delta":false,"partial":null}`:                                             false,
		`{"type":"agent_event","event":{"type":"content_end","text":"about a delta"}}`:                              false,
		`{"type":"run_result","finishReason":"completed","text":"a","delta":"b"}`:                                   false,
		`["delta"]`: false,
		`delta`:     false,
	} {
		if got := d.Piece([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
