package modelsim_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/modelsim"
)

const (
	chatPath = "/v1/chat/completions"
	askChat  = `{"model":"m-3","stream":true,"stream_options":{"include_usage":true},"messages":[
		{"role":"system","content":"Working directory: /w/tree\n"},{"role":"user","content":[{"type":"text","text":"please go"}]}],
		"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}}}}}]}`
)

// chatted is what a client puts together from the parts of a stream.
type chatted struct {
	text, finish    string
	name, arguments string
	usage           any
}

func gather(t *testing.T, got said) (out chatted) {
	t.Helper()
	stream, ended := strings.CutSuffix(got.body, "data: [DONE]\n\n")
	if !ended || strings.Contains(got.body, "event:") {
		t.Errorf("the stream: %q", got.body)
	}
	ids := map[any]bool{}
	for _, e := range (said{body: stream}).events(t) {
		ids[at(e, "id")] = true
		if at(e, "object") != "chat.completion.chunk" {
			t.Errorf("part: %v", e)
		}
		add := func(to *string, path ...any) {
			text, _ := at(e, path...).(string)
			*to += text
		}
		add(&out.text, "choices", 0, "delta", "content")
		add(&out.finish, "choices", 0, "finish_reason")
		add(&out.name, "choices", 0, "delta", "tool_calls", 0, "function", "name")
		add(&out.arguments, "choices", 0, "delta", "tool_calls", 0, "function", "arguments")
		if usage := at(e, "usage"); usage != nil {
			out.usage = usage
		}
	}
	if len(ids) != 1 {
		t.Errorf("the parts of one answer have the ids %v", ids)
	}
	return out
}

func TestChatIsStreamed(t *testing.T) {
	l := start(t, `rules: [{answers: other, usage: {input: 7, output: 3}, do: [{text: "two words"}]}]`, modelsim.Options{})
	got := l.post(chatPath, askChat)
	if kind := got.header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("content type %q", kind)
	}
	used := map[string]any{"prompt_tokens": 7.0, "completion_tokens": 3.0, "total_tokens": 10.0}
	want := chatted{text: "two words", finish: "stop", usage: used}
	if d := cmp.Diff(want, gather(t, got), cmp.AllowUnexported(chatted{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Who does not ask for the usage of a stream never learns it.
func TestChatTellsItsUsageToWhoAsks(t *testing.T) {
	l := start(t, `rules: [{do: [{text: x}]}]`, modelsim.Options{})
	got := gather(t, l.post(chatPath, strings.Replace(askChat, `"include_usage":true`, `"include_usage":false`, 1)))
	if got.usage != nil || got.text != "x" {
		t.Errorf("%+v", got)
	}
}

func TestChatCallsATool(t *testing.T) {
	l := start(t, `rules: [{turn: 0, do: [{text: "first "}, {shell: "echo 'x'"}]}, {turn: 1, do: [{text: "it said {{tool_result}}"}]}]`, modelsim.Options{})
	got := gather(t, l.post(chatPath, askChat))
	if got.name != "bash" || got.finish != "tool_calls" || got.text != "first " ||
		at(decoded(t, got.arguments), "command") != "echo 'x'" || at(decoded(t, got.arguments), "description") == nil {
		t.Errorf("%+v", got)
	}
	later := strings.Replace(askChat, `}],
		"tools"`, `},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c","content":"line \"one\""}],"tools"`, 1)
	if got := gather(t, l.post(chatPath, later)); got.text != `it said line "one"` || got.finish != "stop" {
		t.Errorf("after the call: %+v", got)
	}
}

func TestChatIsAnsweredWhole(t *testing.T) {
	l := start(t, `rules: [{prefix: text, do: [{text: "two words"}]}, {do: [{shell: a}, {tool: {names: [take], raw: plain}}]}]`, modelsim.Options{})
	ask := strings.Replace(askChat, `"stream":true`, `"stream":false`, 1)
	text := decoded(t, l.post("/text"+chatPath, ask).body)
	if at(text, "object") != "chat.completion" || at(text, "choices", 0, "message", "content") != "two words" ||
		at(text, "choices", 0, "finish_reason") != "stop" || at(text, "usage", "total_tokens") != 105.0 || at(text, "model") != "m-3" {
		t.Errorf("text: %v", text)
	}
	calls := decoded(t, l.post(chatPath, strings.Replace(ask, `"tools":[`, `"tools":[{"type":"custom","custom":{"name":"take"}},`, 1)).body)
	message := at(calls, "choices", 0, "message")
	if at(message, "content") != nil || at(message, "tool_calls", 0, "function", "name") != "bash" || at(calls, "choices", 0, "finish_reason") != "tool_calls" ||
		at(message, "tool_calls", 1, "type") != "custom" || at(message, "tool_calls", 1, "custom", "input") != "plain" {
		t.Errorf("calls: %v", calls)
	}
	if at(message, "tool_calls", 0, "id") == at(message, "tool_calls", 1, "id") {
		t.Errorf("two calls have one id: %v", message)
	}
}

func TestChatIsCutAndRecorded(t *testing.T) {
	l := start(t, `rules: [{name: r, do: [{text: "first part"}, {cut: true}]}]`, modelsim.Options{})
	got := l.post("/p"+chatPath, askChat)
	if got.err == nil || !strings.Contains(got.body, "first ") || strings.Contains(got.body, "[DONE]") || strings.Contains(got.body, `"stop"`) {
		t.Errorf("error %v, body %q", got.err, got.body)
	}
	r := l.Requests()[0]
	if r.API != modelsim.OpenAIChat || r.Model != "m-3" || !r.Stream || r.Prefix != "p" || r.Rule != "r" || r.JSON {
		t.Errorf("record: %+v", r)
	}
	if d := cmp.Diff([][]string{{"please go"}, {"bash"}}, [][]string{r.User, r.Tools}); d != "" {
		t.Error(d)
	}
	if got := l.post(chatPath, "no json"); got.code != http.StatusBadRequest || !strings.Contains(got.body, "chat completions") {
		t.Errorf("no JSON: %+v", got)
	}
}
