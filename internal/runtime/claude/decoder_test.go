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
	type want struct {
		completed, failed bool
		reason, settled   runtime.Reason
		answered          bool
	}
	cases := map[string]want{
		"a-text":            {completed: true, answered: true},
		"b-write-accept":    {completed: true, answered: true},
		"b-bash-accept":     {completed: true, answered: true},
		"b-bash-allowed":    {completed: true, answered: true, reason: runtime.ReasonPermission, settled: runtime.ReasonPermission},
		"c-auto":            {completed: true, answered: true},
		"c-disallow":        {completed: true, answered: true},
		"c-write-default":   {completed: true, answered: true, reason: runtime.ReasonPermission, settled: runtime.ReasonPermission},
		"c-plan":            {completed: true, answered: true, reason: runtime.ReasonPermission, settled: runtime.ReasonPermission},
		"c-dontask":         {completed: true, answered: true, reason: runtime.ReasonPermission, settled: runtime.ReasonPermission},
		"c-outside-accept":  {completed: true, answered: true, reason: runtime.ReasonPermission, settled: runtime.ReasonPermission},
		"e-401":             {completed: true, failed: true, reason: runtime.ReasonAuth, settled: runtime.ReasonAuth},
		"e-401-json":        {completed: true, failed: true, reason: runtime.ReasonAuth},
		"e-429ra":           {completed: true, failed: true, reason: runtime.ReasonRateLimit},
		"e-429-maxretry1":   {completed: true, failed: true, reason: runtime.ReasonRateLimit},
		"e-500-maxretry1":   {completed: true, failed: true, reason: runtime.ReasonNetwork},
		"e-529-maxretry1":   {completed: true, failed: true, reason: runtime.ReasonNetwork},
		"e-404model":        {completed: true, failed: true, reason: runtime.ReasonUnknownModel},
		"e-noauth-stream":   {completed: true, failed: true, reason: runtime.ReasonAuth, settled: runtime.ReasonAuth},
		"e-refused":         {completed: true, failed: true, reason: runtime.ReasonNetwork},
		"e-midcut":          {completed: true, answered: true},
		"e-unkmodel-ok":     {completed: true, answered: true},
		"e-unknownflag":     {failed: true, reason: runtime.ReasonUnknownFlag},
		"e-badmode":         {failed: true, reason: runtime.ReasonUnknownFlag},
		"f-maxturns":        {completed: true, failed: true, reason: runtime.ReasonCrash},
		"f-budget":          {completed: true, failed: true, reason: runtime.ReasonBudget},
		"f-tools-none":      {completed: true, answered: true},
		"h-hang":            {},
		"h-shellsleep-int":  {completed: true, failed: true, reason: runtime.ReasonCrash},
		"h-shellsleep-kill": {},
		"h-term-late":       {},
		"i-resume":          {completed: true, answered: true},
		"i-bad":             {failed: true, reason: runtime.ReasonCrash},
		"i-othercwd":        {failed: true, reason: runtime.ReasonCrash},
	}
	for _, name := range probetest.Names(t, streams) {
		t.Run(name, func(t *testing.T) {
			got := probetest.Recorded(t, claude.NewDecoder(runtime.DecoderSpec{}), streams, name, *update)
			expect, listed := cases[name]
			if !listed {
				t.Fatal("this recording is not in the table")
			}
			out := got.Outcome
			if out.Completed != expect.completed || out.ErrorFlag != expect.failed || out.Reason != expect.reason {
				t.Errorf("completed %t, error flag %t, reason %q (%s)", out.Completed, out.ErrorFlag, out.Reason, out.Evidence)
			}
			if got.Settled != expect.settled {
				t.Errorf("settled %q, want %q", got.Settled, expect.settled)
			}
			if (out.Answer != "") != expect.answered {
				t.Errorf("answer %q", out.Answer)
			}
			if out.Reason != "" && out.Evidence == "" {
				t.Error("a reason without its evidence")
			}
		})
	}
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
