package acp_test

import (
	"encoding/json"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

// What the client printed of turns with real agents, from a simulated model.
func TestDecoderOnRecordedTurns(t *testing.T) {
	answered := probetest.Want{Completed: true, Answered: true}
	refused := probetest.Want{Completed: true, Answered: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission}
	cancelled := probetest.Want{Failed: true, Reason: runtime.ReasonCancelled}
	probetest.Recordings(t, acp.NewDecoder, "testdata/streams", map[string]probetest.Want{
		"opencode-plain":     answered,
		"opencode-edit":      answered, // after it asked the client in vain to write the file
		"opencode-refused":   {Completed: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"opencode-outside":   {Completed: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"opencode-401":       {Failed: true, Reason: runtime.ReasonAuth},
		"opencode-cancelled": cancelled,
		"opencode-nosession": {Failed: true, Reason: runtime.ReasonCrash},
		"qwen-edit":          answered,
		"qwen-shell":         answered,
		"qwen-refused":       {Completed: true, Reason: runtime.ReasonPermission, Settled: runtime.ReasonPermission},
		"qwen-unasked":       answered, // in the mode that it starts in, with a warning
		"qwen-404":           {Failed: true, Reason: runtime.ReasonUnknownModel},
		"gemini-plain":       answered,
		"gemini-refused":     refused,
		"gemini-outside":     answered, // its own boundary, which it does not report as one
		"gemini-404":         {Failed: true, Reason: runtime.ReasonUnknownModel},
		"gemini-cancelled":   cancelled,
	}, *update, nil)
}

func decoder() runtime.Decoder {
	return acp.NewDecoder(runtime.DecoderSpec{Runtime: acp.DecoderName})
}

// render makes the client's output of lines.
func render(t interface{ Fatal(...any) }, lines []acp.Line) []byte {
	var out []byte
	for _, l := range lines {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, raw...), '\n')
	}
	return out
}

func TestCountsOfAContinuedSession(t *testing.T) {
	out := render(t, []acp.Line{{Type: acp.LineUsage, Usage: &runtime.Usage{InputTokens: new(int64(120)), OutputTokens: new(int64(3))}}})
	d := acp.NewDecoder(runtime.DecoderSpec{BaselineInput: 100, BaselineOut: 10})
	u := probetest.Decode(d, out, nil).Outcome.Usage
	if u == nil || *u.InputTokens != 20 || *u.OutputTokens != 3 || u.CostUSD != nil {
		t.Errorf("%+v: input counts from the baseline, output is below it and so by turn", u)
	}
}

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		code    int
		message string
		want    runtime.Reason
		delay   int64
	}{
		{-32000, "Authentication required", runtime.ReasonAuth, 0},
		{401, "whatever", runtime.ReasonAuth, 0},
		{-32603, "[API Error: 403 forbidden]", runtime.ReasonAuth, 0},
		{-32603, "Internal error {\"details\":\"Incorrect API key provided\"}", runtime.ReasonAuth, 0},
		{429, "slow down, try again in 1m30s", runtime.ReasonRateLimit, 90_000},
		{-32603, `{"error":{"code":429,"retryDelay":"34.5s"}}`, runtime.ReasonRateLimit, 34_500},
		{-32603, "rate limit, retry after 20", runtime.ReasonRateLimit, 20_000},
		{429, "You exceeded your current quota", runtime.ReasonQuota, 0},
		{402, "", runtime.ReasonQuota, 0},
		{-32603, "the model `x` does not exist", runtime.ReasonUnknownModel, 0},
		{-32603, "ProviderModelNotFoundError", runtime.ReasonUnknownModel, 0},
		{500, "models/x is not found for API version v1beta", runtime.ReasonUnknownModel, 0},
		{500, "Internal error", runtime.ReasonNetwork, 0},
		{-32603, "status code 503", runtime.ReasonNetwork, 0},
		{-32603, "connect ECONNREFUSED 127.0.0.1:1", runtime.ReasonNetwork, 0},
		{-32603, "the file was not found", runtime.ReasonCrash, 0},
		{-32602, "Invalid params", runtime.ReasonCrash, 0},
		{0, "", runtime.ReasonCrash, 0},
	} {
		if got := acp.ClassOf(c.code, c.message); got != c.want {
			t.Errorf("%d %q: %s, want %s", c.code, c.message, got, c.want)
		}
		if got := acp.StatedDelay(c.message); got != c.delay {
			t.Errorf("%q: a delay of %d ms, want %d", c.message, got, c.delay)
		}
	}
}

// However the agent's messages are cut into pieces, the events are the same.
func TestPiecesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.StringMatching(`[a-z ä"\n]{0,12}`)).Draw(t, "messages")
		var whole, cut []acp.Line
		for i, text := range texts {
			id := strings.Repeat("m", i+1)
			whole = append(whole, acp.Line{Type: acp.LineText, Message: id, Text: text})
			for runes := []rune(text); len(runes) > 0; {
				n := rapid.IntRange(1, len(runes)).Draw(t, "piece")
				cut = append(cut, acp.Line{Type: acp.LineText, Message: id, Text: string(runes[:n])})
				runes = runes[n:]
			}
		}
		end := acp.Line{Type: acp.LineStop, StopReason: "end_turn"}
		a := probetest.Decode(decoder(), render(t, append(whole, end)), nil)
		b := probetest.Decode(decoder(), render(t, append(cut, end)), nil)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
		last := ""
		for _, text := range texts {
			if strings.TrimSpace(text) != "" {
				last = text
			}
		}
		if a.Outcome.Answer != untrusted.From(last) || !a.Outcome.Completed {
			t.Fatalf("the answer is %q, want %q", a.Outcome.Answer, last)
		}
	})
}

// Whatever lines come: a refusal is never lost, a completion never invented, and an
// answer never without one.
func TestInvariantsOfTheOutcome(t *testing.T) {
	types := []acp.LineType{
		acp.LineSession, acp.LineModel, acp.LineText, acp.LineTool, acp.LineToolDone, acp.LinePermission, acp.LineUsage,
		acp.LineStop, acp.LineError, acp.LineWarning, acp.LineLive, "new",
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.Custom(func(t *rapid.T) acp.Line {
			return acp.Line{
				Type: rapid.SampledFrom(types).Draw(t, "type"), Text: rapid.StringN(0, 5, -1).Draw(t, "text"),
				Allowed: rapid.Bool().Draw(t, "allowed"), Asked: rapid.Bool().Draw(t, "asked"), Kind: "edit",
				StopReason: rapid.SampledFrom([]string{"", "end_turn", "refusal", "cancelled"}).Draw(t, "stop"),
			}
		})).Draw(t, "lines")
		got := probetest.Decode(decoder(), render(t, lines), nil)
		refused := 0
		for _, l := range lines {
			if l.Type == acp.LinePermission && !l.Allowed {
				refused++
			}
		}
		ended := slices.ContainsFunc(lines, func(l acp.Line) bool { return l.Type == acp.LineStop && l.StopReason == "end_turn" })
		failed := slices.ContainsFunc(lines, func(l acp.Line) bool {
			return l.Type == acp.LineError || l.Type == acp.LineStop && l.StopReason != "end_turn"
		})
		o := got.Outcome
		switch {
		case len(o.Denials) != refused, refused > 0 && (o.Reason != runtime.ReasonPermission || got.Settled != o.Reason):
			t.Fatalf("%d refusals, outcome %+v", refused, o)
		case o.Completed != ended, o.ErrorFlag != failed, !o.Answer.Empty() && !ended:
			t.Fatalf("ended %t, failed %t, outcome %+v", ended, failed, o)
		case o.ErrorFlag && o.Reason == "":
			t.Fatalf("a failure without a class: %+v", o)
		}
	})
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"stop","stopReason":"end_turn"}`), []byte("log"))
	f.Add([]byte("{\"type\":\"text\",\"text\":7}\n{\"type\":\"usage\",\"usage\":{\"inputTokens\":-1}}\n\xff\n[]\n{\"type\":\"permission\",\"paths\":3}"), []byte(nil))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		got := probetest.Decode(decoder(), stdout, stderr)
		if o := got.Outcome; o.ErrorFlag && o.Reason == "" || len(o.Denials) > 0 && o.Reason != runtime.ReasonPermission {
			t.Errorf("%+v", o)
		}
		_, _ = acp.ReadLive(stdout) // an answer or an error, but never a panic
	})
}

// TestWhatIsSaidBeforeAToolIsNoAnswer: an agent that only announced what it would do has
// not answered.
func TestWhatIsSaidBeforeAToolIsNoAnswer(t *testing.T) {
	d := acp.NewDecoder(runtime.DecoderSpec{Runtime: acp.DecoderName})
	for _, line := range []string{
		`{"type":"text","text":"I will look at the files now."}`, `{"type":"tool","tool":"read"}`,
		`{"type":"tool_done","status":"failed"}`, `{"type":"stop","stopReason":"end_turn"}`,
	} {
		d.Stdout([]byte(line))
	}
	if out := d.Outcome(); !out.Completed || !out.Answer.Empty() {
		t.Errorf("%+v", out)
	}
}

// TestABabblingAgentIsBounded: what it says in pieces does not fill the supervisor.
func TestABabblingAgentIsBounded(t *testing.T) {
	d := acp.NewDecoder(runtime.DecoderSpec{Runtime: acp.DecoderName})
	piece := `{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 12 {
		d.Stdout([]byte(piece))
	}
	d.Stdout([]byte(`{"type":"stop","stopReason":"end_turn"}`))
	if n := d.Outcome().Answer.Len(); n == 0 || n > runtime.SaidLimit+1<<20 {
		t.Errorf("%d bytes are kept", n)
	}
}

// What was being said when the agent was ended is not lost.
func TestAnUnfinishedMessage(t *testing.T) {
	d := decoder()
	for _, line := range []string{`{"type":"text","text":"All is "}`, `{"type":"text","text":"we"}`} {
		d.Stdout([]byte(line))
		if !d.(runtime.Piecemeal).Piece([]byte(line)) {
			t.Errorf("%s is not known as a piece", line)
		}
	}
	last := d.(runtime.Unfinished)
	if got := last.Unfinished(); len(got) != 1 || got[0].Kind != runtime.EventText || !got[0].Text.Equal(untrusted.From("All is we…")) {
		t.Errorf("%+v", got)
	}
	if again := last.Unfinished(); len(again) > 0 {
		t.Errorf("told twice: %+v", again)
	}
}
