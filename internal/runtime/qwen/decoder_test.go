package qwen_test

import (
	"flag"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/runtime/qwen"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	denied := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	cases := map[string]probetest.Want{
		"a-sj":              {Completed: true, Answered: true},
		"b-write-default":   {Completed: true, Answered: true},
		"c-bash-autoedit":   {Completed: true, Answered: true},
		"d-401-sj":          {Completed: true, Failed: true, Reason: runtime.ReasonAuth},
		"e-model":           {Failed: true, Reason: runtime.ReasonUnknownModel},
		"f-schema":          {Completed: true, Answered: true},
		"f-schema-text":     {Completed: true, Failed: true, Answered: true, Reason: runtime.BlockedNoAnswer},
		"f-flag":            {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"g-hang":            {},
		"g-sleepbash":       {Completed: true, Answered: true},
		"h-resume":          {Completed: true, Answered: true},
		"h-resume-bogus":    {Failed: true, Reason: runtime.ReasonSession},
		"h-sid":             {Completed: true, Answered: true},
		"loop-turns":        {Failed: true, Reason: runtime.ReasonTurnCap},
		"loop-wall":         {Failed: true, Reason: runtime.ReasonBudget},
		"noprompt":          {Failed: true, Reason: runtime.ReasonCrash},
		"old-force-write":   denied,
		"r2-force-write-sj": denied,
		"r2-hang-intpg":     {},
		"r2-sleep-termpg":   {},
		"r3-bare":           {Completed: true, Answered: true},
		"unauth":            {Failed: true, Reason: runtime.ReasonAuth},
		"unauth-sj":         {Completed: true, Failed: true, Reason: runtime.ReasonAuth},
	}
	probetest.Recordings(t, qwen.NewDecoder, streams, cases, *update, nil)
}

// The boundary is what the program said, word for word, and is told once though
// the result repeats it.
func TestDenialNamesItsBoundary(t *testing.T) {
	got := probetest.Recorded(t, qwen.NewDecoder(runtime.DecoderSpec{}), streams, "r2-force-write-sj", false)
	const says = `Qwen Code requires permission to use "write_file", but that permission was declined. Matching deny rule: "edit".`
	if d := got.Outcome.Denials; len(d) != 1 || d[0].Tool != "write_file" || d[0].Boundary != untrusted.From(says) {
		t.Errorf("denials %+v", d)
	}
}

// The program counts over the session, so what came before is taken off.
func TestUsageOfAContinuedSession(t *testing.T) {
	spec := runtime.DecoderSpec{BaselineInput: 33, BaselineOut: 21}
	d := qwen.NewDecoder(spec)
	d.Stdout([]byte(`{"type":"result","subtype":"success","result":"x","usage":{"input_tokens":55,"output_tokens":35}}`))
	if u := d.Outcome().Usage; u == nil || *u.InputTokens != 22 || *u.OutputTokens != 14 || u.CostUSD != nil {
		t.Errorf("usage %+v", u)
	}
}

func TestUnreportedUsageIsUnknown(t *testing.T) {
	for _, usage := range []string{`{}`, `{"input_tokens":0,"output_tokens":0}`, `null`} {
		d := qwen.NewDecoder(runtime.DecoderSpec{})
		d.Stdout([]byte(`{"type":"result","subtype":"success","result":"x","usage":` + usage + `}`))
		if got := d.Outcome().Usage; got != nil {
			t.Errorf("usage %+v from %s, want none", got, usage)
		}
	}
}

func TestClassesOfFailedCalls(t *testing.T) {
	cases := map[string]runtime.Reason{
		"[API Error: 401 Incorrect API key provided.]":  runtime.ReasonAuth,
		"[API Error: 403 no]":                           runtime.ReasonAuth,
		"[API Error: 402 pay]":                          runtime.ReasonQuota,
		"[API Error: 404 The model `x` does not exist]": runtime.ReasonUnknownModel,
		"[API Error: 404 not found]":                    runtime.ReasonCrash,
		"[API Error: 429 slow down]":                    runtime.ReasonRateLimit,
		"[API Error: 429 You exceeded your quota]":      runtime.ReasonQuota,
		"[API Error: 500 boom]":                         runtime.ReasonNetwork,
		"[API Error: Connection error.]":                runtime.ReasonNetwork,
		"something else":                                runtime.ReasonCrash,
	}
	for text, want := range cases {
		d := qwen.NewDecoder(runtime.DecoderSpec{})
		d.Stdout([]byte(`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"` + text + `"}}`))
		if out := d.Outcome(); out.Reason != want || out.Evidence != untrusted.From(text) {
			t.Errorf("%s: reason %q, evidence %q", text, out.Reason, out.Evidence)
		}
	}
}

func TestObservedModelIsTheMainAgents(t *testing.T) {
	d := qwen.NewDecoder(runtime.DecoderSpec{})
	for _, line := range []string{
		`{"type":"system","subtype":"init","session_id":"s","model":"asked-for"}`,
		`{"type":"assistant","parent_tool_use_id":null,"message":{"model":"main-1","content":[{"type":"text","text":"x"}]}}`,
		`{"type":"assistant","parent_tool_use_id":"t","message":{"model":"small-2","content":[{"type":"text","text":"x"}]}}`,
		`{"type":"assistant","parent_tool_use_id":null,"message":{"model":"other","content":[{"type":"text","text":"[API Error: 500 x]"}]}}`,
	} {
		d.Stdout([]byte(line))
	}
	if got := d.Outcome().ObservedModel; got != "main-1" {
		t.Errorf("observed %q", got)
	}
}

// A failing tool whose output speaks of permissions is not a refusal.
func TestToolOutputIsNotARefusal(t *testing.T) {
	d := qwen.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,` +
		`"content":"ls: permission declined, was denied by permission rules"}]}}`))
	if out := d.Outcome(); len(out.Denials) != 0 {
		t.Errorf("denials %v", out.Denials)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"content":"x"}}`), []byte("Unknown arguments: x"))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"text":"a"}]}]}}`), []byte("\x1b["))
	f.Add([]byte(`{"type":"result","usage":{},"permission_denials":[{}],"error":7}`), []byte{0xff})
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		d := qwen.NewDecoder(runtime.DecoderSpec{})
		got := probetest.Decode(d, stdout, stderr)
		if got.Outcome.Reason != "" && got.Outcome.Completed && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}

func TestLinesWithPieces(t *testing.T) {
	d := qwen.NewDecoder(runtime.DecoderSpec{}).(runtime.Piecemeal)
	for line, want := range map[string]bool{
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}`: true,
		`{"type":"stream_event","event":{"type":"goal_state"}}`:                                                   false,
		`{"type":"assistant","event":{"type":"content_block_delta"}}`:                                             false,
	} {
		if got := d.Piece([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
