package pi_test

import (
	"flag"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/pi"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	good := probetest.Want{Completed: true, Answered: true}
	refused := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	failed := func(why runtime.Reason) probetest.Want {
		return probetest.Want{Completed: true, Failed: true, Reason: why}
	}
	start := func(why runtime.Reason) probetest.Want { return probetest.Want{Failed: true, Reason: why} }
	cases := map[string]probetest.Want{
		"plain": good, "write": good, "read": good, "write-outside": good, "shell-fails": good, "e500-once": good,
		"other-model": good, "unknown-model-passed-on": good, "unknown-level": good, "resume": good, "cost": good,
		"refused-write": refused, "refused-shell": refused, "refused-edit": refused, "refused-script": refused,
		"e401": failed(runtime.ReasonAuth), "e401-anthropic": failed(runtime.ReasonAuth),
		"e401-gemini": failed(runtime.ReasonAuth), "e401-responses": failed(runtime.ReasonAuth),
		"e402": failed(runtime.ReasonQuota), "e403": failed(runtime.ReasonAuth),
		"e404": failed(runtime.ReasonUnknownModel), "e404-gemini": failed(runtime.ReasonUnknownModel),
		"e429": failed(runtime.ReasonRateLimit), "e429-gemini": failed(runtime.ReasonRateLimit),
		"quota": failed(runtime.ReasonQuota), "quota-anthropic": failed(runtime.ReasonQuota),
		"e500": failed(runtime.ReasonNetwork), "cut": failed(runtime.ReasonNetwork), "dead-network": failed(runtime.ReasonNetwork),
		"unknown-model": start(runtime.ReasonUnknownModel), "unknown-provider": start(runtime.ReasonUnknownModel),
		"unknown-flag": start(runtime.ReasonUnknownFlag), "signed-out": start(runtime.ReasonAuth),
		"unknown-session": start(runtime.ReasonSession), "session-of-another-folder": start(runtime.ReasonSession),
		"empty-prompt": {}, "term-while-waiting": {}, "term-while-tool-runs": {},
	}
	probetest.Recordings(t, pi.NewDecoder, streams, cases, *update, nil)
}

func recorded(t *testing.T, name string) runtime.Outcome {
	t.Helper()
	return probetest.Recorded(t, pi.NewDecoder(runtime.DecoderSpec{}), streams, name, false).Outcome
}

// The boundary is what the program said, word for word.
func TestDenialNamesItsBoundary(t *testing.T) {
	if d := recorded(t, "refused-write").Denials; len(d) != 1 || d[0].Tool != "write" || d[0].Boundary != untrusted.From("Tool write not found") {
		t.Errorf("denials %+v", d)
	}
}

// The model that answered is another than the one asked for, and is named the way a
// pin names one.
func TestObservedModelIsTheOneThatAnswered(t *testing.T) {
	if got := recorded(t, "other-model").ObservedModel; got != "fake/other-model" {
		t.Errorf("observed %q", got)
	}
	if got := recorded(t, "plain").ObservedModel; got != "fake/fake-1" {
		t.Errorf("observed %q", got)
	}
}

func TestUsageIsTheSumOfAllAnswers(t *testing.T) {
	if u := recorded(t, "write").Usage; u == nil || *u.InputTokens != 200 || *u.OutputTokens != 10 || u.CostUSD != nil {
		t.Errorf("usage %+v of two answers without a price", u)
	}
	if u := recorded(t, "cost").Usage; u == nil || u.CostUSD == nil || *u.CostUSD < 0.0001 || *u.CostUSD > 0.00012 {
		t.Errorf("usage %+v of an answer with a price", u)
	}
	if u := recorded(t, "e401").Usage; u != nil {
		t.Errorf("usage %+v where nothing was told", u)
	}
	d := pi.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"message_end","message":{"role":"assistant","usage":{"input":1,"output":4,"cacheRead":20,"cacheWrite":300}}}`))
	if u := d.Outcome().Usage; u == nil || *u.InputTokens != 321 || *u.OutputTokens != 4 {
		t.Errorf("usage %+v, want cached input to count", u)
	}
}

// A reply that was cut at the model's limit is not an answer, nor is a run that
// was broken off.
func TestEndsThatAreNoSuccess(t *testing.T) {
	for name, lines := range map[string][2]string{
		"cut at the limit": {`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"length"}}`, `{"type":"agent_settled"}`},
		"broken off":       {`{"type":"message_end","message":{"role":"assistant","stopReason":"stop"}}`, `{"type":"agent_settled","aborted":true}`},
		"no answer at all": {`{"type":"turn_start"}`, `{"type":"agent_settled","aborted":false}`},
	} {
		d := pi.NewDecoder(runtime.DecoderSpec{})
		d.Stdout([]byte(lines[0]))
		d.Stdout([]byte(lines[1]))
		if out := d.Outcome(); !out.Completed || !out.ErrorFlag || out.Reason != runtime.ReasonCrash || !out.Answer.Empty() {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// A model that invents a tool, and a tool whose output reads like a refusal, are
// not refused anything.
func TestWhatIsNotARefusal(t *testing.T) {
	for name, line := range map[string]string{
		"an invented tool":     `{"type":"tool_execution_end","toolName":"search","result":{"content":[{"type":"text","text":"Tool search not found"}]},"isError":true}`,
		"the output of a tool": `{"type":"tool_execution_end","toolName":"bash","result":{"content":[{"type":"text","text":"Tool write not found"}]},"isError":true}`,
		"no error":             `{"type":"tool_execution_end","toolName":"write","result":{"content":[{"type":"text","text":"Tool write not found"}]},"isError":false}`,
	} {
		d := pi.NewDecoder(runtime.DecoderSpec{})
		d.Stdout([]byte(line))
		if out := d.Outcome(); len(out.Denials) != 0 || out.Reason != "" {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"message_end","message":{"role":"assistant","content":"x"}}`), []byte("Error: x"))
	f.Add([]byte(`{"type":"tool_execution_end","toolName":"write","isError":true,"result":7}`), []byte("\x1b["))
	f.Add([]byte(`{"type":"agent_settled"}`), []byte{0xff})
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		got := probetest.Decode(pi.NewDecoder(runtime.DecoderSpec{}), stdout, stderr)
		if got.Outcome.Reason != "" && got.Outcome.Completed && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}
