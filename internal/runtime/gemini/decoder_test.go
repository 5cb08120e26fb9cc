package gemini_test

import (
	"flag"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	answered := probetest.Want{Completed: true, Answered: true}
	refused := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	failed := func(why runtime.Reason) probetest.Want {
		return probetest.Want{Completed: true, Failed: true, Reason: why}
	}
	unstarted := func(why runtime.Reason) probetest.Want { return probetest.Want{Failed: true, Reason: why} }
	cases := map[string]probetest.Want{
		"a-text-skiptrust":        answered,
		"a-text":                  unstarted(runtime.ReasonCrash),
		"a-plain":                 {}, // not the stream that jobs ask for
		"b-shell-yolo":            answered,
		"b-write-autoedit":        answered,
		"c-write-default":         answered,
		"c-forcewrite-default":    refused,
		"c-forceshell-autoedit":   refused,
		"c-outside-yolo":          refused,
		"c-write-plan":            refused,
		"e-401":                   failed(runtime.ReasonAuth),
		"e-g400key":               failed(runtime.ReasonAuth),
		"e-404model":              failed(runtime.ReasonUnknownModel),
		"e-429":                   unstarted(runtime.ReasonRateLimit),
		"e-500":                   unstarted(runtime.ReasonNetwork),
		"e-badmode":               unstarted(runtime.ReasonUnknownFlag),
		"e-noprompt":              unstarted(runtime.ReasonUnknownFlag),
		"e-unknownflag":           unstarted(runtime.ReasonUnknownFlag),
		"f-incl":                  answered,
		"f-maxturns":              failed(runtime.ReasonTurnCap),
		"h-hang":                  {},
		"h-hang-grp":              {},
		"h-hang-norelaunch":       {},
		"h-shellsleep-grp":        {},
		"h-shellsleep":            unstarted(runtime.ReasonNetwork),
		"i-resume-latest":         answered,
		"i-sessid":                answered,
		"i-resume-bad":            unstarted(runtime.ReasonSession),
		"i-resume-othercwd":       unstarted(runtime.ReasonSession),
		"i-sessid-dup":            unstarted(runtime.ReasonCrash),
		"p-planmode-escape":       answered,
		"p-limited-read-escape":   refused,
		"p-limited-edit-escape":   refused,
		"p-limited-write":         answered,
		"p-limited-outside":       refused,
		"p-limited-shell":         answered,
		"p-limited-refused-write": refused,
		"p-limited-refused-shell": refused,
		"p-limited-401":           failed(runtime.ReasonAuth),
		"p-limited-404":           failed(runtime.ReasonUnknownModel),
		"p-broken-policy": {
			Completed: true, Failed: true, Answered: true, Reason: runtime.ReasonUnknownFlag, Settled: runtime.ReasonUnknownFlag,
		},
	}
	probetest.Recordings(t, gemini.NewDecoder, streams, cases, *update, nil)
}

func decode(lines ...string) (runtime.Decoder, []runtime.Event) {
	d := gemini.NewDecoder(runtime.DecoderSpec{})
	var events []runtime.Event
	for _, line := range lines {
		events = append(events, d.Stdout([]byte(line))...)
	}
	return d, events
}

func failedWith(message string) string {
	return `{"type":"result","status":"error","error":{"type":"unknown","message":"` + message + `"}}`
}

func TestClassesOfErrors(t *testing.T) {
	cases := []struct {
		message string
		want    runtime.Reason
		delay   int64
	}{
		{`{\"error\":{\"code\":401,\"message\":\"no\"}}`, runtime.ReasonAuth, 0},
		{`{\"error\":{\"code\":403,\"message\":\"no\"}}`, runtime.ReasonAuth, 0},
		{`{\"error\":{\"code\":400,\"details\":[{\"reason\":\"API_KEY_INVALID\"}]}}`, runtime.ReasonAuth, 0},
		{`{\"error\":{\"code\":400,\"message\":\"bad\"}}`, runtime.ReasonCrash, 0},
		{`{\"error\":{\"code\":404,\"message\":\"gone\"}}`, runtime.ReasonUnknownModel, 0},
		{`{\"error\":{\"code\": 503,\"message\":\"busy\"}}`, runtime.ReasonNetwork, 0},
		{`{\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"34s\"}]}}`, runtime.ReasonRateLimit, 34_000},
		{`You exceeded your current quota. Please retry in 1.5s.`, runtime.ReasonRateLimit, 1500},
		{`You have exhausted your daily quota on this model.`, runtime.ReasonQuota, 0},
		{`You have exhausted your capacity on this model. Your quota will reset after 1h2m3s.`, runtime.ReasonQuota, 3_723_000},
		{`exception TypeError: fetch failed sending request`, runtime.ReasonNetwork, 0},
		{`something else`, runtime.ReasonCrash, 0},
	}
	for _, c := range cases {
		d, _ := decode(failedWith(c.message))
		if got := d.Outcome(); got.Reason != c.want || got.RetryAfterMs != c.delay || !got.ErrorFlag {
			t.Errorf("%s: reason %q, retry after %d ms, want %q, %d", c.message, got.Reason, got.RetryAfterMs, c.want, c.delay)
		}
	}
}

// The pieces of what the agent says become one text, and only the last text is
// the answer.
func TestTheAnswerIsTheLastText(t *testing.T) {
	say := func(s string) string {
		return `{"type":"message","role":"assistant","content":"` + s + `","delta":true}`
	}
	d, events := decode(say("Let me "), say("look."),
		`{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{"file_path":"a"}}`,
		`{"type":"tool_result","tool_id":"1","status":"success","output":"x"}`,
		say("It is "), say("fine."), `{"type":"result","status":"success"}`)
	out := d.Outcome()
	if out.Answer != untrusted.From("It is fine.") || !out.WorkBegun || out.Usage != nil {
		t.Errorf("answer %q, work begun %t, usage %v", out.Answer, out.WorkBegun, out.Usage)
	}
	if events[0].Kind != runtime.EventText || events[0].Text != untrusted.From("Let me look.") {
		t.Errorf("first event %+v", events[0])
	}
}

func TestObservedModel(t *testing.T) {
	result := func(models string) string {
		return `{"type":"result","status":"success","stats":{"total_tokens":3,"models":{` + models + `}}}`
	}
	cases := []struct{ name, models, want string }{
		{"one", `"a":{"total_tokens":3}`, "a"},
		{"one that answered", `"a":{"total_tokens":0},"b":{"total_tokens":3}`, "b"},
		{"several", `"a":{"total_tokens":1},"b":{"total_tokens":2},"c":{"total_tokens":2}`, ""},
		{"none", ``, ""},
	}
	for _, c := range cases {
		d, _ := decode(result(c.models))
		if got := d.Outcome().ObservedModel; got != c.want {
			t.Errorf("%s: observed %q, want %q", c.name, got, c.want)
		}
	}
}

// A count of nothing is that of a call that was never answered.
func TestUnreportedUsageIsUnknown(t *testing.T) {
	d, _ := decode(`{"type":"result","status":"error","stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0}}`)
	if got := d.Outcome().Usage; got != nil {
		t.Errorf("usage %+v, want none", got)
	}
}

// A tool that fails, and a tool that the model made up, are no boundaries.
func TestAFailureIsNotARefusal(t *testing.T) {
	for _, c := range [][2]string{
		{"read_file", `{"type":"invalid_tool_params","message":"File not found: Path not in workspace"}`},
		{"make_coffee", `{"type":"tool_not_registered","message":"Tool \"make_coffee\" not found."}`},
		{"run_shell_command", `{"type":"shell_execute_error","message":"denied by policy"}`},
	} {
		d, _ := decode(`{"type":"tool_use","tool_name":"`+c[0]+`","tool_id":"1"}`,
			`{"type":"tool_result","tool_id":"1","status":"error","error":`+c[1]+`}`)
		if out := d.Outcome(); len(out.Denials) != 0 {
			t.Errorf("%s: denials %v", c[0], out.Denials)
		}
	}
}

// A program that goes on without its limits is ended, whatever it says afterwards.
func TestIgnoredLimitsEndTheAttempt(t *testing.T) {
	for _, line := range []string{
		"\x1b[33mSecurity Warning: Ignoring --admin-policy because system policies are already defined in /etc/x\x1b[0m",
		"[ADMIN] Policy file error in job.toml:",
	} {
		d := gemini.NewDecoder(runtime.DecoderSpec{})
		d.Stderr([]byte(line))
		if why, ok := d.Settle(); !ok || why != runtime.ReasonUnknownFlag {
			t.Errorf("%s: settled %t, %q", line, ok, why)
		}
		d.Stdout([]byte(`{"type":"result","status":"success"}`))
		if out := d.Outcome(); !out.ErrorFlag || strings.Contains(out.Evidence.Unshown(), "\x1b") {
			t.Errorf("outcome %+v", out)
		}
	}
}

// A fault in the user's own policies takes nothing from the job's.
func TestAUsersFaultyPolicyDoesNotEndTheAttempt(t *testing.T) {
	d := gemini.NewDecoder(runtime.DecoderSpec{})
	d.Stderr([]byte("[USER] Policy file error in mine.toml:"))
	if why, ok := d.Settle(); ok {
		t.Errorf("settled: %q", why)
	}
}

// What follows a repeated call shows that it went through.
func TestARetryThatWentThroughIsForgotten(t *testing.T) {
	d := gemini.NewDecoder(runtime.DecoderSpec{})
	events := d.Stderr([]byte(`Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429}}`))
	if len(events) != 1 || events[0].Kind != runtime.EventRetry || events[0].Reason != runtime.ReasonRateLimit {
		t.Errorf("events %+v", events)
	}
	if out := d.Outcome(); out.Reason != runtime.ReasonRateLimit {
		t.Errorf("reason %q before anything followed", out.Reason)
	}
	d.Stdout([]byte(`{"type":"message","role":"assistant","content":"x"}`))
	if out := d.Outcome(); out.ErrorFlag {
		t.Errorf("outcome %+v", out)
	}
}

func TestSignInFailuresAtStart(t *testing.T) {
	for _, line := range []string{
		"Please set an Auth method in your ~/.gemini/settings.json or specify one of …",
		"Invalid auth method selected.",
		"When using Gemini API, you must specify the GEMINI_API_KEY environment variable.",
	} {
		d := gemini.NewDecoder(runtime.DecoderSpec{})
		d.Stderr([]byte(line))
		if out := d.Outcome(); out.Reason != runtime.ReasonAuth || !out.ErrorFlag {
			t.Errorf("%s: %+v", line, out)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"message","role":"assistant","content":"x"}`), []byte("Unknown arguments: x"))
	f.Add([]byte(`{"type":"tool_result","tool_id":7,"error":{"type":"policy_violation"}}`), []byte("\x1b["))
	f.Add([]byte(`{"type":"result","stats":{"models":{"a":7}},"error":7}`), []byte("Attempt 1 failed with status 9. Retrying\xff"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		got := probetest.Decode(gemini.NewDecoder(runtime.DecoderSpec{}), stdout, stderr)
		if got.Outcome.Reason != "" && got.Outcome.Completed && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}

// What was being said when the program was ended is not lost.
func TestAnUnfinishedMessage(t *testing.T) {
	d := gemini.NewDecoder(runtime.DecoderSpec{})
	d.Stdout([]byte(`{"type":"message","role":"assistant","content":"All is ","delta":true}`))
	d.Stdout([]byte(`{"type":"message","role":"assistant","content":"we","delta":true}`))
	last, ok := d.(runtime.Unfinished)
	if !ok {
		t.Fatal("nothing is told at the end")
	}
	if got := last.Unfinished(); len(got) != 1 || got[0].Kind != runtime.EventText || !got[0].Text.Equal(untrusted.From("All is we…")) {
		t.Errorf("%+v", got)
	}
	if again := last.Unfinished(); len(again) > 0 {
		t.Errorf("told twice: %+v", again)
	}
}
