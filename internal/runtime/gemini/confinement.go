package gemini

import (
	"path/filepath"

	"orchestrate/internal/runtime"
)

var _ runtime.Confined = Adapter{}

// Confinement is its settings folder, as a whole: files there are put in the place of
// others.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	home := runtime.Base(getenv, "GEMINI_CLI_HOME", "")
	return runtime.Confinement{
		State: runtime.Below(home, ".gemini"),
		Credentials: append(runtime.Below(home, ".gemini/oauth_creds.json", ".gemini/gemini-credentials.json",
			".gemini/google_accounts.json", ".gemini/mcp-oauth-tokens.json", ".gemini/.env"), cloudSignIn(getenv)...),
	}
}

// cloudSignIn is where Google's cloud, if models are called through it, keeps its own.
func cloudSignIn(getenv func(string) string) []string {
	file := getenv("GOOGLE_APPLICATION_CREDENTIALS")
	switch {
	case filepath.IsAbs(file):
		return []string{filepath.Clean(file)}
	case getenv("GOOGLE_GENAI_USE_VERTEXAI") != "":
		return runtime.Below(runtime.Base(getenv, "CLOUDSDK_CONFIG", ".config/gcloud"), ".")
	}
	return nil
}
