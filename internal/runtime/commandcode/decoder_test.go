package commandcode_test

import (
	"flag"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/commandcode"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript. The service
// was a simulated one; in write, shell and agent it called a tool that was not offered.
func TestDecoderOnRecordedStreams(t *testing.T) {
	denied := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	cases := map[string]probetest.Want{
		"text":             {Completed: true, Answered: true},
		"read":             {Completed: true, Answered: true},
		"resumed":          {Completed: true, Answered: true},
		"undeclared-model": {Completed: true, Answered: true},
		"write":            denied,
		"shell":            denied,
		"agent":            denied,
		"outside":          {Completed: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"no-gate":          {Completed: true, Failed: true, Reason: runtime.ReasonUnknownFlag, Settled: runtime.ReasonUnknownFlag},
		"401":              {Completed: true, Failed: true, Reason: runtime.ReasonAuth},
		"402":              {Completed: true, Failed: true, Reason: runtime.ReasonQuota},
		"404":              {Completed: true, Failed: true, Reason: runtime.ReasonUnknownModel},
		"429":              {Completed: true, Failed: true, Reason: runtime.ReasonRateLimit},
		"500":              {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
		"cut":              {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
		"unreachable":      {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
		"signed-out":       {Completed: true, Failed: true, Reason: runtime.ReasonAuth},
		"unknown-model":    {Failed: true, Reason: runtime.ReasonUnknownModel},
		"resume-bogus":     {Completed: true, Failed: true, Reason: runtime.ReasonSession},
		"no-prompt":        {Completed: true, Failed: true, Reason: runtime.ReasonCrash},
		"turns":            {Completed: true, Failed: true, Reason: runtime.ReasonTurnCap},
		"hang":             {},
	}
	probetest.Recordings(t, commandcode.NewDecoder, streams, cases, *update, func(t *testing.T, got probetest.Transcript) {
		if got.Outcome.ObservedModel != "" {
			t.Errorf("observed model %q: the stream names only the one asked for", got.Outcome.ObservedModel)
		}
	})
}

// A boundary names the tool and what it was to do.
func TestDenialNamesItsBoundary(t *testing.T) {
	for name, says := range map[string]string{
		"write":   `not one of the job's tools (read_file, read_directory, glob, grep): {"content":"x"`,
		"outside": `needs an approval that nobody can give: {"file_path":"/elsewhere/b.txt"}`,
	} {
		got := probetest.Recorded(t, commandcode.NewDecoder(runtime.DecoderSpec{}), streams, name, false)
		if d := got.Outcome.Denials; len(d) != 1 || !strings.HasPrefix(d[0].Boundary.Unshown(), says) {
			t.Errorf("%s: denials %+v", name, d)
		}
	}
}

// What the gate refused itself, a tool that came after it, is told in its words.
func TestToolThatComesAfterTheGate(t *testing.T) {
	d := commandcode.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"gate","active":["read_file"]}`))
	d.Stdout([]byte(`{"type":"event","event":{"type":"run_start","sessionId":"s"}}`))
	d.Stdout([]byte(`{"type":"event","event":{"type":"tool_hook_blocked","toolName":"mcp__x__y","hookOutput":"This job may not use the tool mcp__x__y."}}`))
	out := d.Outcome()
	if out.Reason != runtime.ReasonPermission || out.Denials[0].Boundary != untrusted.From("This job may not use the tool mcp__x__y.") {
		t.Errorf("outcome %+v", out)
	}
}

func TestLimitsOfAnAccount(t *testing.T) {
	for text, want := range map[string]runtime.Reason{
		"Error: You have insufficient credits to make this request.":      runtime.ReasonQuota,
		"Error: You've reached your weekly usage limit. Resets in 2h 3m.": runtime.ReasonQuota,
		"Error: Model not in plan: x":                                     runtime.ReasonUnknownModel,
		"Error: 503 overloaded":                                           runtime.ReasonNetwork,
		"Error: 418 teapot":                                               runtime.ReasonCrash,
		"Error: 429 slow down":                                            runtime.ReasonRateLimit,
		"Error: 401 no":                                                   runtime.ReasonAuth,
	} {
		d := commandcode.NewDecoder(runtime.DecoderSpec{})
		d.Stderr([]byte(text))
		if got := d.Outcome(); got.Reason != want || !got.ErrorFlag || got.Evidence != untrusted.From(text) {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

// Lines that mean nothing to the decoder do no harm.
func TestLinesThatAreNotUnderstood(t *testing.T) {
	d := commandcode.NewDecoder(runtime.DecoderSpec{})
	for _, raw := range []string{"", `{"type":"event","event":{"type":"new_thing"}}`, `{"type":"other"}`, `[]`, `{"type":"result","subtype":7}`} {
		for _, e := range d.Stdout([]byte(raw)) {
			if e.Kind == runtime.EventAnswer || e.Kind == runtime.EventDenied {
				t.Errorf("%s gave %+v", raw, e)
			}
		}
	}
	if e := d.Stdout([]byte("not JSON")); len(e) != 1 || e[0].Kind != runtime.EventWarning {
		t.Errorf("plain text gave %+v", e)
	}
}

// A provider of one's own without a key is a sign-in that is missing.
func TestProviderWithoutKey(t *testing.T) {
	d := commandcode.NewDecoder(runtime.DecoderSpec{})
	d.Stderr([]byte(`Error: Provider "mine" has no API key. Add one with /connect.`))
	if got := d.Outcome(); got.Reason != runtime.ReasonAuth {
		t.Errorf("reason %q, evidence %q", got.Reason, got.Evidence)
	}
}
