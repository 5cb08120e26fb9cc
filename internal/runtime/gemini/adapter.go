package gemini

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec and the name of its executable.
const Name = "gemini"

// Adapter is the recipe for Gemini CLI. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start reads and writes the project list and the sessions
// under HOME.
func (Adapter) Shared() bool { return true }

// KeepsSession implements runtime.SessionKeeper.
func (Adapter) KeepsSession() bool { return true }

// Metered implements runtime.Meter: the final count has tokens, never a price.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. The variable that changes the default
// model is left out, so that the default the probe saw is the one that is used.
func (Adapter) SignInEnv() []string {
	return append([]string{
		apiKeyEnv, "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS",
		"GEMINI_CLI_HOME", "GEMINI_FORCE_ENCRYPTED_FILE_STORAGE",
	}, elsewhere()...)
}

const apiKeyEnv = "GEMINI_API_KEY"

// elsewhere are the variables that send model calls to another address.
func elsewhere() []string {
	return []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT"}
}

const (
	trusted    = "GEMINI_CLI_TRUST_WORKSPACE=true"
	notTrusted = "GEMINI_CLI_TRUST_WORKSPACE=false"
)

// settings are the variables that probes and jobs get alike. The program reads
// its settings before its command line: started as untrusted it leaves those of
// the folder out, and --skip-trust then lets it work there all the same. Without
// NO_RELAUNCH it starts itself a second time, now trusted, and the first process
// is deaf to signals.
func settings(project bool) []string {
	folder := notTrusted
	if project {
		folder = trusted
	}
	return []string{folder, "GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_TELEMETRY_ENABLED=false", "NO_BROWSER=true"}
}

func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^(\d+\.\d+\.\d+\S*)$`),
		Install: "npm install -g @google/gemini-cli",
	}
}
