package claude

import (
	"path/filepath"

	"orchestrate/internal/runtime"
)

var _ runtime.Confined = Adapter{}

// Confinement is its settings folder, as a whole: it renews its sign-in by putting a new
// file there in the place of the old one.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	const variable = "CLAUDE_CONFIG_DIR"
	base := runtime.Base(getenv, variable, ".claude")
	return runtime.Confinement{
		State:       append(runtime.Below(base, "."), runtime.Below(runtime.Base(getenv, variable, ""), ".claude.json")...),
		Credentials: append(runtime.Below(base, ".credentials.json"), cloudSignIn(getenv)...),
	}
}

// cloudSignIn is where another maker's service, if models are called through it, keeps
// its own.
func cloudSignIn(getenv func(string) string) []string {
	var all []string
	if getenv("CLAUDE_CODE_USE_BEDROCK") != "" {
		all = runtime.Below(runtime.Base(getenv, "", ".aws"), ".")
	}
	if getenv("CLAUDE_CODE_USE_VERTEX") != "" {
		all = append(all, runtime.Below(runtime.Base(getenv, "CLOUDSDK_CONFIG", ".config/gcloud"), ".")...)
		if file := getenv("GOOGLE_APPLICATION_CREDENTIALS"); filepath.IsAbs(file) {
			all = append(all, filepath.Clean(file))
		}
	}
	return all
}
