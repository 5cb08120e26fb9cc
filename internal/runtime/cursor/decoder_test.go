package cursor_test

import (
	"flag"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/cursor"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

// The streams are put together from the lines of public documentation and published
// output, with made-up names of models. None was recorded here.
const streams = "testdata/documented-streams"

func TestDecoderOnDocumentedStreams(t *testing.T) {
	cases := map[string]probetest.Want{
		"read":          {Completed: true, Answered: true},
		"rejected":      {Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"killed":        {},
		"signed-out":    {Failed: true, Reason: runtime.ReasonAuth},
		"unknown-model": {Failed: true, Reason: runtime.ReasonUnknownModel},
		"untrusted":     {Failed: true, Reason: runtime.ReasonPermission},
		"usage-limit":   {Failed: true, Reason: runtime.ReasonQuota},
		"error-event":   {Failed: true, Reason: runtime.ReasonRateLimit},
	}
	probetest.Recordings(t, cursor.NewDecoder, streams, cases, *update, nil)
}

// The result joins all that was said; the answer is what was said last.
func TestAnswerIsTheLastMessage(t *testing.T) {
	got := probetest.Recorded(t, cursor.NewDecoder(runtime.DecoderSpec{}), streams, "read", false).Outcome
	if got.Answer != untrusted.From("It describes a project.") || got.ObservedModel != "Maker 2 High" || *got.Usage.InputTokens != 130 {
		t.Errorf("outcome %+v", got)
	}
}

func TestDenialNamesItsBoundary(t *testing.T) {
	got := probetest.Recorded(t, cursor.NewDecoder(runtime.DecoderSpec{}), streams, "rejected", false).Outcome
	const says = `rejected: {"command":"bash check.sh","workingDirectory":"/home/you/project","reason":"","isReadonly":false}`
	if len(got.Denials) != 1 || got.Denials[0].Tool != "shell" || got.Denials[0].Boundary != untrusted.From(says) || got.Usage != nil {
		t.Errorf("outcome %+v", got)
	}
}

// What the program may print beside its stream.
func TestLinesBesideTheStream(t *testing.T) {
	d := cursor.NewDecoder(runtime.DecoderSpec{})
	if e := d.Stderr([]byte(`{"type":"assistant"}`)); len(e) != 0 {
		t.Errorf("a repeated line gave %+v", e)
	}
	if e := d.Stderr([]byte("a notice")); len(e) != 1 || e[0].Kind != runtime.EventWarning {
		t.Errorf("a notice gave %+v", e)
	}
	for _, raw := range []string{"", `{"type":"new"}`, `{"type":"tool_call","subtype":"completed","tool_call":{"function":{"name":"x"}}}`, `[]`} {
		for _, e := range d.Stdout([]byte(raw)) {
			if e.Kind == runtime.EventDenied || e.Kind == runtime.EventFailed {
				t.Errorf("%s gave %+v", raw, e)
			}
		}
	}
	d.Stdout([]byte(`{"type":"result","subtype":"error","is_error":true,"result":"getaddrinfo ENOTFOUND"}`))
	if out := d.Outcome(); out.Reason != runtime.ReasonNetwork || !out.ErrorFlag || out.Usage != nil {
		t.Errorf("outcome %+v", out)
	}
}

func TestUnknownFlag(t *testing.T) {
	d := cursor.NewDecoder(runtime.DecoderSpec{})
	d.Stderr([]byte("error: unknown option '--x'"))
	if out := d.Outcome(); out.Reason != runtime.ReasonUnknownFlag {
		t.Errorf("outcome %+v", out)
	}
}

func TestLinesWithPieces(t *testing.T) {
	d := cursor.NewDecoder(runtime.DecoderSpec{}).(runtime.Piecemeal)
	for line, want := range map[string]bool{
		`{"type":"thinking","subtype":"delta","text":"Rea"}`:                                   true,
		`{"type":"thinking","subtype":"completed"}`:                                            false,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"thinking delta"}]}}`: false,
		`no JSON`: false,
	} {
		if got := d.Piece([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
