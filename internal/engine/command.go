package engine

import (
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
)

// commandText is command.txt: what a person types to do the same again. It is
// redacted before it is written.
func commandText(dir string, c runtime.Command, prompt bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cd %s && ", shellword.Quote(dir))
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&b, "%s=%s ", name, shellword.Quote(value))
	}
	b.WriteString(shellword.Join(c.Argv))
	switch {
	case len(c.Stdin) == 0:
		b.WriteString(" </dev/null")
	case prompt:
		b.WriteString(" <prompt.md")
	}
	b.WriteByte('\n')
	return b.String()
}
