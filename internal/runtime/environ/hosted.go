package environ

// agents are the variables by which a coding agent marks what its tools start, and which
// nobody's own shell has: editors that only host a terminal are not among them.
var agents = []string{
	"AI_AGENT", "CLAUDECODE", "CODEX_CI", "CODEX_SANDBOX*", "CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "KILO",
	"COPILOT_CLI", "CURSOR_AGENT", "PI_CODING_AGENT", "CLINE_ACTIVE", "AMP_CURRENT_THREAD*", "CRUSH", "AUGMENT_AGENT",
}

// HostedBy names a variable of env (NAME=value entries) that shows that a coding agent
// started this process, "" = none does. A terminal is then the agent's, and no person
// need be at it.
func HostedBy(env []string) string {
	for _, entry := range env {
		if name, value := split(entry); value != "" && listed(fold(name), agents) {
			return name
		}
	}
	return ""
}
