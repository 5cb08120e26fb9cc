package engine

import (
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
)

// commandText is command.txt: what a person types to do the same again. It is
// redacted before it is written.
func commandText(dir string, c runtime.Command, prompt bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cd %s && ", shellQuote(dir))
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&b, "%s=%s ", name, shellQuote(value))
	}
	for i, arg := range c.Argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(shellQuote(arg))
	}
	switch {
	case len(c.Stdin) == 0:
		b.WriteString(" </dev/null")
	case prompt:
		b.WriteString(" <prompt.md")
	}
	b.WriteByte('\n')
	return b.String()
}

// shellQuote writes a word so that a POSIX shell reads it back unchanged.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
