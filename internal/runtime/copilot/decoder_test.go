package copilot_test

import (
	"flag"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	denied := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	cases := map[string]probetest.Want{
		"a-json":               {Completed: true, Answered: true},
		"agent":                {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"b-write-default-json": denied,
		"badtoken":             {Failed: true, Reason: runtime.ReasonAuth},
		"d-401-json":           {Completed: true, Failed: true, Reason: runtime.ReasonAuth},
		"edit":                 {Completed: true, Answered: true},
		"edit-outside":         denied,
		"f-flag":               {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"g-hang":               {},
		"h-resume-bogus":       {Failed: true, Reason: runtime.ReasonSession},
		"model":                {Completed: true, Failed: true, Reason: runtime.ReasonUnknownModel},
		"noprompt":             {Failed: true, Reason: runtime.ReasonCrash},
		"r2-hang-termpg":       {},
		"read-only":            {Completed: true, Answered: true},
		"resumed":              {Completed: true, Answered: true},
		"shell":                {Completed: true, Answered: true},
		"unauth-json":          {Failed: true, Reason: runtime.ReasonAuth},
		"unknown-flag":         {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"unreachable":          {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
	}
	probetest.Recordings(t, copilot.NewDecoder, streams, cases, *update, func(t *testing.T, got probetest.Transcript) {
		if got.Outcome.Completed != (got.Outcome.SessionID != "") {
			t.Errorf("completed %t with session %q", got.Outcome.Completed, got.Outcome.SessionID)
		}
		if got.Outcome.Usage != nil {
			t.Errorf("usage %+v, and the stream counts no tokens", got.Outcome.Usage)
		}
	})
}

// The boundary is what the program said.
func TestDenialNamesItsBoundary(t *testing.T) {
	got := probetest.Recorded(t, copilot.NewDecoder(runtime.DecoderSpec{}), streams, "edit-outside", false)
	if d := got.Outcome.Denials; len(d) != 1 || d[0].Tool != "create" || !strings.HasPrefix(d[0].Boundary.Unshown(), "Permission denied because no interactive user response") {
		t.Errorf("denials %+v", d)
	}
}

func TestClassesOfErrors(t *testing.T) {
	cases := []struct {
		fields string
		want   runtime.Reason
	}{
		{`"errorType":"authentication","message":"no","statusCode":401`, runtime.ReasonAuth},
		{`"errorType":"authentication","message":"no"`, runtime.ReasonAuth},
		{`"errorType":"query","message":"no","statusCode":402`, runtime.ReasonQuota},
		{`"errorType":"query","message":"You have exceeded your premium request allowance","statusCode":429`, runtime.ReasonQuota},
		{`"errorType":"query","message":"slow down","statusCode":429`, runtime.ReasonRateLimit},
		{`"errorType":"query","message":"Model 'x' not found on provider","statusCode":404`, runtime.ReasonUnknownModel},
		{`"errorType":"query","message":"not there","statusCode":404`, runtime.ReasonCrash},
		{`"errorType":"query","message":"boom","statusCode":503`, runtime.ReasonNetwork},
		{`"errorType":"query","message":"retried 5 times Last error: 500 boom"`, runtime.ReasonNetwork},
		{`"errorType":"query","message":"else"`, runtime.ReasonCrash},
	}
	for _, c := range cases {
		d := copilot.NewDecoder(runtime.DecoderSpec{})
		d.Stdout([]byte(`{"type":"session.error","data":{` + c.fields + `}}`))
		d.Stdout([]byte(`{"type":"result","sessionId":"s","exitCode":1}`))
		if out := d.Outcome(); out.Reason != c.want || out.Evidence.Empty() || !out.ErrorFlag {
			t.Errorf("%s: %+v", c.fields, out)
		}
	}
}

func TestAFailureWithoutItsReasonIsACrash(t *testing.T) {
	d := copilot.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"result","sessionId":"s","exitCode":3}`))
	if out := d.Outcome(); out.Reason != runtime.ReasonCrash || !strings.Contains(out.Evidence.Unshown(), "exitCode 3") {
		t.Errorf("%+v", out)
	}
}

// A subagent gives neither the answer nor the model that answered.
func TestMainAgentAnswers(t *testing.T) {
	d := copilot.NewDecoder(runtime.DecoderSpec{})
	for _, line := range []string{
		`{"type":"assistant.message","data":{"model":"main-1","content":"mine"}}`,
		`{"type":"assistant.message","data":{"model":"small-2","content":"other","parentToolCallId":"t"}}`,
		`{"type":"result","sessionId":"s","exitCode":0}`,
	} {
		d.Stdout([]byte(line))
	}
	if out := d.Outcome(); out.Answer != untrusted.From("mine") || out.ObservedModel != "main-1" || !out.WorkBegun {
		t.Errorf("%+v", out)
	}
}

// A failing tool whose output speaks of permissions is not a refusal.
func TestToolOutputIsNotARefusal(t *testing.T) {
	d := copilot.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"tool.execution_complete","data":{"success":false,"error":{"code":"failure","message":"sh: Permission denied because x"}}}`))
	d.Stdout([]byte(`{"type":"tool.execution_complete","data":{"success":true,"result":{"content":"Permission denied because x"}}}`))
	if out := d.Outcome(); len(out.Denials) != 0 {
		t.Errorf("denials %v", out.Denials)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"assistant.message","data":{"content":"x"}}`), []byte("error: unexpected argument"))
	f.Add([]byte(`{"type":"tool.execution_complete","data":{"error":{"code":"denied"}}}`), []byte("\x1b["))
	f.Add([]byte(`{"type":"result","data":7,"exitCode":1}`), []byte{0xff})
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		d := copilot.NewDecoder(runtime.DecoderSpec{})
		got := probetest.Decode(d, stdout, stderr)
		if got.Outcome.Reason != "" && got.Outcome.Completed && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}

func TestLinesWithPieces(t *testing.T) {
	d := copilot.NewDecoder(runtime.DecoderSpec{}).(runtime.Piecemeal)
	for line, want := range map[string]bool{
		`{"type":"assistant.message_delta","data":{"deltaContent":"a"}}`:            true,
		`{"type":"assistant.reasoning_delta","data":{"deltaContent":"a"}}`:          true,
		`{"type":"assistant.tool_call_delta","data":{"inputDelta":"a"}}`:            true,
		`{"type":"tool.execution_partial_result","data":{"partialOutput":"a"}}`:     true,
		`{"type":"tool.shell_output","data":{"text":"a"}}`:                          true,
		`{"type":"tool.execution_complete","data":{"result":{"content":"a"}}}`:      false,
		`{"type":"assistant.message","data":{"content":"assistant.message_delta"}}`: false,
	} {
		if got := d.Piece([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
