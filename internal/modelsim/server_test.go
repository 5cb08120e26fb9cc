package modelsim_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/modelsim"
)

const (
	askClaude = `{"model":"m-1","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"please go"}]}],"tools":[{"name":"Read"},{"name":"Write"},{"name":"Bash"}]}`
	askCodex  = `{"model":"m-2","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"please go"}]}]}`
)

func TestTextInBothProtocolsStreamedAndWhole(t *testing.T) {
	l := start(t, `rules: [{answers: other, usage: {input: 7, output: 3}, do: [{text: "two words"}]}]`, modelsim.Options{})

	events := l.post("/v1/messages", askClaude).events(t)
	if at(events[0], "message", "model") != "other" || at(events[0], "message", "usage", "input_tokens") != 7.0 {
		t.Errorf("start: %v", events[0])
	}
	var text string
	for _, e := range events {
		if part, ok := at(e, "delta", "text").(string); ok {
			text += part
		}
	}
	end := events[len(events)-2]
	if text != "two words" || at(end, "delta", "stop_reason") != "end_turn" || at(end, "usage", "output_tokens") != 3.0 {
		t.Errorf("text %q, end %v", text, end)
	}
	whole := decoded(t, l.post("/v1/messages", strings.Replace(askClaude, `"stream":true`, `"stream":false`, 1)).body)
	if at(whole, "content", 0, "text") != "two words" || at(whole, "stop_reason") != "end_turn" {
		t.Errorf("whole: %v", whole)
	}

	events = l.post("/v1/responses", askCodex).events(t)
	last := events[len(events)-1]
	if at(last, "type") != "response.completed" || at(last, "response", "output", 0, "content", 0, "text") != "two words" ||
		at(last, "response", "usage", "input_tokens") != 7.0 || at(last, "response", "model") != "other" {
		t.Errorf("completed: %v", last)
	}
	whole = decoded(t, l.post("/v1/responses", strings.Replace(askCodex, `"stream":true`, `"stream":false`, 1)).body)
	if at(whole, "status") != "completed" || at(whole, "output", 0, "content", 0, "text") != "two words" {
		t.Errorf("whole: %v", whole)
	}
}

func TestFailuresByStatusSpeakTheProtocol(t *testing.T) {
	l := start(t, `
rules:
  - {prefix: r401, do: [{status: {code: 401}}]}
  - {prefix: r403, do: [{status: {code: 403}}]}
  - {prefix: r404, do: [{status: {code: 404}}]}
  - {prefix: r429, do: [{status: {code: 429, retry_after: 2}}]}
  - {prefix: r500, do: [{status: {code: 500, message: "went wrong"}}]}
  - {prefix: r529, do: [{wait: 1ms}, {status: {code: 529}}]}
`, modelsim.Options{})
	cases := []struct {
		prefix      string
		code        int
		kind        string // Anthropic's
		text        string // in both
		openAI, say string
	}{
		{"r401", 401, "authentication_error", "", "invalid_request_error", "invalid_api_key"},
		{"r403", 403, "permission_error", "", "invalid_request_error", "forbidden"},
		{"r404", 404, "not_found_error", "m-", "invalid_request_error", "model_not_found"},
		{"r429", 429, "rate_limit_error", "", "rate_limit_exceeded", "rate_limit_exceeded"},
		{"r500", 500, "api_error", "went wrong", "server_error", ""},
		{"r529", 529, "overloaded_error", "Overloaded", "server_error", ""},
	}
	for _, c := range cases {
		a, o := l.post("/"+c.prefix+"/v1/messages", askClaude), l.post("/"+c.prefix+"/v1/responses", askCodex)
		if a.code != c.code || at(decoded(t, a.body), "error", "type") != c.kind || !strings.Contains(a.body, c.text) {
			t.Errorf("%s: %d %s", c.prefix, a.code, a.body)
		}
		word, _ := at(decoded(t, o.body), "error", "code").(string)
		if o.code != c.code || at(decoded(t, o.body), "error", "type") != c.openAI || word != c.say || !strings.Contains(o.body, c.text) {
			t.Errorf("%s: %d %s", c.prefix, o.code, o.body)
		}
		if after := a.header.Get("Retry-After"); (after == "2") != (c.code == 429) {
			t.Errorf("%s: retry-after %q", c.prefix, after)
		}
	}
}

func TestRulesAreTriedInOrderAndFitByTheirConditions(t *testing.T) {
	l := start(t, `
rules:
  - {name: once, prefix: p, times: 1, do: [{text: once}]}
  - {name: model, prefix: p, model: m-9, do: [{text: model}]}
  - {name: words, contains: "special words", do: [{text: words}]}
  - {name: pattern, matches: "job-[0-9]+", do: [{text: pattern}]}
  - {name: later, api: anthropic, turn: 1, do: [{text: "got {{tool_result}}"}]}
  - {name: rest, api: openai, do: [{text: rest}]}
`, modelsim.Options{})
	l.post("/p/v1/messages", askClaude)
	l.post("/p/v1/messages", strings.Replace(askClaude, "m-1", "m-9", 1))
	l.post("/v1/messages", strings.Replace(askClaude, "please go", "the special words", 1))
	l.post("/v1/messages", strings.Replace(askClaude, "please go", "it is job-12", 1))
	got := l.post("/v1/messages", `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use"}]},
		{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"line \"one\""}]}]}]}`)
	l.post("/v1/responses", askCodex)
	none := l.post("/v1/messages", askClaude)
	var names []string
	for _, r := range l.Requests() {
		names = append(names, r.Rule)
	}
	if d := cmp.Diff([]string{"once", "model", "words", "pattern", "later", "rest", ""}, names); d != "" {
		t.Errorf("rules that answered (-want +got):\n%s", d)
	}
	if text := at(decoded(t, got.body), "content", 0, "text"); text != `got line "one"` {
		t.Errorf("answer: %v", text)
	}
	if none.code != http.StatusBadRequest || !strings.Contains(none.body, "no rule") {
		t.Errorf("without a rule: %d %s", none.code, none.body)
	}
}

// A nonce counts wherever it stands in the body, in its decoded form.
func TestANonceIsLookedForAfterDecoding(t *testing.T) {
	l := start(t, `
rules:
  - require: [A, B]
    do: [{text: "both, and {{nonce A}}"}]
    otherwise: [{text: neither}]
`, modelsim.Options{Nonces: map[string]string{"A": "a/1", "B": "béta"}})
	body := func(system, user string) string {
		text, err := json.Marshal(map[string]any{"model": "m", "system": system, "messages": []any{map[string]any{"role": "user", "content": user}}})
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "é", `\u00e9`)
	}
	for _, c := range []struct{ system, user, want string }{
		{"has a/1", "has béta", "both, and a/1"},
		{"has a/1", "nothing", "neither"},
		{"", "béta", "neither"},
	} {
		if text := at(decoded(t, l.post("/v1/messages", body(c.system, c.user)).body), "content", 0, "text"); text != c.want {
			t.Errorf("%q, %q: answered %v, want %q", c.system, c.user, text, c.want)
		}
	}
	first, second := l.Requests()[0], l.Requests()[1]
	if d := cmp.Diff([]string{"A", "B"}, first.Nonces); d != "" || first.Otherwise || !second.Otherwise {
		t.Errorf("record: %+v, %+v", first, second)
	}
}

func TestHangEndsWithTheClientAndWithTheServer(t *testing.T) {
	l := start(t, `rules: [{prefix: mid, do: [{text: begun}, {hang: true}]}, {do: [{hang: true}]}]`, modelsim.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.URL("mid")+"/v1/messages", strings.NewReader(askClaude))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	if _, err := resp.Body.Read(buf); err != nil || !bytes.Contains(buf, []byte("message_start")) {
		t.Errorf("before it hangs: %q, %v", buf, err)
	}
	cancel()
	resp.Body.Close()

	resp, err = l.client.Post(l.URL("mid")+"/v1/messages", "application/json", strings.NewReader(askClaude))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if body, err := io.ReadAll(resp.Body); err == nil || bytes.Contains(body, []byte("message_stop")) {
		t.Errorf("after the server's end: %q, %v", body, err)
	}
}

func TestCutBreaksTheConnectionInTheMiddle(t *testing.T) {
	l := start(t, `rules: [{times: 2, do: [{text: "first part"}, {cut: true}]}, {do: [{text: whole}]}]`, modelsim.Options{})
	for _, ask := range [][2]string{{"/v1/messages", askClaude}, {"/v1/responses", askCodex}} {
		got := l.post(ask[0], ask[1])
		if got.err == nil || !strings.Contains(got.body, "first ") || strings.Contains(got.body, "message_stop") || strings.Contains(got.body, "response.completed") {
			t.Errorf("%s: error %v, body %q", ask[0], got.err, got.body)
		}
	}
	if got := l.post("/v1/messages", askClaude); got.err != nil || !strings.Contains(got.body, "message_stop") {
		t.Errorf("asked again: %v", got)
	}
}

func TestPacedTextArrivesWordByWord(t *testing.T) {
	l := start(t, `rules: [{pace: 1ms, do: [{text: "a b c"}]}]`, modelsim.Options{})
	var words []any
	for _, e := range l.post("/v1/messages", askClaude).events(t) {
		if at(e, "type") == "content_block_delta" {
			words = append(words, at(e, "delta", "text"))
		}
	}
	if d := cmp.Diff([]any{"a ", "b ", "c"}, words); d != "" {
		t.Error(d)
	}
}

func TestWhatIsNoModelCall(t *testing.T) {
	l := start(t, `{models: [m-1], rules: [{do: [{text: x}]}]}`, modelsim.Options{})
	resp, err := l.client.Head(l.URL("p"))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("HEAD: %v, %v", resp, err)
	}
	resp.Body.Close()
	if got := l.post("/p/v1/messages/count_tokens", askClaude); got.code != http.StatusOK || !strings.Contains(got.body, "input_tokens") {
		t.Errorf("count_tokens: %+v", got)
	}
	resp, err = l.client.Get(l.URL("p") + "/v1/models")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("models: %v, %v", resp, err)
	}
	resp.Body.Close()
	req, err := http.NewRequest(http.MethodGet, l.URL("p")+"/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Connection", "Upgrade")
	if resp, err = l.client.Do(req); err != nil || resp.StatusCode != http.StatusUpgradeRequired {
		t.Fatalf("websocket: %v, %v", resp, err)
	}
	resp.Body.Close()
	if got := l.post("/p/else", "{}"); got.code != http.StatusNotFound {
		t.Errorf("unknown path: %+v", got)
	}
	if got := l.post("/p/v1/messages", "no json"); got.code != http.StatusBadRequest {
		t.Errorf("no JSON: %+v", got)
	}
}

func TestRecordAndLog(t *testing.T) {
	var log bytes.Buffer
	var asked []string
	l := start(t, `rules: [{name: r, do: [{text: x}]}]`, modelsim.Options{
		Log: &log, Asked: func(r modelsim.Request) { asked = append(asked, r.Rule) },
	})
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(askClaude)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, l.URL("pre")+"/v1/messages?beta=true", &packed)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("User-Agent", "agent/1")
	req.Header.Set("X-Api-Key", "made-up")
	resp, err := l.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"r"}, asked); d != "" {
		t.Error(d)
	}
	got := l.Requests()[0]
	if got.API != modelsim.Anthropic || got.Prefix != "pre" || got.Path != "/pre/v1/messages" || got.UserAgent != "agent/1" || !got.Signed ||
		got.Model != "m-1" || !got.Stream || got.Status != 200 || got.Rule != "r" || got.Method != http.MethodPost {
		t.Errorf("record: %+v", got)
	}
	if d := cmp.Diff([]string{"Bash", "Read", "Write"}, got.Tools); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"please go"}, got.User); d != "" {
		t.Error(d)
	}
	line := decoded(t, log.String())
	if at(line, "rule") != "r" || at(line, "user", 0) != "please go" || strings.Contains(log.String(), "made-up") {
		t.Errorf("log: %s", log.String())
	}
}

func TestOnlyTheLoopbackIsServed(t *testing.T) {
	s, err := modelsim.Parse([]byte(`rules: [{do: [{text: x}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "nonsense"} {
		if server, err := modelsim.Start(s, modelsim.Options{Addr: addr}); err == nil {
			t.Errorf("%q is served", addr)
			server.Close()
		}
	}
}
