package runtime

// Called is the name in a spec of the runtime that people also call so, by the program
// that they type: cmd is command-code. Every other name is itself. A runtime that really
// has the name comes first, so ask only about names that none has.
func Called(name string) string {
	switch name {
	case "cmd", "cmdc", "commandcode":
		return "command-code"
	case "cursor", "cursor-agent":
		return "agent"
	case "claude-code":
		return "claude"
	}
	return name
}

// WorkerOrder is in which order runtimes are taken for a task of the worker form where
// nothing else tells them apart; all others come after.
func WorkerOrder() []string { return []string{"command-code", "agent", "opencode", "claude", "codex"} }
