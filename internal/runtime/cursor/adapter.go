package cursor

import (
	"path/filepath"
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec.
const Name = "agent"

// Adapter is the recipe for Cursor's agent. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start reads and writes the same files under ~/.cursor.
func (Adapter) Shared() bool { return true }

// Metered implements runtime.Meter: some results have tokens, none has a price.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldSometimes}
}

// SignInEnv implements runtime.Adapter.
func (Adapter) SignInEnv() []string {
	return []string{"CURSOR_API_KEY", "CURSOR_AUTH_TOKEN", "CURSOR_CONFIG_DIR"}
}

// quiet keeps a program that finds itself signed out from opening a browser.
func quiet() []string { return []string{"NO_OPEN_BROWSER=1"} }

// executables are the names of the program, the one that nothing else has first.
func executables() []string { return []string{"cursor-agent", Name} }

// identity knows the program by the form of its version only, which is all that
// --version says. Its help says whose it is; see readHelp.
func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^(\d{4}\.\d{2}\.\d{2}-[0-9a-f]+)$`),
		Install: "Cursor's CLI, as cursor.com/install says",
	}
}

// selfName is what the program's help says that it does.
const selfName = "Start the Cursor Agent"

// machine finds the program by whichever of its names is there.
type machine struct{ runtime.Host }

// LookPath implements runtime.Host for the runtime's own name.
func (m machine) LookPath(string) (path string, err error) {
	for _, name := range executables() {
		if path, err = m.Host.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// typed is what a person types to call the program with words.
func typed(p runtime.Profile, words string) string {
	return "`" + filepath.Base(p.Executable.Path) + " " + words + "`"
}
