package qwen

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is its settings folder, as a whole: it keeps its records beside its
// settings, and puts its renewed sign-in in the place of the old one.
//
// With a prompt from stdin its shell takes a terminal of its own, which no sandbox
// gives. Settings that a person or an administrator makes go before these. The prompt
// stays on stdin alone: beside a prompt in its arguments the program waits half a second
// for stdin and then does without.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	base := runtime.Base(getenv, "QWEN_HOME", ".qwen")
	return runtime.Confinement{
		State:       runtime.Below(base, "."),
		Credentials: runtime.Below(base, "oauth_creds.json", "mcp-oauth-tokens.json", ".env", "settings.json"),
		Files: []runtime.PrivateFile{{
			Name: "qwen-defaults.json", Variable: "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
			Text: `{"tools":{"shell":{"enableInteractiveShell":false}}}` + "\n",
		}},
	}
}
