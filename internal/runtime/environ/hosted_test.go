package environ

import "testing"

func TestWhoIsHostedByAnAgent(t *testing.T) {
	for entry, want := range map[string]string{
		"CLAUDECODE=1":                       "CLAUDECODE",
		"CODEX_SANDBOX_NETWORK_DISABLED=1":   "CODEX_SANDBOX_NETWORK_DISABLED",
		"CODEX_THREAD_ID=x":                  "CODEX_THREAD_ID",
		"GEMINI_CLI=1":                       "GEMINI_CLI",
		"CLAUDECODE=":                        "", // as one who has taken it back
		"GEMINI_CLI_IDE_SERVER_PORT=1":       "", // a terminal in an editor
		"CLAUDE_CODE_SSE_PORT=1":             "",
		"CURSOR_TRACE_ID=x":                  "",
		"PI_CODING_AGENT_DIR=/home/x/agents": "",
		"TERM=xterm":                         "",
	} {
		if got := HostedBy([]string{"PATH=/bin", entry}); got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

// TestMarksOfAgentsReachNoJob: what tells us that an agent hosts us would tell a job so.
func TestMarksOfAgentsReachNoJob(t *testing.T) {
	for _, name := range agents {
		if !hosting(name) {
			t.Errorf("%s is passed on", name)
		}
	}
}
