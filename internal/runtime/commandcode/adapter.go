package commandcode

import (
	"path/filepath"
	"regexp"
	goruntime "runtime"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Name is the runtime's name in a spec.
const Name = "command-code"

// Adapter is the recipe for Command Code. The zero value is ready.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

var _ runtime.Adapter = Adapter{}

// Name implements runtime.Adapter.
func (Adapter) Name() string { return Name }

// Decoder implements runtime.Adapter.
func (Adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// Shared is true: every start reads and writes the same files under ~/.commandcode.
func (Adapter) Shared() bool { return true }

// Metered implements runtime.Meter: the result has tokens, never a price.
func (Adapter) Metered() runtime.Metered {
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldAlways}
}

// SignInEnv implements runtime.Adapter. Keys of a user's own providers have names
// of the user's choice, which a spec must allow.
func (Adapter) SignInEnv() []string {
	return []string{"COMMAND_CODE_API_KEY", "COMMANDCODE_API_URL", "CMD_LOCAL_ONLY", "CMD_ZDR"}
}

// quiet switches off reports and the look for updates, which every start would
// leave behind as a process of its own.
func quiet() []string { return []string{"COMMANDCODE_SKIP_UPDATES=1", "DO_NOT_TRACK=1"} }

// executables are the names that npm installs, the one that nothing else has first.
// On Windows `cmd` is the system's shell.
func executables() []string {
	if goruntime.GOOS == "windows" {
		return []string{Name, "cmdc"}
	}
	return []string{Name, "cmd"}
}

// identity knows the program by the form of its version only: the version is all
// that --version says. Its help says whose it is; see readHelp.
func identity() probe.Identity {
	return probe.Identity{
		Name:    Name,
		Form:    regexp.MustCompile(`^(\d+\.\d+\.\d+\S*)$`),
		Install: "npm install -g command-code (it needs Node.js 22 or newer)",
	}
}

// selfName is how the program calls itself in its help, before its version.
const selfName = "Command Code v"

// machine finds the program by whichever of its names is there.
type machine struct{ runtime.Host }

// LookPath implements runtime.Host for the runtime's own name.
func (m machine) LookPath(string) (path string, err error) {
	var first error
	for _, name := range executables() {
		if path, err = m.Host.LookPath(name); err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// typed is what a person types to call the program with words.
func typed(p runtime.Profile, words string) string {
	return "`" + filepath.Base(p.Executable.Path) + " " + words + "`"
}
