package modelsim_test

import (
	"net/http"
	"strings"
	"testing"

	"orchestrate/internal/modelsim"
)

// Each agent offers its tools in its own way; a step is played with what there is.
func TestToolCallsUseWhatIsOffered(t *testing.T) {
	l := start(t, `
rules:
  - {prefix: write, do: [{write: {path: "a b.txt", content: "one {{nonce N}}\ntwo\n"}}]}
  - {prefix: read, do: [{read: notes.txt}]}
  - {prefix: shell, do: [{shell: "echo 'x'"}]}
  - {prefix: tool, do: [{text: look}, {tool: {names: [Missing, Grep], input: {pattern: "{{nonce N}}", list: ["{{cwd}}", 1]}}}]}
  - {prefix: forced, do: [{tool: {names: [Absent], force: true}}]}
`, modelsim.Options{Nonces: map[string]string{"N": "n-1"}})
	claude := func(tools string) string {
		return `{"model":"m","system":[{"type":"text","text":"Primary working directory: /w/tree\nmore"}],"messages":[{"role":"user","content":"go"}],"tools":` + tools + `}`
	}
	codex := func(tools string) string {
		return `{"model":"m","input":[{"type":"additional_tools","tools":` + tools + `},{"role":"user","content":"go"}]}`
	}
	inSpace := func(space string) string {
		return `[{"type":"namespace","name":"` + space + `","tools":[{"type":"custom","name":"exec"}]}]`
	}
	const all = `[{"name":"Read"},{"name":"Write"},{"name":"Bash"},{"name":"Grep"}]`
	cases := []struct {
		name, path, body string
		want             []string // parts of the answer
	}{
		{"claude writes", "/write/v1/messages", claude(all), []string{`"name":"Write"`, `"file_path":"/w/tree/a b.txt"`, `"content":"one n-1\ntwo\n"`, `"stop_reason":"tool_use"`}},
		{"claude writes by shell", "/write/v1/messages", claude(`[{"name":"Bash"}]`), []string{`"name":"Bash"`, `printf %s 'one n-1\ntwo\n' \u003e 'a b.txt'`}},
		{"claude reads", "/read/v1/messages", claude(all), []string{`"name":"Read"`, `"file_path":"/w/tree/notes.txt"`}},
		{"claude's shell", "/shell/v1/messages", claude(all), []string{`"name":"Bash"`, `"command":"echo 'x'"`}},
		{"by name", "/tool/v1/messages", claude(all), []string{`"text":"look"`, `"name":"Grep"`, `"pattern":"n-1"`, `"list":["/w/tree",1]`}},
		{"forced", "/forced/v1/messages", claude(all), []string{`"name":"Absent"`}},
		{"codex writes by patch", "/write/v1/responses", codex(`[{"type":"custom","name":"apply_patch"}]`), []string{`"type":"custom_tool_call"`, `*** Add File: a b.txt\n+one n-1\n+two\n*** End Patch`}},
		{"codex writes by function", "/write/v1/responses", codex(`[{"type":"function","name":"apply_patch"}]`), []string{`"type":"function_call"`, `Add File: a b.txt`}},
		{"codex writes in code", "/write/v1/responses", codex(inSpace("functions")), []string{`"name":"exec"`, `await tools.apply_patch(`, `Add File: a b.txt`}},
		{"codex reads", "/read/v1/responses", codex(`[{"type":"function","name":"exec_command"}]`), []string{`"name":"exec_command"`, `cat 'notes.txt'`}},
		{"codex's shell in code", "/shell/v1/responses", codex(inSpace("other")), []string{`await tools.exec_command({\"cmd\":\"echo 'x'\"})`, `"namespace":"other"`}},
		{"codex's old shell", "/shell/v1/responses", codex(`[{"type":"shell"}]`), []string{`"name":"shell"`, `bash`}},
		{"codex's shell command", "/shell/v1/responses", codex(`[{"type":"function","name":"shell_command"}]`), []string{`"name":"shell_command"`}},
	}
	for _, c := range cases {
		got := l.post(c.path, c.body)
		for _, want := range c.want {
			if got.code != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d, %q is not in %s", c.name, got.code, want, got.body)
			}
		}
	}
	for _, c := range [][2]string{
		{"/write/v1/messages", claude(`[{"name":"Read"}]`)},
		{"/tool/v1/messages", claude(`[{"name":"Read"}]`)},
		{"/write/v1/responses", codex(`[{"type":"function","name":"Read"}]`)},
	} {
		if got := l.post(c[0], c[1]); got.code != http.StatusBadRequest || !strings.Contains(got.body, "it offers: Read") {
			t.Errorf("%s without the tool: %d %s", c[0], got.code, got.body)
		}
	}
}
