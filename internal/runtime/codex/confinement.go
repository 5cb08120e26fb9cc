package codex

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is that of codex itself: its sandbox fails in silence inside another.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	home := runtime.Base(getenv, "CODEX_HOME", ".codex")
	return runtime.Confinement{Own: true, State: runtime.Below(home, "."), Credentials: runtime.Below(home, "auth.json", ".credentials.json")}
}
