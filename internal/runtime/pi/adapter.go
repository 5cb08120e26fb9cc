package pi

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec and the name of its executable.
const Name = "pi"

// Adapter is the recipe for pi. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start reads and writes the same files under ~/.pi/agent.
func (Adapter) Shared() bool { return true }

// Metered implements runtime.Meter: a price only for models that it knows one of.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldSometimes, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. The program knows the keys of some forty
// providers; those that are not here have to be allowed by the operator.
func (Adapter) SignInEnv() []string {
	return []string{
		"PI_CODING_AGENT_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN",
		"OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
	}
}

// quiet switches off reports, updates and downloads for probes and jobs alike.
func quiet() []string { return []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"} }

// install is what a person types. On a Node.js that is too old npm installs it all
// the same, and it does not start.
const install = "npm install -g @earendil-works/pi-coding-agent (it needs Node.js 22.19 or newer)"

// identity knows the program by the form of its version only, which is that of
// many programs: the version is all that --version says. Its help says what it is;
// see readHelp.
func identity() probe.Identity {
	return probe.Identity{Name: Name, Form: regexp.MustCompile(`^(\d+\.\d+\.\d+\S*)$`), Install: install}
}

// selfName is how the program's help begins.
const selfName = "pi - AI coding assistant"
