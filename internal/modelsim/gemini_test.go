package modelsim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/modelsim"
)

const (
	geminiPath   = "/v1beta/models/m-4:generateContent"
	geminiEvents = "/v1beta/models/m-4:streamGenerateContent?alt=sse"
	geminiArray  = "/v1beta/models/m-4:streamGenerateContent"
	askGemini    = `{"contents":[{"role":"user","parts":[{"text":"- **Workspace Directories:**\n  - /w/tree\n- more"}]},{"role":"user","parts":[{"text":"please go"}]}],
		"tools":[{"functionDeclarations":[
			{"name":"write_file","parametersJsonSchema":{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}}}},
			{"name":"run_shell_command","parameters":{"type":"OBJECT","properties":{"command":{"type":"STRING"},"is_background":{"type":"BOOLEAN"}}}}]}]}`
)

// parts are what a client finds in the parts of an answer, and how it ended.
func parts(t *testing.T, list []map[string]any) (text string, calls []any, finish any) {
	t.Helper()
	for i, r := range list {
		if finish != nil {
			t.Errorf("part %d comes after the end", i)
		}
		for _, part := range at(r, "candidates", 0, "content", "parts").([]any) {
			if said, ok := at(part, "text").(string); ok {
				text += said
			}
			if call := at(part, "functionCall"); call != nil {
				calls = append(calls, call)
			}
		}
		finish = at(r, "candidates", 0, "finishReason")
		if at(r, "candidates", 0, "content", "role") != "model" || at(r, "responseId") != at(list[0], "responseId") {
			t.Errorf("part: %v", r)
		}
	}
	return text, calls, finish
}

// asked posts the request and gives the parts of the answer, however it comes.
func (l *lab) asked(path, body string) []map[string]any {
	l.t.Helper()
	got := l.post(path, body)
	kind := got.header.Get("Content-Type")
	switch {
	case strings.HasSuffix(path, "alt=sse"):
		if kind != "text/event-stream" {
			l.t.Errorf("%s: content type %q", path, kind)
		}
		return got.events(l.t)
	case kind != "application/json":
		l.t.Errorf("%s: content type %q", path, kind)
	}
	var list []map[string]any
	text := got.body
	if !strings.Contains(path, "stream") {
		text = "[" + text + "]"
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		l.t.Fatalf("%v in %q", err, text)
	}
	return list
}

func TestGeminiAnswersInThreeWays(t *testing.T) {
	l := start(t, `
rules:
  - {turn: 0, answers: other, usage: {input: 7, output: 3}, do: [{text: "two words"}, {write: {path: a.txt, content: "x\n"}}, {shell: ls}]}
  - {turn: 1, do: [{text: "it said {{tool_result}}"}]}
`, modelsim.Options{})
	later := strings.Replace(askGemini, `}],
		"tools"`, `},{"role":"model","parts":[{"functionCall":{"name":"write_file","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"write_file","response":{"output":"line \"one\""}}}]}],"tools"`, 1)
	for path, n := range map[string]int{geminiPath: 1, geminiEvents: 5, geminiArray: 5} {
		list := l.asked(path, askGemini)
		text, calls, finish := parts(t, list)
		want := []any{
			map[string]any{"name": "write_file", "args": map[string]any{"file_path": "/w/tree/a.txt", "content": "x\n"}},
			map[string]any{"name": "run_shell_command", "args": map[string]any{"command": "ls", "is_background": false}},
		}
		if d := cmp.Diff(want, calls); d != "" || text != "two words" || finish != "STOP" || len(list) != n {
			t.Errorf("%s: %d parts, text %q, end %v, calls (-want +got):\n%s", path, len(list), text, finish, d)
		}
		used := map[string]any{"promptTokenCount": 7.0, "candidatesTokenCount": 3.0, "totalTokenCount": 10.0}
		last := list[len(list)-1]
		if d := cmp.Diff(used, at(last, "usageMetadata")); d != "" || at(last, "modelVersion") != "other" {
			t.Errorf("%s: %v", path, last)
		}
		if text, calls, _ := parts(t, l.asked(path, later)); text != `it said line "one"` || calls != nil {
			t.Errorf("%s after the calls: %q %v", path, text, calls)
		}
	}
}

// What an agent asks beside its work is told apart by what it asks for.
func TestRulesSeeToolsAndDemandsForJSON(t *testing.T) {
	l := start(t, `
rules:
  - {json: true, do: [{text: '{"choice":1}'}]}
  - {tools: false, do: [{text: title}]}
  - {tools: true, json: false, do: [{text: work}]}
`, modelsim.Options{})
	const without = `"contents":[{"role":"user","parts":[{"text":"x"}]}]`
	for _, c := range [][3]string{
		{geminiPath, `{` + without + `,"generationConfig":{"responseMimeType":"application/json"}}`, `{\"choice\":1}`},
		{geminiPath, `{` + without + `,"generationConfig":{"responseJsonSchema":{}}}`, `{\"choice\":1}`},
		{geminiPath, `{` + without + `}`, "title"},
		{geminiPath, askGemini, "work"},
		{chatPath, `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`, `{\"choice\":1}`},
		{chatPath, `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"text"}}`, "title"},
		{"/v1/responses", `{"input":[],"text":{"format":{"type":"json_schema"}}}`, `{\"choice\":1}`},
		{"/v1/responses", `{"input":[],"text":{"format":{"type":"text"}}}`, "title"},
		{"/v1/messages", `{"messages":[],"output_config":{"format":{"type":"json_schema"}}}`, `{\"choice\":1}`},
		{"/v1/messages", strings.Replace(askClaude, `"stream":true`, `"stream":false`, 1), "work"},
	} {
		if got := l.post(c[0], c[1]); got.code != http.StatusOK || !strings.Contains(got.body, `"`+c[2]+`"`) {
			t.Errorf("%s %s: %d %s", c[0], c[1], got.code, got.body)
		}
	}
}

func TestGeminiIsCutAndRecorded(t *testing.T) {
	l := start(t, `rules: [{do: [{text: "first part"}, {cut: true}]}]`, modelsim.Options{})
	for _, path := range []string{geminiEvents, geminiArray} {
		got := l.post("/p"+path, askGemini)
		if got.err == nil || !strings.Contains(got.body, "first ") || strings.Contains(got.body, "STOP") || strings.HasSuffix(got.body, "]") {
			t.Errorf("%s: error %v, body %q", path, got.err, got.body)
		}
	}
	r := l.Requests()[0]
	if r.API != modelsim.Gemini || r.Model != "m-4" || !r.Stream || r.Prefix != "p" || r.Signed {
		t.Errorf("record: %+v", r)
	}
	if d := cmp.Diff([]string{"run_shell_command", "write_file"}, r.Tools); d != "" || r.User[1] != "please go" {
		t.Errorf("%v %s", r.User, d)
	}
	if got := l.post(geminiPath, "no json"); got.code != http.StatusBadRequest || at(decoded(t, got.body), "error", "status") != "INVALID_ARGUMENT" {
		t.Errorf("no JSON: %+v", got)
	}
	if got := l.post("/v1beta/models/m-4:countTokens", askGemini); got.code != http.StatusOK || !strings.Contains(got.body, `"totalTokens":`) {
		t.Errorf("count: %+v", got)
	}
}

// A tool that is given plain text has to have it in an object here.
func TestGeminiTakesPlainTextInAnObject(t *testing.T) {
	l := start(t, `rules: [{do: [{tool: {names: [any], raw: "plain {{cwd}}", force: true}}]}]`, modelsim.Options{})
	_, calls, _ := parts(t, l.asked(geminiPath, askGemini))
	if d := cmp.Diff([]any{map[string]any{"name": "any", "args": map[string]any{"input": "plain /w/tree"}}}, calls); d != "" {
		t.Error(d)
	}
}
