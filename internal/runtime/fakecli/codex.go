package fakecli

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/standin"
	"orchestrate/internal/runtime/standin/script"
)

var (
	//go:embed testdata/codex-help.txt
	codexHelp string
	//go:embed testdata/codex-exec-help.txt
	codexExecHelp string
	//go:embed testdata/codex-sandbox-help.txt
	codexSandboxHelp string
)

func (c *call) codex() int {
	switch {
	case c.begins("--version"), c.begins("-V"):
		return c.question("version", c.print("codex-cli 0.171.0"))
	case c.begins("exec", "--help"):
		return c.question("help", c.print(c.scenario.help(codexExecHelp)))
	case c.begins("sandbox", "--help"):
		return c.question("help", c.print(c.scenario.help(codexSandboxHelp)))
	case c.begins("--help"):
		return c.question("help", c.print(c.scenario.help(codexHelp)))
	case c.begins("login", "status"):
		return c.question("auth", c.codexAuth)
	case c.begins("debug", "models"):
		return c.question("models", c.codexModels)
	case c.begins("features", "list"):
		return c.question("features", c.print("hooks  stable  true\nplugins  stable  true\nremote_plugin  stable  true\napps  stable  true"))
	}
	return c.codexCommand()
}

// codexCommand finds the subcommand behind global options.
func (c *call) codexCommand() int {
	for _, a := range c.args {
		switch a {
		case "app-server":
			return c.question("models", c.appServer)
		case "exec":
			return c.codexExec()
		case "sandbox":
			return c.question("sandbox", c.codexSandbox)
		}
	}
	fmt.Fprintf(c.err, "error: the fake knows no %q\n", strings.Join(c.args, " "))
	return 2
}

func (c *call) codexAuth() int {
	if c.scenario.SignedOut {
		fmt.Fprintln(c.err, "Not logged in")
		return 1
	}
	fmt.Fprintln(c.err, "API key configured - ***\nAuthentication is checked when you send a request.")
	return 0
}

func (c *call) codexModels() int {
	models := []any{}
	for i, m := range c.scenario.Models {
		models = append(models, map[string]any{
			"slug": m.ID, "display_name": m.ID, "supported_reasoning_levels": efforts(m, "effort"),
			"visibility": "list", "supported_in_api": true, "priority": i,
		})
	}
	c.json(map[string]any{"models": models})
	return 0
}

func efforts(m Model, key string) []any {
	list := []any{}
	for _, e := range m.Efforts {
		list = append(list, map[string]any{key: e, "description": ""})
	}
	return list
}

// appServer answers the app-server protocol until its input ends.
func (c *call) appServer() int {
	lines := bufio.NewScanner(c.in)
	for lines.Scan() {
		var req struct {
			ID     *json.RawMessage `json:"id"`
			Method string           `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		if result := c.appServerResult(req.Method); result != nil {
			c.json(map[string]any{"id": req.ID, "result": result})
			continue
		}
		c.json(map[string]any{"id": req.ID, "error": map[string]any{"code": -32601, "message": "the fake knows no " + req.Method}})
	}
	return 0
}

func (c *call) appServerResult(method string) any {
	switch method {
	case "initialize":
		return map[string]any{"userAgent": "fake", "codexHome": filepath.Join(os.Getenv("HOME"), ".codex"), "platformOs": "linux"}
	case "model/list":
		data := []any{}
		for _, m := range c.scenario.Models {
			data = append(data, map[string]any{
				"id": m.ID, "model": m.ID, "displayName": m.ID, "hidden": false, "isDefault": m.ID == c.scenario.preset().ID,
				"supportedReasoningEfforts": efforts(m, "reasoningEffort"),
			})
		}
		return map[string]any{"data": data, "nextCursor": nil}
	case "account/read":
		if c.scenario.SignedOut {
			return map[string]any{"account": nil, "requiresOpenaiAuth": true}
		}
		return map[string]any{"account": map[string]any{"type": "apiKey"}, "requiresOpenaiAuth": true}
	case "config/read":
		return map[string]any{"config": map[string]any{"model": nil, "model_provider": nil}}
	}
	return nil
}

// codexExec plays one prompt as a stream of codex's events.
func (c *call) codexExec() int {
	if flag := c.unknown(c.scenario.help(codexExecHelp)); flag != "" {
		fmt.Fprintf(c.err, "error: unexpected argument '%s' found\n\nUsage: codex exec [OPTIONS] [PROMPT]\n", flag)
		return 2
	}
	prompt, err := io.ReadAll(c.in)
	if err != nil || len(prompt) == 0 {
		fmt.Fprintln(c.err, "No prompt provided via stdin.")
		return 1
	}
	id := c.resumes()
	told, err := c.converse(".codex", id, "01a228d8-0000-7000-8000-000000000001", string(prompt))
	switch {
	case errors.Is(err, errNoSession):
		fmt.Fprintf(c.err, "Error: thread/resume: thread/resume failed: no rollout found for thread id %s\n", id)
		return 1
	case err != nil:
		fmt.Fprintln(c.err, err)
		return 1
	}
	run := c.scenario.run(string(prompt), told)
	if run.Broken != "" {
		fmt.Fprintln(c.err, run.Broken)
		return 1
	}
	s := &codexStream{call: c, turns: told.turns()}
	c.json(map[string]any{"type": "thread.started", "thread_id": told.ID})
	c.json(map[string]any{"type": "turn.started"})
	exit, err := script.Play(run.Steps, script.Stage{Prompt: string(prompt), Out: os.Getenv("ORCHESTRATE_OUT"), Emit: s.emit, Stderr: c.err})
	if err != nil {
		fmt.Fprintf(c.err, "fakecli: %v\n", err)
	}
	return exit
}

// resumes is the id behind `resume`, "" = a fresh thread.
func (c *call) resumes() string {
	if i := slices.Index(c.args, "resume"); i >= 0 && i+1 < len(c.args) {
		return c.args[i+1]
	}
	return ""
}

// codexStream says the stand-in's lines in codex's form. Codex tells no model.
type codexStream struct {
	*call
	items int
	tool  standin.Line
	usage *runtime.Usage
	turns int64 // of the thread: usage is counted over all of them
}

func (s *codexStream) emit(l standin.Line) error {
	switch l.Kind {
	case runtime.EventUsage:
		s.usage = l.Usage
	case runtime.EventText, runtime.EventAnswer:
		s.item("item.completed", map[string]any{"type": "agent_message", "text": l.Text})
		s.items++
	case runtime.EventToolCall:
		s.tool = l
		s.item("item.started", toolItem(l, "in_progress"))
	case runtime.EventToolDone:
		s.item("item.completed", toolItem(s.tool, "completed"))
		s.items++
	case runtime.EventDenied:
		fmt.Fprintf(s.err, "2026-01-01T00:00:00.000000Z ERROR codex_core::tools::router: error=patch rejected: %s\n", l.Text)
	case runtime.EventComplete:
		s.completed()
	case runtime.EventFailed:
		s.failed(l)
	}
	return nil
}

func (s *codexStream) item(kind string, item map[string]any) {
	item["id"] = fmt.Sprintf("item_%d", s.items)
	s.json(map[string]any{"type": kind, "item": item})
}

func toolItem(l standin.Line, status string) map[string]any {
	switch l.Tool {
	case "Write", "Edit", "Delete":
		return map[string]any{"type": "file_change", "status": status, "changes": []any{map[string]any{"path": l.Text, "kind": "update"}}}
	}
	item := map[string]any{"type": "command_execution", "command": l.Text, "aggregated_output": "", "exit_code": nil, "status": status}
	if status == "completed" {
		item["exit_code"] = 0
	}
	return item
}

func (s *codexStream) completed() {
	in, out := s.turns, s.turns
	if s.usage != nil && s.usage.InputTokens != nil && s.usage.OutputTokens != nil {
		in, out = in**s.usage.InputTokens, out**s.usage.OutputTokens
	}
	usage := map[string]any{"input_tokens": in, "cached_input_tokens": 0, "output_tokens": out}
	s.json(map[string]any{"type": "turn.completed", "usage": usage})
}

func (s *codexStream) failed(l standin.Line) {
	message := l.Text
	switch l.Reason {
	case runtime.ReasonAuth:
		message = "unexpected status 401 Unauthorized: " + l.Text
		s.json(map[string]any{"type": "error", "message": "Reconnecting... 1/5 (" + message + ")"})
	case runtime.ReasonRateLimit:
		message = "exceeded retry limit, last status: 429 Too Many Requests: " + l.Text
	case runtime.ReasonUnknownModel:
		message = "unexpected status 404 Not Found: " + l.Text
	}
	s.json(map[string]any{"type": "error", "message": message})
	s.json(map[string]any{"type": "turn.failed", "error": map[string]any{"message": message}})
}
