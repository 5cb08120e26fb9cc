package qwen

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is its settings folder, as a whole: it keeps its records beside its
// settings, and puts its renewed sign-in in the place of the old one.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	base := runtime.Base(getenv, "QWEN_HOME", ".qwen")
	return runtime.Confinement{
		State:       runtime.Below(base, "."),
		Credentials: runtime.Below(base, "oauth_creds.json", "mcp-oauth-tokens.json", ".env", "settings.json"),
	}
}
