package pi

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is its settings folder, as a whole: it locks its sign-in by a file beside
// it.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	base := runtime.Base(getenv, "PI_CODING_AGENT_DIR", ".pi/agent")
	return runtime.Confinement{
		State:       append(runtime.Below(base, "."), runtime.Below(runtime.Base(getenv, "", sessions[len("~/"):]), ".")...),
		Credentials: runtime.Below(base, "auth.json", "models.json", "mcp.json"),
	}
}
