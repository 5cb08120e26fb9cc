package codex

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec and the name of its executable.
const Name = "codex"

// Adapter is the recipe for Codex. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start opens the same databases under CODEX_HOME.
func (Adapter) Shared() bool { return true }

// KeepsSession implements runtime.SessionKeeper.
func (Adapter) KeepsSession() bool { return true }

// Metered implements runtime.Meter: a turn ends with its tokens, never with a price.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. A key variable that the user's own
// provider names in its configuration has to be allowed by the operator.
func (Adapter) SignInEnv() []string {
	return []string{"CODEX_HOME", apiKeyEnv, "OPENAI_API_KEY", baseURLEnv}
}

const (
	apiKeyEnv  = "CODEX_API_KEY"
	baseURLEnv = "OPENAI_BASE_URL"
)

func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^codex-cli (\d+\.\d+\.\d+\S*)$`),
		Install: "npm install -g @openai/codex",
	}
}
