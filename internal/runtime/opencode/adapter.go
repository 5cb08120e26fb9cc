package opencode

import (
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Names of the runtimes in a spec, which are those of their executables.
const (
	Name     = "opencode"
	KiloName = "kilo"
)

// about is what differs between the program and its fork.
type about struct {
	name    string
	prefix  string   // of its environment variables
	agent   string   // what works when no agent is asked for or configured
	install string   // what a person types to install it
	keys    []string // variables that carry its own service's key
	files   []string // of a project's configuration
	states  []string // its folders among the person's state
	keeps   string   // a permission for reading that some of its agents have whatever a table says
}

// Adapter is the recipe for one program of the family; see New and NewKilo.
type Adapter struct{ about about }

var _ runtime.Adapter = Adapter{}

// New returns the adapter of opencode.
func New() Adapter {
	return Adapter{about{
		name: Name, prefix: "OPENCODE_", agent: "build", install: "npm install -g opencode-ai",
		keys: []string{"OPENCODE_API_KEY"}, states: []string{Name},
		files: []string{".opencode", "opencode.json", "opencode.jsonc"},
	}}
}

// NewKilo returns the adapter of kilo.
func NewKilo() Adapter {
	return Adapter{about{
		name: KiloName, prefix: "KILO_", agent: "code", install: "npm install -g @kilocode/cli",
		files:  []string{".kilo", ".kilocode", ".opencode", "kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc"},
		states: []string{KiloName, KiloName + "-sandbox-policy"}, keeps: "semantic_search",
	}}
}

// Name implements runtime.Adapter.
func (a Adapter) Name() string { return a.about.name }

// Decoder implements runtime.Adapter.
func (a Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start opens the same database under HOME.
func (Adapter) Shared() bool { return true }

// KeepsSession implements runtime.SessionKeeper.
func (Adapter) KeepsSession() bool { return true }

// Metered implements runtime.Meter: a price only for models that it knows one of.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldSometimes, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. Keys of other providers have to be
// allowed by the operator.
func (a Adapter) SignInEnv() []string {
	own := append(a.about.env("CONFIG", "CONFIG_DIR"), a.about.keys...)
	return append(own, "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
}

// env are the program's own variables of these names.
func (b about) env(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, b.prefix+name)
	}
	return all
}

// quiet switches updates, downloads, sharing and the project's configuration off
// for probes and jobs alike, so that what the probe saw is what the job gets.
func (b about) quiet() []string {
	var all []string
	for _, name := range b.env("DISABLE_AUTOUPDATE", "DISABLE_MODELS_FETCH", "DISABLE_LSP_DOWNLOAD", "DISABLE_SHARE", "DISABLE_PROJECT_CONFIG") {
		all = append(all, name+"=1")
	}
	return all
}

// identity recognizes little more than a version number, since the program says
// no more; that the help names the program is checked when it is read.
func (b about) identity() probe.Identity {
	return probe.Identity{Name: b.name, Form: regexp.MustCompile(`^(\d+\.\d+\.\d+\S*)$`), Install: b.install}
}
