package commandcode

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is where it keeps its sessions. Its settings, which can name programs to
// run, are left as they are.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	base := runtime.Base(getenv, "", ".commandcode")
	return runtime.Confinement{
		State:       runtime.Below(base, "projects"),
		Credentials: runtime.Below(base, "auth.json", "providers.json"),
	}
}
