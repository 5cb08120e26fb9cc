package runtime_test

import (
	"testing"

	"orchestrate/internal/runtime"
)

// The spellings that the programs' own helps show, and those of their settings.
func TestBypass(t *testing.T) {
	for _, argv := range [][]string{
		{"x", "--yolo"},
		{"claude", "--dangerously-skip-permissions"},
		{"claude", "--allow-dangerously-skip-permissions"},
		{"claude", "--permission-mode", "bypassPermissions"},
		{"claude", "--permission-mode=bypassPermissions"},
		{"claude", "--settings", `{"permissions": {"defaultMode": "bypassPermissions"}}`},
		{"IS_SANDBOX=1"},
		{"codex", "exec", "--dangerously-bypass-approvals-and-sandbox"},
		{"codex", "exec", "--dangerously-bypass-hook-trust"},
		{"codex", "exec", "--full-auto"},
		{"codex", "exec", "--approve-for-me"},
		{"codex", "exec", "-s", "danger-full-access"},
		{"codex", "exec", "--sandbox=danger-full-access"},
		{"codex", "exec", "-c", `sandbox_mode="danger-full-access"`},
		{"gemini", "-y"},
		{"gemini", "--approval-mode=yolo"},
		{"qwen", "--approval-mode", "YOLO"},
		{"opencode", "run", "--auto"},
		{"kilo", "run", "--auto=true"},
		{"copilot", "--allow-all-tools"},
		{"copilot", "--allow-all-paths"},
		{"copilot", "--allow-all-urls"},
		{"copilot", "--allow-all"},
		{"COPILOT_ALLOW_ALL=true"},
		{"COPILOT_ALLOW_ALL=1"},
		{"cmd", "--permission-mode", "yolo"},
		{"cline", "--auto-approve=true"},
		{"cline", "--auto-approve", "true"},
		{"amp", "--dangerously-allow-all"},
		{"amp", "--settings", `{"amp.dangerouslyAllowAll": true}`},
		{"crush", "run", "-y"},
		{"agent", "--force"},
		{"agent", "--approve-mcps"},
		{"agent", "--sandbox", "disabled"},
		{"x", "--sandbox=false"},
		{"x", "--no-sandbox"},
		{"x", "--trust-all-tools"},
		{"self", "acp-turn", `{"agent":["agent","--yolo"]}`},
		{"npx", "-y", "agent", "-y"},
		{"x", "--", "--yolo", "y"},
		{"cursor-agent", "-p", "-f"},
		{"/usr/bin/agent", "-f"},
		{"aider", "--yes-always"},
		{"GOOSE_MODE=auto"},
		{"copilot", "--allow-tool=*"},
		{"copilot", "--allow-tool", "*"},
		{"x", "--approve-all"},
		{"codex", "exec", "-c", `sandbox_workspace_write.writable_roots = ["/"]`},
	} {
		if runtime.Bypass(argv) == "" {
			t.Errorf("%q passes", argv)
		}
	}
}

func TestWhatIsNoBypass(t *testing.T) {
	for _, argv := range [][]string{
		{"x", "--allowed-tools", "Read"},
		{"x", "--approval-mode=auto-edit"},
		{"yolo"},
		{"x", "--auto-approve=false"},
		{"x", "--auto-approve", "false"},
		{"x", "--auto-tier", "balance"},
		{"COPILOT_ALLOW_ALL=false"},
		{"npx", "-y", "agent"},
		{"x", "-s", "workspace-write"},
		{"x", "--permission-mode=acceptEdits"},
		{"cline", "--json", "--", "--yolo"},
		{"cline", "--json", "--", "Explain what --dangerously-skip-permissions and danger-full-access do."},
		{"x", "-p", "Why is allow_all=yes there?"},
		{"x", "-f", "prompt.txt"},
		{"GOOSE_MODE=approve"},
		{"copilot", "--allow-tool=write"},
		{"codex", "exec", "-c", `sandbox_workspace_write.writable_roots=["/srv/app"]`},
	} {
		if arg := runtime.Bypass(argv); arg != "" {
			t.Errorf("%q is refused for %q", argv, arg)
		}
	}
}

// TestBypassOfACommand: what a person asks for may speak of such words.
func TestBypassOfACommand(t *testing.T) {
	const prompt = "Explain the bypassPermissions mode of the docs"
	for name, c := range map[string]struct {
		cmd     runtime.Command
		prompt  string
		refused bool
	}{
		"the prompt alone":      {runtime.Command{Argv: []string{"x", prompt}}, prompt, false},
		"behind its flag":       {runtime.Command{Argv: []string{"x", "-p", prompt}}, prompt, false},
		"joined to its flag":    {runtime.Command{Argv: []string{"x", "--prompt=" + prompt}}, prompt, false},
		"a flag before it":      {runtime.Command{Argv: []string{"x", "--yolo", prompt}}, prompt, true},
		"a prompt like a flag":  {runtime.Command{Argv: []string{"x", "-p", "--yolo"}}, "--yolo", true},
		"a prompt on stdin":     {runtime.Command{Argv: []string{"x", "-s", "danger-full-access"}, Stdin: []byte("danger-full-access")}, "danger-full-access", true},
		"a variable beside it":  {runtime.Command{Argv: []string{"x", prompt}, Env: []string{"GOOSE_MODE=auto"}}, prompt, true},
		"words that are not it": {runtime.Command{Argv: []string{"x", prompt}}, "another", true},
	} {
		if got := c.cmd.Bypass(c.prompt); (got != "") != c.refused {
			t.Errorf("%s: %q", name, got)
		}
	}
}
