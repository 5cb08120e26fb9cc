package fakecli

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/standin"
	"orchestrate/internal/runtime/standin/script"
)

//go:embed testdata/claude-help.txt
var claudeHelp string

func (c *call) claude() int {
	help := c.scenario.help(claudeHelp)
	switch {
	case c.has("--version") || c.has("-v"):
		return c.question("version", c.print("2.1.197 (Claude Code)"))
	case c.has("--help") || c.has("-h"):
		return c.question("help", c.print(help))
	case c.begins("auth", "status"):
		return c.question("auth", c.claudeAuth)
	}
	if flag := c.unknown(help); flag != "" {
		fmt.Fprintf(c.err, "error: unknown option '%s'\n", flag)
		return 1
	}
	if format, _ := c.value("--input-format"); format == "stream-json" {
		return c.question("models", c.claudeControl)
	}
	return c.claudeRun()
}

func (c *call) claudeAuth() int {
	if c.scenario.SignedOut {
		c.json(map[string]any{"loggedIn": false, "authMethod": "none", "apiProvider": "firstParty"})
		return 1
	}
	c.json(map[string]any{"loggedIn": true, "authMethod": "api_key", "apiProvider": "firstParty", "apiKeySource": "ANTHROPIC_API_KEY"})
	return 0
}

// claudeControl answers control requests until its input ends.
func (c *call) claudeControl() int {
	lines := bufio.NewScanner(c.in)
	for lines.Scan() {
		var req struct {
			Type    string `json:"type"`
			ID      string `json:"request_id"`
			Request struct {
				Subtype string `json:"subtype"`
			} `json:"request"`
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.Type != "control_request" || req.Request.Subtype != "initialize" {
			continue
		}
		c.json(map[string]any{"type": "control_response", "response": map[string]any{
			"subtype": "success", "request_id": req.ID, "response": c.claudeLists(),
		}})
	}
	return 0
}

func (c *call) claudeLists() map[string]any {
	models, agents := []any{}, []any{}
	for _, m := range append([]Model{{ID: "default", Resolved: c.scenario.resolved(""), Efforts: c.scenario.preset().Efforts}}, c.scenario.Models...) {
		entry := map[string]any{"value": m.ID, "resolvedModel": c.scenario.resolved(m.ID), "displayName": m.ID, "description": ""}
		if m.ID == "default" {
			entry["resolvedModel"] = m.Resolved
		}
		if len(m.Efforts) > 0 {
			entry["supportsEffort"], entry["supportedEffortLevels"] = true, m.Efforts
		}
		models = append(models, entry)
	}
	for _, a := range c.scenario.Agents {
		agents = append(agents, map[string]any{"name": a, "description": "an agent of the fake"})
	}
	account := map[string]any{"tokenSource": "none", "apiProvider": "firstParty"}
	if !c.scenario.SignedOut {
		account["apiKeySource"] = "ANTHROPIC_API_KEY"
	}
	return map[string]any{"commands": []any{}, "agents": agents, "output_style": "default", "models": models, "account": account, "pid": os.Getpid()}
}

// claudeRun plays one prompt as a stream of claude's events.
func (c *call) claudeRun() int {
	prompt, err := io.ReadAll(c.in)
	if err != nil || len(prompt) == 0 {
		fmt.Fprintln(c.err, "Error: Input must be provided either through stdin or as a prompt argument when using --print")
		return 1
	}
	id, _ := c.value("--resume")
	told, err := c.converse(".claude", id, "11111111-2222-4333-8444-555555555555", string(prompt))
	switch {
	case errors.Is(err, errNoSession):
		fmt.Fprintf(c.err, "No conversation found with session ID: %s\n", id)
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
	asked, _ := c.value("--model")
	s := &claudeStream{call: c, session: told.ID, model: c.scenario.resolved(asked)}
	if id, ok := c.value("--session-id"); ok {
		s.session = id
	}
	mode, _ := c.value("--permission-mode")
	tools, _ := c.value("--tools")
	s.event(map[string]any{
		"type": "system", "subtype": "init", "cwd": workingFolder(), "model": s.model, "permissionMode": mode,
		"tools": strings.Split(tools, ","), "mcp_servers": []any{}, "apiKeySource": "ANTHROPIC_API_KEY", "agents": c.scenario.Agents,
	})
	exit, err := script.Play(run.Steps, script.Stage{Prompt: string(prompt), Out: os.Getenv("ORCHESTRATE_OUT"), Emit: s.emit, Stderr: c.err})
	if err != nil {
		fmt.Fprintf(c.err, "fakecli: %v\n", err)
	}
	return exit
}

// claudeStream says the stand-in's lines in claude's form.
type claudeStream struct {
	*call
	session, model string
	tools          int
	usage          *runtime.Usage
	denials        []any
	answer         string
}

func (s *claudeStream) emit(l standin.Line) error {
	switch l.Kind {
	case runtime.EventModel:
		s.model = l.Model
	case runtime.EventUsage:
		s.usage = l.Usage
	case runtime.EventText:
		s.assistant(s.model, map[string]any{"type": "text", "text": l.Text})
	case runtime.EventToolCall:
		s.toolUse(l)
	case runtime.EventToolDone:
		s.toolResult("ok", false)
	case runtime.EventDenied:
		s.denied(l)
	case runtime.EventAnswer:
		s.answer = l.Text
		s.assistant(s.model, map[string]any{"type": "text", "text": l.Text})
	case runtime.EventComplete:
		s.result(s.answer, false, nil)
	case runtime.EventFailed:
		s.failed(l)
	}
	return nil
}

func (s *claudeStream) toolUse(l standin.Line) {
	s.tools++
	s.assistant(s.model, map[string]any{"type": "tool_use", "id": s.toolID(), "name": l.Tool, "input": map[string]any{"file_path": l.Text}})
}

func (s *claudeStream) toolResult(text string, isError bool) {
	s.event(map[string]any{"type": "user", "parent_tool_use_id": nil, "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": s.toolID(), "content": text, "is_error": isError},
	}}})
}

func (s *claudeStream) toolID() string { return fmt.Sprintf("toolu_fake%d", s.tools) }

func (s *claudeStream) denied(l standin.Line) {
	s.toolUse(l)
	s.toolResult("Claude requested permissions to write to "+l.Text+", but you haven't granted it yet.", true)
	s.denials = append(s.denials, map[string]any{"tool_name": l.Tool, "tool_use_id": s.toolID(), "tool_input": map[string]any{"file_path": l.Text}})
}

// failed is an error of the API: one retry notice where claude would retry, then
// the result with its error flag.
func (s *claudeStream) failed(l standin.Line) {
	if l.Reason == runtime.ReasonTurnCap {
		s.event(map[string]any{
			"type": "result", "subtype": "error_max_turns", "is_error": true, "num_turns": 100, "stop_reason": "tool_use",
			"permission_denials": []any{}, "terminal_reason": "max_turns", "errors": []any{l.Text},
		})
		return
	}
	status, name := map[runtime.Reason]any{
		runtime.ReasonAuth: 401, runtime.ReasonRateLimit: 429, runtime.ReasonUnknownModel: 404, runtime.ReasonCrash: 500,
	}[l.Reason], map[runtime.Reason]string{
		runtime.ReasonAuth: "authentication_failed", runtime.ReasonRateLimit: "rate_limit", runtime.ReasonUnknownModel: "model_not_found",
	}[l.Reason]
	if l.Reason != runtime.ReasonUnknownModel {
		s.event(map[string]any{
			"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": l.RetryAfterMs,
			"error_status": status, "error": orUnknown(name),
		})
	}
	s.event(s.message("<synthetic>", map[string]any{"type": "text", "text": l.Text}, map[string]any{"error": orUnknown(name)}))
	s.result(l.Text, true, status)
}

func (s *claudeStream) assistant(model string, block map[string]any) {
	s.event(s.message(model, block, nil))
}

func (s *claudeStream) message(model string, block, extra map[string]any) map[string]any {
	m := map[string]any{"type": "assistant", "parent_tool_use_id": nil, "message": map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": model, "content": []any{block}, "stop_reason": nil,
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}}
	for k, v := range extra {
		m[k] = v
	}
	return m
}

func (s *claudeStream) result(text string, isError bool, status any) {
	r := map[string]any{
		"type": "result", "subtype": "success", "is_error": isError, "api_error_status": status, "num_turns": 1, "result": text,
		"stop_reason": "end_turn", "permission_denials": append([]any{}, s.denials...), "terminal_reason": "completed",
	}
	if u := s.usage; u != nil {
		r["usage"] = map[string]any{"input_tokens": u.InputTokens, "output_tokens": u.OutputTokens}
		r["modelUsage"] = map[string]any{s.model: map[string]any{"inputTokens": u.InputTokens, "outputTokens": u.OutputTokens, "costUSD": u.CostUSD}}
		r["total_cost_usd"] = u.CostUSD
	}
	s.event(r)
}

func (s *claudeStream) event(e map[string]any) {
	e["session_id"] = s.session
	s.json(e)
}

func orUnknown(name string) string {
	if name == "" {
		return "unknown"
	}
	return name
}

func workingFolder() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// json prints one line. A closed output is the reader's choice.
func (c *call) json(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only maps and strings are ever given
	}
	fmt.Fprintf(c.out, "%s\n", data)
}
