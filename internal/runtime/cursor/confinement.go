package cursor

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is as its documentation says, and was never tried.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	base := runtime.Base(getenv, "CURSOR_CONFIG_DIR", ".cursor")
	config := runtime.Base(getenv, "XDG_CONFIG_HOME", ".config")
	return runtime.Confinement{
		State:       append(runtime.Below(base, "."), runtime.Below(config, "cursor")...),
		Credentials: runtime.Below(config, "cursor/auth.json"),
	}
}
