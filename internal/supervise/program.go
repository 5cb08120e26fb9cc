package supervise

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	nouns "orchestrate/internal/runtime"
)

// ErrUnavailable is returned by Start and Serve where process trees cannot be
// supervised (everything but Linux and macOS).
var ErrUnavailable = errors.New("supervising processes is unavailable on " + runtime.GOOS + ": use Linux (or macOS, with weaker proof)")

// ErrNoAnswer says that a supervisor was started and ended, or kept silent, before it
// could be given anything.
var ErrNoAnswer = errors.New("did not answer as a supervisor")

// Options is what a supervisor process is built with.
type Options struct {
	// Version must equal the engine's, or the engine refuses the supervisor.
	Version string
	// Decoders builds the decoder of an attempt. A nil Decoder without an error
	// means that nothing decodes the stream.
	Decoders func(nouns.DecoderSpec) (nouns.Decoder, error)
	// NoCgroup leaves control groups alone, as where none can be made.
	NoCgroup bool
}

// lineBlind is implemented by decoders that look at no line, such as exec's: the
// streams of such an attempt are captured but not framed.
type lineBlind interface{ LineBlind() bool }

// Program returns the command that starts a supervisor: the lean program beside
// the running executable self if it is installed, else self's hidden subcommand,
// which costs more to start.
func Program(self string) []string {
	name := "orchestrate-supervise"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	lean := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(lean); err == nil && info.Mode().IsRegular() {
		return []string{lean}
	}
	return []string{self, "supervise"}
}
