package spec

import (
	"fmt"
	"path/filepath"
	"strings"
)

// String is the one-line form: file:line:col: field: message.
func (d Diagnostic) String() string {
	where := fmt.Sprintf("%s:%d:%d: ", d.Pos.File, d.Pos.Line, d.Pos.Col)
	if d.Field != "" {
		where += d.Field + ": "
	}
	return where + d.Message
}

// maxSnippet bounds the part of a source line that is shown, in runes.
const maxSnippet = 100

// Format prints diagnostics one after the other, each with the line of source
// (the spec's bytes) and a caret below it. A line with a secret is never shown, nor one
// of another file.
func Format(ds []Diagnostic, source []byte) string {
	hidden := map[int]bool{}
	for _, d := range ds {
		if d.Rule == "secret" {
			hidden[d.Pos.Line] = true
		}
	}
	lines := strings.Split(string(source), "\n")
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.String())
		b.WriteByte('\n')
		elsewhere := filepath.Base(d.Pos.File) == RepositoryFile
		if !elsewhere && !hidden[d.Pos.Line] && d.Pos.Line <= len(lines) && len(source) > 0 {
			b.WriteString(snippet(lines[d.Pos.Line-1], d.Pos))
		}
	}
	return b.String()
}

// snippet shows a line and points at a column of it.
func snippet(line string, pos Position) string {
	runes := []rune(strings.TrimRight(line, "\r"))
	from := 0
	if pos.Col > maxSnippet {
		from = min(pos.Col-maxSnippet/2, len(runes))
	}
	shown := runes[from:min(len(runes), from+maxSnippet)]
	text := strings.Map(func(c rune) rune {
		if c < 0x20 || c == 0x7f {
			return ' '
		}
		return c
	}, string(shown))
	gutter := fmt.Sprintf("%5d | ", pos.Line)
	pad := strings.Repeat(" ", min(len(shown), max(0, pos.Col-1-from)))
	return gutter + text + "\n" + strings.Repeat(" ", len(gutter)-2) + "| " + pad + "^\n"
}
