package modelsim_test

import (
	"encoding/json"
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
  - {prefix: server, do: [{tool: {names: [mcp__o__start], input: {run: "{{nonce N}}"}}}]}
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
		{"a server's tool", "/server/v1/messages", claude(`[{"name":"mcp__o__start"}]`), []string{`"name":"mcp__o__start"`, `"run":"n-1"`}},
		{"a server's tool in code", "/server/v1/responses", codex(inSpace("functions")), []string{`"name":"exec"`, `await tools.mcp__o__start({\"run\":\"n-1\"})`}},
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
		{"/server/v1/messages", claude(`[{"name":"Read"}]`)},
		{"/write/v1/responses", codex(`[{"type":"function","name":"Read"}]`)},
	} {
		if got := l.post(c[0], c[1]); got.code != http.StatusBadRequest || !strings.Contains(got.body, "it offers: Read") {
			t.Errorf("%s without the tool: %d %s", c[0], got.code, got.body)
		}
	}
}

// Where a request describes its tools, their own names of fields are used.
func TestToolCallsFollowTheSchemas(t *testing.T) {
	l := start(t, `
rules:
  - {prefix: write, do: [{write: {path: a.txt, content: "x\n"}}]}
  - {prefix: read, do: [{read: a.txt}]}
  - {prefix: shell, do: [{shell: ls}]}
`, modelsim.Options{})
	// ask offers one tool with fields that are written NAME or NAME:TYPE.
	ask := func(path, name string, fields ...string) string {
		t.Helper()
		properties := map[string]any{}
		for _, field := range fields {
			name, kind, ok := strings.Cut(field, ":")
			if !ok {
				kind = "string"
			}
			properties[name] = map[string]any{"type": kind}
		}
		properties["odd"] = true // a schema may be this, too
		tool := map[string]any{"name": name, "parameters": map[string]any{"type": "object", "properties": properties}}
		body, err := json.Marshal(map[string]any{
			"model": "m", "tools": []any{map[string]any{"type": "function", "function": tool}},
			"messages": []any{map[string]any{"role": "system", "content": "Current working directory: /w"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := decoded(t, l.post("/"+path+chatPath, string(body)).body)
		call := at(got, "choices", 0, "message", "tool_calls", 0, "function")
		if at(call, "name") != name {
			t.Fatalf("%s with %s: %v", path, name, got)
		}
		arguments, _ := at(call, "arguments").(string)
		return arguments
	}
	for _, c := range []struct{ got, want string }{
		{ask("write", "write", "filePath", "content"), `{"content":"x\n","filePath":"/w/a.txt"}`},
		{ask("write", "write", "path", "content"), `{"content":"x\n","path":"/w/a.txt"}`},
		{ask("write", "create", "path", "file_text"), `{"file_text":"x\n","path":"/w/a.txt"}`},
		{ask("write", "write_file", "file_path", "contents"), `{"contents":"x\n","file_path":"/w/a.txt"}`},
		{ask("write", "create", "other"), `{"file_text":"x\n","path":"/w/a.txt"}`},
		{ask("write", "bash", "command"), `{"command":"printf %s 'x\n' \u003e 'a.txt'"}`},
		{ask("read", "read", "filePath", "limit:integer"), `{"filePath":"/w/a.txt"}`},
		{ask("read", "read_file", "absolute_path"), `{"absolute_path":"/w/a.txt"}`},
		{ask("read", "view", "path", "description"), `{"description":"as the scenario says","path":"/w/a.txt"}`},
		{ask("read", "run_shell_command", "command"), `{"command":"cat 'a.txt'"}`},
		{ask("shell", "bash", "command", "description"), `{"command":"ls","description":"as the scenario says"}`},
		{ask("shell", "run_shell_command", "command", "is_background:boolean"), `{"command":"ls","is_background":false}`},
		{ask("shell", "run_commands", "commands:array"), `{"commands":["ls"]}`},
		{ask("shell", "shell", "command:array"), `{"command":["bash","-lc","ls"]}`},
		{ask("shell", "shell", "command"), `{"command":"ls"}`},
	} {
		if c.got != c.want {
			t.Errorf("called with %s, want %s", c.got, c.want)
		}
	}
}

// Agents say in different words where they work.
func TestTheWorkingFolderIsFound(t *testing.T) {
	l := start(t, `rules: [{do: [{text: "{{cwd}}"}]}]`, modelsim.Options{})
	for _, words := range []string{
		"Primary working directory: /w/tree\nmore", "<env>\n  Working directory: /w/tree\n", "Current Working Directory: /w/tree",
		"<cwd>/w/tree</cwd>", "- **Workspace Directories:**\n  - /w/tree\n  - /other", "I'm currently working in the directory: /w/tree\n",
	} {
		body, err := json.Marshal(map[string]any{"messages": []any{map[string]any{"role": "user", "content": words}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := at(decoded(t, l.post(chatPath, string(body)).body), "choices", 0, "message", "content"); got != "/w/tree" {
			t.Errorf("%q: %q", words, got)
		}
	}
}
