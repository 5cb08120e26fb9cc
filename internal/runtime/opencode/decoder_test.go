package opencode_test

import (
	"flag"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

const streams = "testdata/streams"

func decoder(runtime.DecoderSpec) runtime.Decoder {
	return opencode.NewDecoder(runtime.DecoderSpec{Runtime: "opencode"})
}

// What each recorded attempt must come to, beside its golden transcript.
func TestDecoderOnRecordedStreams(t *testing.T) {
	done := probetest.Want{Completed: true, Answered: true}
	// The program stops after a request that nobody answers, and goes on after a rule.
	stopped := probetest.Want{Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	refused := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	failed := func(why runtime.Reason) probetest.Want { return probetest.Want{Failed: true, Reason: why} }
	cases := map[string]probetest.Want{
		"a-stdin":            done,
		"b-write":            done,
		"c1-writeout":        stopped,
		"c2j-ask-bash":       stopped,
		"c3-deny-write":      done, // the tool was not offered
		"r3-permenv":         done,
		"r3-agent-plan":      refused,
		"edit-beside-folder": refused,
		"edit-in-folder":     done,
		"edit-read-folder":   refused,
		"read-folder":        done,
		"read-outside":       refused,
		"not-offered":        done, // called all the same: there is no such tool, and the work goes on
		"d-401-json":         failed(runtime.ReasonAuth),
		"e-model-404":        failed(runtime.ReasonUnknownModel),
		"e-model-unknown":    failed(runtime.ReasonCrash),
		"r3-500-long":        failed(runtime.ReasonNetwork),
		"f-flag":             failed(runtime.ReasonUnknownFlag),
		"h-resume-bogus":     failed(runtime.ReasonSession),
		"noprompt":           failed(runtime.ReasonCrash),
		"r3-dir":             failed(runtime.ReasonCrash),
		"h-resume-c":         done,
		"r3-agent-bogus":     {Completed: true, Failed: true, Reason: runtime.ReasonUnknownFlag, Settled: runtime.ReasonUnknownFlag},
		"g-hang-term":        {},
		"g-sleepbash-term":   {},
		"r3-unauth-netless":  {},
	}
	probetest.Recordings(t, decoder, streams, cases, *update, func(t *testing.T, got probetest.Transcript) {
		if m := got.Outcome.ObservedModel; m != "" {
			t.Errorf("the stream does not say which model answered, yet %q was observed", m)
		}
		if got.Outcome.Completed && got.Outcome.SessionID == "" {
			t.Error("no session id")
		}
	})
}

func TestDecoderOnStreamsOfKilo(t *testing.T) {
	done := probetest.Want{Completed: true, Answered: true}
	cases := map[string]probetest.Want{"a-text": done, "r7-bash": done, "r7-write": done, "unauth": {}}
	probetest.Recordings(t, opencode.NewDecoder, "testdata/kilo", cases, *update, nil)
}

func decode(stdout, stderr string) probetest.Transcript {
	return probetest.Decode(decoder(runtime.DecoderSpec{}), []byte(stdout), []byte(stderr))
}

// The notice and the stream tell of one refusal; only the notice names its boundary.
func TestOneRefusalIsOneDenialInAnyOrder(t *testing.T) {
	const used = `{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","input":{"command":"ls /x"},"error":"The user rejected permission to use this specific tool call."}}}`
	const notice = "\x1b[93m\x1b[1m! \x1b[0mpermission requested: external_directory (/x/*); auto-rejecting"
	want := "external_directory (/x/*)"
	for name, lines := range map[string][2]string{"notice first": {notice, used}, "stream first": {used, notice}} {
		d := decoder(runtime.DecoderSpec{})
		for _, line := range lines {
			if strings.HasPrefix(line, "{") {
				d.Stdout([]byte(line))
			} else {
				d.Stderr([]byte(line))
			}
		}
		if out := d.Outcome(); len(out.Denials) != 1 || out.Denials[0].Boundary != untrusted.From(want) || out.Reason != runtime.ReasonPermission {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if out := decode(used, "").Outcome; len(out.Denials) != 1 || !strings.HasPrefix(out.Denials[0].Boundary.Unshown(), "ls /x: The user rejected") {
		t.Errorf("without the notice: %+v", out.Denials)
	}
}

func TestDenialNamesTheBoundary(t *testing.T) {
	for name, want := range map[string]string{
		"read-outside":       `/lab/out/hello.txt: refused by a rule for * "*", external_directory "*"`,
		"edit-beside-folder": `/lab/repo/other/hello.txt: refused by a rule for * "*", edit "*"`,
		"edit-read-folder":   `/lab/rd/hello.txt: refused by a rule for * "*", edit "../*"`,
		"r3-agent-plan":      `<lab>/w/oc3/hello.txt: refused by a rule for edit "*"`,
	} {
		got := decode(file(t, streams+"/"+name+".out"), "").Outcome.Denials
		if len(got) != 1 || got[0].Boundary != untrusted.From(want) {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
	// kilo names the one rule without a list around it.
	const lone = `The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules {\"permission\":\"external_directory\",\"action\":\"deny\",\"pattern\":\"*\",\"source\":\"agent\"}`
	alone := decode(`{"type":"tool_use","part":{"tool":"write","state":{"status":"error","input":{"filePath":"/lab/outside.txt"},"error":"`+lone+`"}}}`, "").Outcome.Denials
	if len(alone) != 1 || alone[0].Boundary != untrusted.From(`/lab/outside.txt: refused by a rule for external_directory "*"`) {
		t.Errorf("with one rule: %+v", alone)
	}
	const other = "The user has specified a rule which prevents you from using this specific tool call, says someone"
	got := decode(`{"type":"tool_use","part":{"tool":"x","state":{"status":"error","input":{"path":"/p"},"error":"`+other+`"}}}`, "").Outcome.Denials
	if len(got) != 1 || got[0].Boundary != untrusted.From("/p: "+other) {
		t.Errorf("without the rules: %+v", got)
	}
}

// What a tool printed is no refusal, however it sounds.
func TestAFailedToolIsNoDenial(t *testing.T) {
	out := decode(`{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","input":7,"error":"cat: The user rejected permission to use this specific tool call"}}}`, "").Outcome
	if len(out.Denials) != 0 || !out.WorkBegun {
		t.Errorf("outcome %+v", out)
	}
}

func TestUsageIsTheSumOfTheSteps(t *testing.T) {
	step := func(tokens, cost string) string {
		return `{"type":"step_finish","part":{"reason":"stop","tokens":` + tokens + `,"cost":` + cost + "}}\n"
	}
	full := `{"input":10,"output":5,"reasoning":2,"cache":{"read":100,"write":1}}`
	u := decode(step(full, "0.25")+step(full, "0.5"), "").Outcome.Usage
	if u == nil || *u.InputTokens != 222 || *u.OutputTokens != 14 || *u.CostUSD != 0.75 {
		t.Errorf("usage %+v", u)
	}
	if u := decode(step(full, "0"), "").Outcome.Usage; u == nil || u.CostUSD != nil {
		t.Errorf("a price of nothing is known: %+v", u)
	}
	if u := decode(step(`{"input":0,"output":0}`, "0"), "").Outcome.Usage; u != nil {
		t.Errorf("a count of nothing is known: %+v", u)
	}
}

func TestAnAnswerThatEndsEarlyIsAFailure(t *testing.T) {
	out := decode(`{"type":"text","part":{"text":"half"}}`+"\n"+`{"type":"step_finish","part":{"reason":"length"}}`, "").Outcome
	if !out.ErrorFlag || out.Completed || !out.Answer.Empty() || out.Reason != runtime.ReasonCrash {
		t.Errorf("outcome %+v", out)
	}
}

// The text before a further round is not the answer.
func TestTheLastRoundIsTheAnswer(t *testing.T) {
	text := func(s string) string {
		return `{"type":"step_start"}` + "\n" + `{"type":"text","part":{"text":"` + s + `"}}` + "\n"
	}
	end := func(reason string) string { return `{"type":"step_finish","part":{"reason":"` + reason + `"}}` + "\n" }
	if out := decode(text("one")+end("tool-calls")+text("two")+end("stop"), "").Outcome; out.Answer != untrusted.From("two") || !out.Completed {
		t.Errorf("outcome %+v", out)
	}
	if out := decode(text("one")+end("stop")+text("two"), "").Outcome; !out.Answer.Empty() || out.Completed {
		t.Errorf("cut off in a further round: %+v", out)
	}
}

func TestClasses(t *testing.T) {
	cases := map[string]runtime.Reason{
		`"name":"APIError","data":{"message":"no","statusCode":403}`:                              runtime.ReasonAuth,
		`"name":"APIError","data":{"message":"no","statusCode":402}`:                              runtime.ReasonQuota,
		`"name":"APIError","data":{"message":"no","statusCode":429}`:                              runtime.ReasonRateLimit,
		`"name":"APIError","data":{"message":"You exceeded your current quota","statusCode":429}`: runtime.ReasonQuota,
		`"name":"APIError","data":{"message":"no","statusCode":400}`:                              runtime.ReasonCrash,
		`"name":"APIError","data":{"message":"Unable to connect. Is the computer able to?"}`:      runtime.ReasonNetwork,
		`"name":"ProviderAuthError","data":{"message":"no"}`:                                      runtime.ReasonAuth,
		`"name":"ProviderModelNotFoundError","data":{}`:                                           runtime.ReasonUnknownModel,
		`"name":"UnknownError","data":{"message":"Rate limit reached"}`:                           runtime.ReasonRateLimit,
		`"name":7,"data":{"message":"something never seen"}`:                                      runtime.ReasonCrash,
	}
	for form, want := range cases {
		if got := decode(`{"type":"error","error":{`+form+`}}`, "").Outcome; got.Reason != want || !got.ErrorFlag {
			t.Errorf("%s is %q, want %q", form, got.Reason, want)
		}
	}
}

// What kilo says on standard error beside its stream has the same class.
func TestAnErrorBesideTheStreamHasItsClass(t *testing.T) {
	if got := decode("", "Error: Incorrect API key provided.").Outcome; got.Reason != runtime.ReasonAuth {
		t.Errorf("%q: %s", got.Reason, got.Evidence)
	}
}

func TestStatedRetryTimeIsKept(t *testing.T) {
	for headers, want := range map[string]int64{
		`{"retry-after":"3"}`: 3000, `{"retry-after-ms":"250","retry-after":"3"}`: 250, `{"retry-after":"soon"}`: 0, `{"retry-after":"-1"}`: 0, `{"retry-after":"NaN"}`: 0,
	} {
		got := decode(`{"type":"error","error":{"data":{"statusCode":429,"responseHeaders":`+headers+`}}}`, "").Outcome.RetryAfterMs
		if got != want {
			t.Errorf("%s gives %d ms, want %d", headers, got, want)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"tool_use","part":{"tool":"x","state":{"status":"error","input":[],"error":"The user rejected permission to use this specific tool call."}}}`), []byte("! permission requested: a (b); auto-rejecting"))
	f.Add([]byte(`{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1}}}`), []byte("opencode run [message..]\nx"))
	f.Add([]byte(`{"type":"error","error":{"data":{"responseHeaders":{"retry-after":"1e99"}}}}`), []byte("\x1b[31"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		got := probetest.Decode(decoder(runtime.DecoderSpec{}), stdout, stderr)
		if got.Outcome.Reason != "" && !got.Outcome.ErrorFlag && len(got.Outcome.Denials) == 0 {
			t.Errorf("a reason without an error flag or a denial: %+v", got.Outcome)
		}
	})
}
