package spec

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// emit writes a node as YAML in block style, from the column that depth says. The
// library's own writer keeps every event of a document and takes a hundred times
// the memory of what it writes; here is all that the nodes of this package need.
func emit(b *bytes.Buffer, n *yaml.Node, depth int) {
	switch {
	case n.Kind == yaml.ScalarNode:
		emitScalar(b, n, depth)
	case len(n.Content) == 0:
		b.WriteString(map[yaml.Kind]string{yaml.SequenceNode: "[]", yaml.MappingNode: "{}"}[n.Kind] + "\n")
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			lead(b, i, depth)
			b.WriteString("- ")
			emit(b, item, depth+1)
		}
	default:
		for i := 0; i+1 < len(n.Content); i += 2 {
			lead(b, i, depth)
			emitField(b, n.Content[i].Value, n.Content[i+1], depth)
		}
	}
}

// lead indents every line of a collection but the first, which stands behind the
// dash or on the line that was begun for it.
func lead(b *bytes.Buffer, i, depth int) {
	if i > 0 {
		margin(b, depth)
	}
}

func margin(b *bytes.Buffer, depth int) {
	for range depth {
		b.WriteString("  ")
	}
}

// emitField writes key and value; a collection that is not empty begins on a line
// of its own, a list in the column of its key.
func emitField(b *bytes.Buffer, key string, value *yaml.Node, depth int) {
	if !bare(key) {
		key = strconv.Quote(key)
	}
	b.WriteString(key + ":")
	if value.Kind == yaml.ScalarNode || len(value.Content) == 0 {
		b.WriteByte(' ')
		emit(b, value, depth+1)
		return
	}
	if value.Kind == yaml.MappingNode {
		depth++
	}
	b.WriteByte('\n')
	margin(b, depth)
	emit(b, value, depth)
}

func emitScalar(b *bytes.Buffer, n *yaml.Node, depth int) {
	switch {
	case n.Tag != "!!str" || bare(n.Value):
		b.WriteString(n.Value)
	case literal(n.Value):
		emitLines(b, n.Value, depth)
		return // with its own line break
	default:
		b.WriteString(strconv.Quote(n.Value)) // Go's escapes are YAML's, too
	}
	if n.LineComment != "" {
		b.WriteString(" # " + n.LineComment)
	}
	b.WriteByte('\n')
}

// bare reports whether a text means itself without quotes: plain words, paths and
// durations, with nothing that YAML reads something into.
func bare(s string) bool {
	if s == "" {
		return false
	}
	last := s[len(s)-1]
	if '0' <= s[0] && s[0] <= '9' {
		return strings.Trim(s, "0123456789hms") == "" && last >= 'h'
	}
	if !letter(s[0]) && s[0] != '_' && s[0] != '/' || last == ' ' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && !strings.Contains("_./+- ", s[i:i+1]) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "null", "true", "false", "y", "n", "yes", "no", "on", "off": // to some reader of YAML
		return false
	}
	return true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// literal reports whether a text of several lines keeps every byte as a block.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\t") || strings.ContainsFunc(s, unwritable) {
		return false
	}
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(first) != ""
}

func unwritable(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }

// emitLines writes a block; its mark says what follows the last line.
func emitLines(b *bytes.Buffer, s string, depth int) {
	text := strings.TrimSuffix(s, "\n")
	switch {
	case text == s:
		b.WriteString("|-\n")
	case strings.HasSuffix(text, "\n"):
		b.WriteString("|+\n")
	default:
		b.WriteString("|\n")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			margin(b, depth)
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
}
