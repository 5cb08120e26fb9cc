package copilot

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec and the name of its executable.
const Name = "copilot"

// Adapter is the recipe for the Copilot command line. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start opens the same database under its home folder.
func (Adapter) Shared() bool { return true }

// Metered implements runtime.Meter: it counts premium requests, neither tokens nor money.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldNever}
}

// SignInEnv implements runtime.Adapter.
func (Adapter) SignInEnv() []string {
	return append(credentials(),
		homeEnv, modelEnv, "GH_HOST", "COPILOT_GH_HOST", "COPILOT_OFFLINE",
		providerEnv, "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_TRANSPORT",
		"COPILOT_PROVIDER_AZURE_API_VERSION", wellKnownEnv, wireModelEnv,
		"COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
	)
}

// credentials are those of its variables that hold a secret or tell how to get
// one. The program keeps them from its shell when it is told to.
func credentials() []string {
	return []string{
		"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
		"COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_API_KEY_COMMAND", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_HEADERS",
	}
}

const (
	homeEnv      = "COPILOT_HOME"
	modelEnv     = "COPILOT_MODEL"
	wellKnownEnv = "COPILOT_PROVIDER_MODEL_ID"
	wireModelEnv = "COPILOT_PROVIDER_WIRE_MODEL"
	providerEnv  = "COPILOT_PROVIDER_BASE_URL" // set: models are called there and not through GitHub
)

// quiet switches off updates for probes and jobs alike, and the variable that
// would approve every tool and trust every folder.
func quiet() []string { return []string{"COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=false"} }

func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^GitHub Copilot CLI (\d+\.\d+\.\d+\S*?)\.?$`),
		Install: "npm install -g @github/copilot",
	}
}
