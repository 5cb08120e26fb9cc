//go:build linux

package cli_test

import (
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// inert demands that a file holds nothing on which a terminal, or an eye, would act:
// `inert FILE`. A terminal ends its lines with a return of its own.
func inert(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "inert FILE")
	for i, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		for _, c := range strings.TrimRight(line, "\r") {
			if c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co) {
				ts.Fatalf("%s:%d: %U acts: %q", args[0], i+1, c, line)
			}
		}
	}
}

// fenced demands that TEXT is in the file, and that each line with it stands in a fence
// of backticks: `fenced FILE TEXT`.
func fenced(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 2, 2, "fenced FILE TEXT")
	fence, found := "", 0
	for i, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && strings.TrimSpace(line) == ticks:
			fence = ""
		case strings.Contains(line, args[1]):
			if found++; fence == "" {
				ts.Fatalf("%s:%d: outside of all fences: %s", args[0], i+1, line)
			}
		}
	}
	if found == 0 || fence != "" {
		ts.Fatalf("%s: %q found %d times, open fence %q", args[0], args[1], found, fence)
	}
}
