package claude

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec and the name of its executable.
const Name = "claude"

// Adapter is the recipe for Claude Code. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start reads and writes the same files under HOME.
func (Adapter) Shared() bool { return true }

// KeepsSession implements runtime.SessionKeeper.
func (Adapter) KeepsSession() bool { return true }

// Metered implements runtime.Meter: the result has both, also where a subscription pays.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldAlways, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. CLAUDE_CODE_MAX_RETRIES is the program's
// own limit on repeating a failed model call. Variables that change the default
// model are left out, so that the default the probe saw is the one that is used.
func (Adapter) SignInEnv() []string {
	return append([]string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
		baseURL, "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES",
	}, otherProviders()...)
}

// baseURL is the variable that sends model calls elsewhere.
const baseURL = "ANTHROPIC_BASE_URL"

// otherProviders are the switches that make the program call its models through
// somebody else's service.
func otherProviders() []string {
	return []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}
}

// quiet switches off updates and reports for probes and jobs alike.
func quiet() []string {
	return []string{
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
}

func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^(\d+\.\d+\.\d+\S*) \(Claude Code\)$`),
		Install: "npm install -g @anthropic-ai/claude-code",
	}
}
