package claude_test

import (
	"flag"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/probe/probetest"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	cases := map[string]probetest.Want{
		"a-text":            {Completed: true, Answered: true},
		"b-write-accept":    {Completed: true, Answered: true},
		"b-bash-accept":     {Completed: true, Answered: true},
		"b-bash-allowed":    {Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"c-auto":            {Completed: true, Answered: true},
		"c-disallow":        {Completed: true, Answered: true},
		"c-write-default":   {Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"c-plan":            {Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"c-dontask":         {Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"c-outside-accept":  {Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"e-401":             {Completed: true, Failed: true, Reason: runtime.ReasonAuth, Settled: runtime.ReasonAuth},
		"e-401-json":        {Completed: true, Failed: true, Reason: runtime.ReasonAuth},
		"e-429ra":           {Completed: true, Failed: true, Reason: runtime.ReasonRateLimit},
		"e-429-maxretry1":   {Completed: true, Failed: true, Reason: runtime.ReasonRateLimit},
		"e-500-maxretry1":   {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
		"e-529-maxretry1":   {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
		"e-404model":        {Completed: true, Failed: true, Reason: runtime.ReasonUnknownModel},
		"e-noauth-stream":   {Completed: true, Failed: true, Reason: runtime.ReasonAuth, Settled: runtime.ReasonAuth},
		"e-refused":         {Completed: true, Failed: true, Reason: runtime.ReasonNetwork},
		"e-midcut":          {Completed: true, Answered: true},
		"e-unkmodel-ok":     {Completed: true, Answered: true},
		"e-unknownflag":     {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"e-badmode":         {Failed: true, Reason: runtime.ReasonUnknownFlag},
		"f-maxturns":        {Completed: true, Failed: true, Reason: runtime.ReasonTurnCap},
		"f-budget":          {Completed: true, Failed: true, Reason: runtime.ReasonBudget},
		"f-tools-none":      {Completed: true, Answered: true},
		"f-schema":          {Completed: true, Answered: true},
		"f-schema-text":     {Completed: true, Answered: true},
		"f-schema-bad":      {Completed: true, Failed: true, Answered: true, Reason: runtime.BlockedNoAnswer},
		"h-hang":            {},
		"h-shellsleep-int":  {Completed: true, Failed: true, Reason: runtime.ReasonCrash},
		"h-shellsleep-kill": {},
		"h-term-late":       {},
		"i-resume":          {Completed: true, Answered: true},
		"i-bad":             {Failed: true, Reason: runtime.ReasonSession},
		"i-othercwd":        {Failed: true, Reason: runtime.ReasonSession},
	}
	probetest.Recordings(t, claude.NewDecoder, streams, cases, *update, nil)
}

// The first refused sign-in ends the attempt; the program would go on for minutes.
func TestFirstAuthenticationFailureSettles(t *testing.T) {
	got := probetest.Recorded(t, claude.NewDecoder(runtime.DecoderSpec{}), streams, "e-401", false)
	if got.After != 2 {
		t.Errorf("settled after %d lines, want 2: the session and the first retry", got.After)
	}
}

func TestStatedRetryTimeIsKept(t *testing.T) {
	got := probetest.Recorded(t, claude.NewDecoder(runtime.DecoderSpec{}), streams, "e-429ra", false)
	if got.Outcome.RetryAfterMs != 2000 || got.Outcome.WorkBegun {
		t.Errorf("retry after %d ms, work begun %t", got.Outcome.RetryAfterMs, got.Outcome.WorkBegun)
	}
}

func TestObservedModelIsTheMainAgents(t *testing.T) {
	say := func(model, parent string) string {
		return `{"type":"assistant","message":{"model":"` + model + `","content":[{"type":"text","text":"x"}]},"parent_tool_use_id":` + parent + `}`
	}
	session := `{"type":"system","subtype":"init","session_id":"s","model":"big-1[1m]"}`
	cases := []struct {
		name  string
		lines []string
		want  string
	}{
		{"as the session names it", []string{session, say("big-1", "null")}, "big-1[1m]"},
		{"a subagent does not count", []string{session, say("big-1", "null"), say("small-2", `"t1"`)}, "big-1[1m]"},
		{"the model that answers wins", []string{session, say("small-2", "null")}, "small-2"},
		{"an error report is no model", []string{session, say("<synthetic>", "null")}, ""},
		{"nothing was said", []string{session}, ""},
		{"only the usage tells", []string{`{"type":"result","subtype":"success","modelUsage":{"mid-3":{}}}`}, "mid-3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := claude.NewDecoder(runtime.DecoderSpec{})
			for _, line := range c.lines {
				d.Stdout([]byte(line))
			}
			if got := d.Outcome().ObservedModel; got != c.want {
				t.Errorf("observed %q, want %q", got, c.want)
			}
		})
	}
}

// A failing tool whose output speaks of permissions is not a refusal.
func TestToolOutputIsNotARefusal(t *testing.T) {
	d := claude.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,` +
		`"content":"Exit code 1\nPermission to use this repository denied"}]}}`))
	if out := d.Outcome(); len(out.Denials) != 0 {
		t.Errorf("denials %v", out.Denials)
	}
}

func TestQuotaIsNotARateLimit(t *testing.T) {
	d := claude.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Claude usage limit reached."}`))
	if got := d.Outcome().Reason; got != runtime.ReasonQuota {
		t.Errorf("reason %q", got)
	}
}

func TestUnreportedUsageIsUnknown(t *testing.T) {
	d := claude.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"result","subtype":"success","result":"x"}`))
	if got := d.Outcome().Usage; got != nil {
		t.Errorf("usage %+v, want none", got)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"content":"x"}}`), []byte("error: unknown option"))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"text":"a"}]}]}}`), []byte("\x1b["))
	f.Add([]byte(`{"type":"result","usage":{},"permission_denials":[{}],"error":7}`), []byte{0xff})
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		d := claude.NewDecoder(runtime.DecoderSpec{})
		got := probetest.Decode(d, stdout, stderr)
		if got.Outcome.Reason != "" && got.Outcome.Completed && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}

func TestLinesWithPieces(t *testing.T) {
	d := claude.NewDecoder(runtime.DecoderSpec{}).(runtime.Piecemeal)
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
