package codex_test

import (
	"flag"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	done := probetest.Want{Completed: true, Answered: true}
	refused := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	failed := func(why runtime.Reason) probetest.Want {
		return probetest.Want{Completed: true, Failed: true, Reason: why}
	}
	cases := map[string]probetest.Want{
		"a-text":           done,
		"b-write":          done,
		"b-shell":          done,
		"c-outside":        done,
		"c-shell-ro":       done, // a write that the kernel refused is the shell's affair
		"c-escalate":       refused,
		"c-approveforme":   refused,
		"c-write-readonly": refused,
		"f-notmp-outside":  refused,
		"e-401":            {Completed: true, Failed: true, Reason: runtime.ReasonAuth, Settled: runtime.ReasonAuth},
		"e-404model":       failed(runtime.ReasonUnknownModel),
		"e-429":            failed(runtime.ReasonRateLimit),
		"e-429-defretry":   failed(runtime.ReasonRateLimit),
		"e-500":            failed(runtime.ReasonNetwork),
		"e-529":            failed(runtime.ReasonNetwork),
		"e-failed":         failed(runtime.ReasonRateLimit),
		"e-midcut":         failed(runtime.ReasonNetwork),
		"e-noauth":         failed(runtime.ReasonAuth),
		"e-noauth-default": {}, // waits for the network for ever
		"e-refused":        {},
		"e-nogit":          {Failed: true, Reason: runtime.ReasonCrash},
		"e-unknownflag":    {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"e-badsandbox":     {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"e-unkmodel-ok":    done,
		"i-resume":         done,
		"i-resume-bad":     {Failed: true, Reason: runtime.ReasonSession},
		"i-resume-model":   done,
		"h-hang":           {},
		"h-shellsleep":     {},
	}
	probetest.Recordings(t, codex.NewDecoder, streams, cases, *update, func(t *testing.T, got probetest.Transcript) {
		if m := got.Outcome.ObservedModel; m != "" {
			t.Errorf("codex does not say which model answered, yet %q was observed", m)
		}
	})
}

func TestFirstAuthenticationFailureSettles(t *testing.T) {
	got := probetest.Decode(codex.NewDecoder(runtime.DecoderSpec{}),
		[]byte(`{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: no, url: x)"}`), nil)
	if got.Settled != runtime.ReasonAuth || !got.Outcome.ErrorFlag || got.Outcome.Reason != runtime.ReasonAuth {
		t.Errorf("settled %q, outcome %+v", got.Settled, got.Outcome)
	}
}

func TestWaitingForTheNetworkIsSaidAndDoesNotSettle(t *testing.T) {
	got := probetest.Recorded(t, codex.NewDecoder(runtime.DecoderSpec{}), streams, "e-refused", false)
	last := got.Events[len(got.Events)-1]
	if got.Settled != "" || last.Kind != runtime.EventRetry || last.Reason != runtime.ReasonNetwork {
		t.Errorf("settled %q, last event %+v", got.Settled, last)
	}
}

// Usage is counted over the whole thread; an attempt reports its own part.
func TestUsageOfAContinuedThread(t *testing.T) {
	spec := runtime.DecoderSpec{BaselineInput: 100, BaselineOut: 5}
	got := probetest.Recorded(t, codex.NewDecoder(runtime.DecoderSpec{}), streams, "i-resume", false)
	if u := got.Outcome.Usage; *u.InputTokens != 200 || *u.OutputTokens != 10 {
		t.Errorf("without a baseline: %d in, %d out", *u.InputTokens, *u.OutputTokens)
	}
	line := []byte(`{"type":"turn.completed","usage":{"input_tokens":200,"output_tokens":10}}`)
	u := probetest.Decode(codex.NewDecoder(spec), line, nil).Outcome.Usage
	if *u.InputTokens != 100 || *u.OutputTokens != 5 || u.CostUSD != nil {
		t.Errorf("with a baseline: %d in, %d out, cost %v", *u.InputTokens, *u.OutputTokens, u.CostUSD)
	}
	spec.BaselineInput = 1000
	if u := probetest.Decode(codex.NewDecoder(spec), line, nil).Outcome.Usage; u.InputTokens != nil {
		t.Errorf("a count below the baseline gave %d, want unknown", *u.InputTokens)
	}
}

func TestDenialNamesTheBoundary(t *testing.T) {
	got := probetest.Recorded(t, codex.NewDecoder(runtime.DecoderSpec{}), streams, "c-write-readonly", false)
	want := "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings"
	if d := got.Outcome.Denials; len(d) != 1 || d[0].Boundary != untrusted.From(want) {
		t.Errorf("denials %+v", d)
	}
}

func TestClasses(t *testing.T) {
	cases := map[string]runtime.Reason{
		"You've hit your usage limit. Try again later.":                            runtime.ReasonQuota,
		"exceeded retry limit, last status: 429 Too Many Requests":                 runtime.ReasonRateLimit,
		"unexpected status 429 Too Many Requests: You exceeded your current quota": runtime.ReasonQuota,
		"unexpected status 403 Forbidden: no":                                      runtime.ReasonAuth,
		"The 'x' model is not supported when using this account.":                  runtime.ReasonUnknownModel,
		"unexpected status 400 Bad Request: no":                                    runtime.ReasonCrash,
		"stream disconnected before completion: error sending request for url (x)": runtime.ReasonNetwork,
		"something never seen":                                                     runtime.ReasonCrash,
	}
	for message, want := range cases {
		line := []byte(`{"type":"turn.failed","error":{"message":"` + message + `"}}`)
		if got := probetest.Decode(codex.NewDecoder(runtime.DecoderSpec{}), line, nil).Outcome.Reason; got != want {
			t.Errorf("%q is %q, want %q", message, got, want)
		}
	}
}

func TestStatedRetryTimeIsKept(t *testing.T) {
	got := probetest.Recorded(t, codex.NewDecoder(runtime.DecoderSpec{}), streams, "e-failed", false)
	if got.Outcome.RetryAfterMs != 1000 {
		t.Errorf("retry after %d ms", got.Outcome.RetryAfterMs)
	}
}

func TestColouredLogLines(t *testing.T) {
	got := probetest.Decode(codex.NewDecoder(runtime.DecoderSpec{}), nil,
		[]byte("\x1b[2mtime\x1b[0m \x1b[31mERROR\x1b[0m router: error=patch rejected: outside\n\x1b["))
	if d := got.Outcome.Denials; len(d) != 1 || d[0].Boundary != untrusted.From("patch rejected: outside") {
		t.Errorf("denials %+v", d)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"item.completed","item":{"type":"file_change","changes":[{}]}}`), []byte("ERROR error=rejected"))
	f.Add([]byte(`{"type":"turn.completed","usage":{"input_tokens":1}}`), []byte("\x1b[31"))
	f.Add([]byte(`{"type":"error","message":"Reconnecting... try again in 99999999999h."}`), []byte{0xff})
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		got := probetest.Decode(codex.NewDecoder(runtime.DecoderSpec{}), stdout, stderr)
		if got.Outcome.Reason != "" && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}
