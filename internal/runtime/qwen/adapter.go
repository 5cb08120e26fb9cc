package qwen

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec and the name of its executable.
const Name = "qwen"

// Adapter is the recipe for Qwen Code. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start reads and writes the same files under ~/.qwen.
func (Adapter) Shared() bool { return true }

// KeepsSession implements runtime.SessionKeeper.
func (Adapter) KeepsSession() bool { return true }

// Metered implements runtime.Meter: the result has tokens, never a price.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. Without a settings file the program takes
// key, address and model from the environment, and needs all three.
func (Adapter) SignInEnv() []string {
	return []string{
		"QWEN_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL",
		"BAILIAN_CODING_PLAN_API_KEY", "BAILIAN_TOKEN_PLAN_API_KEY", "OPENROUTER_API_KEY", "REQUESTY_API_KEY",
	}
}

// quiet switches off reports for probes and jobs alike.
func quiet() []string { return []string{"QWEN_TELEMETRY_ENABLED=false"} }

// identity knows the program by the form of its version only: the version is all
// that --version says. Its help says whose it is; see readHelp.
func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^(\d+\.\d+\.\d+\S*)$`),
		Install: "npm install -g @qwen-code/qwen-code",
	}
}

// selfName is how the program calls itself in its help.
const selfName = "Qwen Code"
