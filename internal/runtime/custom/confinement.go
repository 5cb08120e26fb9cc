package custom

import (
	"path/filepath"
	"strings"

	"orchestrate/internal/runtime"
)

var _ runtime.Confined = &adapter{}

// Confinement is what the description says.
func (a adapter) Confinement(getenv func(string) string) runtime.Confinement {
	return runtime.Confinement{State: atHome(getenv, a.def.State), Credentials: atHome(getenv, a.def.Credentials)}
}

func atHome(getenv func(string) string, paths []string) []string {
	var all []string
	for _, path := range paths {
		if rest, found := strings.CutPrefix(path, "~/"); found {
			all = append(all, runtime.Below(runtime.Base(getenv, "", rest), ".")...)
		} else {
			all = append(all, filepath.Clean(path))
		}
	}
	return all
}
