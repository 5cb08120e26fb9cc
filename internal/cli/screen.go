package cli

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"

	"orchestrate/internal/untrusted"
)

// forReader is out for what agents and programs said: as it is for a file or another
// program, and in a form that acts on nothing for a terminal.
func forReader(out io.Writer) io.Writer {
	to := out
	if o, ok := out.(*outlet); ok {
		to = o.to
	}
	f, ok := to.(*os.File)
	if !ok {
		return out
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return out
	}
	return &screen{to: out}
}

// screen makes visible what a terminal would obey.
type screen struct {
	to   io.Writer
	part []byte // the beginning of a character whose end has not come yet
}

func (s *screen) Write(p []byte) (int, error) {
	all := append(s.part, p...)
	whole := len(all) - unfinished(all)
	s.part = bytes.Clone(all[whole:])
	if _, err := io.WriteString(s.to, untrusted.From(string(all[:whole])).Block()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished is how many bytes at the end are only the beginning of a character.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n:]; utf8.RuneStart(c[0]) {
			if utf8.FullRune(c) {
				return 0
			}
			return n
		}
	}
	return 0
}
