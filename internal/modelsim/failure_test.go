package modelsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/modelsim"
)

func TestChatAndGeminiFailInTheirWords(t *testing.T) {
	l := start(t, `
rules:
  - {prefix: r400, do: [{status: {code: 400}}]}
  - {prefix: r401, do: [{status: {code: 401}}]}
  - {prefix: r403, do: [{status: {code: 403}}]}
  - {prefix: r404, do: [{status: {code: 404}}]}
  - {prefix: r429, do: [{status: {code: 429, retry_after: 2}}]}
  - {prefix: r500, do: [{status: {code: 500}}]}
  - {prefix: r503, do: [{status: {code: 503}}]}
`, modelsim.Options{})
	for _, c := range []struct {
		prefix       string
		code         int
		kind         string
		word         any
		gemini, says string
	}{
		{"r400", 400, "invalid_request_error", nil, "INVALID_ARGUMENT", "Invalid request"},
		{"r401", 401, "invalid_request_error", "invalid_api_key", "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."},
		{"r403", 403, "invalid_request_error", "forbidden", "PERMISSION_DENIED", "The caller does not have permission"},
		{"r404", 404, "invalid_request_error", "model_not_found", "NOT_FOUND", "models/m-4 is not found for API version v1beta, or is not supported for generateContent."},
		{"r429", 429, "rate_limit_exceeded", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
		{"r500", 500, "server_error", nil, "INTERNAL", "An internal error has occurred."},
		{"r503", 503, "server_error", nil, "UNAVAILABLE", "The model is overloaded."},
	} {
		chat, gemini := l.post("/"+c.prefix+chatPath, askChat), l.post("/"+c.prefix+geminiEvents, askGemini)
		body := decoded(t, chat.body)
		if chat.code != c.code || at(body, "error", "type") != c.kind || at(body, "error", "code") != c.word {
			t.Errorf("%s: %d %s", c.prefix, chat.code, chat.body)
		}
		body = decoded(t, gemini.body)
		if gemini.code != c.code || at(body, "error", "code") != float64(c.code) || at(body, "error", "status") != c.gemini || at(body, "error", "message") != c.says {
			t.Errorf("%s: %d %s", c.prefix, gemini.code, gemini.body)
		}
		after, delay := "", any(nil)
		if c.code == 429 {
			after, delay = "2", "2s"
		}
		if chat.header.Get("Retry-After") != after || gemini.header.Get("Retry-After") != after || at(body, "error", "details", 0, "retryDelay") != delay {
			t.Errorf("%s: when to try again: %q, %q, %s", c.prefix, chat.header.Get("Retry-After"), gemini.header.Get("Retry-After"), gemini.body)
		}
	}
}

// Limits of subscriptions, unknown keys and the like have words of their own.
func TestAScenarioGivesAnErrorItsWords(t *testing.T) {
	l := start(t, `
rules:
  - prefix: plan
    do: [{status: {code: 429, type: usage_limit_reached, message: "The limit of {{cwd}} has been reached", fields: {plan_type: plus, resets_in_seconds: 90}}}]
  - prefix: quota
    do: [{status: {code: 429, type: insufficient_quota, message: spent, fields: {code: insufficient_quota}}}]
  - prefix: key
    do: [{status: {code: 400, message: bad key, fields: {details: [{"@type": type.googleapis.com/google.rpc.ErrorInfo, reason: API_KEY_INVALID}]}}}]
  - prefix: window
    do: [{status: {code: 429, headers: {anthropic-ratelimit-unified-status: rejected, x-of: "{{nonce N}}"}}}]
`, modelsim.Options{Nonces: map[string]string{"N": "n-1"}})
	for _, c := range []struct{ path, ask, want string }{
		{"/plan/v1/responses", askCodex, `{"error":{"message":"The limit of  has been reached","plan_type":"plus","resets_in_seconds":90,"type":"usage_limit_reached"}}`},
		{"/quota" + chatPath, askChat, `{"error":{"code":"insufficient_quota","message":"spent","type":"insufficient_quota"}}`},
		{"/quota/v1/messages", askClaude, `{"error":{"code":"insufficient_quota","message":"spent","type":"insufficient_quota"},"request_id":"req_sim","type":"error"}`},
		{"/key" + geminiPath, askGemini, `{"error":{"code":400,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}],"message":"bad key","status":"INVALID_ARGUMENT"}}`},
	} {
		if d := cmp.Diff(c.want, l.post(c.path, c.ask).body); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, d)
		}
	}
	got := l.post("/window/v1/messages", askClaude)
	if got.header.Get("Anthropic-Ratelimit-Unified-Status") != "rejected" || got.header.Get("X-Of") != "n-1" || got.code != 429 {
		t.Errorf("%d %v", got.code, got.header)
	}
}

// Some services say when a limit ends as a time of day, which no scenario can know.
func TestAScenarioSaysWhenALimitEnds(t *testing.T) {
	l := start(t, `
rules:
  - do: [{status: {code: 429, type: usage_limit_reached, message: "until {{in 1h}}", headers: {x-reset: "{{in 1h}}"},
      fields: {resets_at: "{{in 90m}}", odd: "{{in bed}}"}}}]
`, modelsim.Options{})
	before := time.Now()
	got := l.post("/v1/responses", askCodex)
	body := decoded(t, got.body)
	at90, _ := at(body, "error", "resets_at").(float64)
	if wait := time.Unix(int64(at90), 0).Sub(before); wait < 89*time.Minute || wait > 95*time.Minute {
		t.Errorf("it ends after %v: %s", wait, got.body)
	}
	said, _ := at(body, "error", "message").(string)
	if reset := got.header.Get("X-Reset"); len(reset) != 10 || !strings.HasPrefix(said, "until 1") || at(body, "error", "odd") != "{{in bed}}" {
		t.Errorf("header %q, body %s", reset, got.body)
	}
}
