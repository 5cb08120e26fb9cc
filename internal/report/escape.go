package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrate/internal/untrusted"
)

// What agents, tools and files say is data. In the report it is one line of
// plain text: nothing in it can be a heading, a table cell, HTML, a link, a
// terminal escape, or turn the direction of what follows.

// maxText bounds one piece of foreign text in the report, in characters; the
// whole of it is in the run directory.
const maxText = 400

// maxStep bounds notes and next steps, which a person must be able to follow to
// their end.
const maxStep = 2000

// nothing stands where there is no text.
const nothing = "—"

// prose is foreign text in running text, escaped where Markdown would act on it.
func prose(s string) string { return inert(oneLine(s)) }

// step is prose for what a person is to read to its end: notes and next steps. What stands
// between backticks in it, such as a command to be copied, is a code span as it is: nothing
// in one acts.
func step(s string) string {
	s = untrusted.From(s).Line(maxStep)
	var b strings.Builder
	at := 0
	for _, m := range codeSpans.FindAllStringIndex(s, -1) {
		if m[0] > 0 && s[m[0]-1] == '`' || m[1] < len(s) && s[m[1]] == '`' {
			continue // a longer run of them is another thing
		}
		b.WriteString(between(s[at:m[0]], at > 0) + s[m[0]:m[1]])
		at = m[1]
	}
	if at == 0 {
		return inert(s)
	}
	return b.String() + between(s[at:], true)
}

// between is inert text before, or after, a code span.
func between(s string, after bool) string {
	if s == "" {
		return ""
	}
	if after { // it begins no line
		return strings.TrimPrefix(inert("`"+s), "\\`")
	}
	return inert(s)
}

// inert escapes one line.
func inert(s string) string {
	if s == "" {
		return nothing
	}
	var b strings.Builder
	before := ' '
	for i, c := range s {
		if acts(before, c, s[i+utf8.RuneLen(c):]) || i == 0 && strings.ContainsRune("-+=#>", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
		before = c
	}
	out := links.ReplaceAllString(b.String(), `$1\$2`)
	return number.ReplaceAllString(out, `$1\$2`)
}

// acts reports whether Markdown could take c for more than itself. An underscore inside a
// word it does not, nor the $ of an amount: no formula ends in one that a digit follows, and
// all others are escaped.
func acts(before, c rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	switch c {
	case '_':
		return !inWord(before) || !inWord(after)
	case '$':
		return !unicode.IsDigit(after)
	}
	return strings.ContainsRune("\\`*[]<|~&", c)
}

func inWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

var (
	codeSpans = regexp.MustCompile("`[^`]+`")
	links     = regexp.MustCompile(`(?i)(https?|ftp|mailto|xmpp|www)([:.])`) // what renderers link by themselves
	number    = regexp.MustCompile(`^(\d+)([.)])`)                           // what would begin a list
)

// code is foreign text as a code span: names, paths, commands, evidence.
func code(s string) string {
	s = oneLine(s)
	if s == "" {
		return nothing
	}
	return untrusted.From(s).Span(0)
}

// cell is code for a table. Readers do not agree on what a backslash before a
// bar means in a code span there, so text with a bar is escaped as prose.
func cell(s string) string {
	if strings.Contains(s, "|") {
		return prose(s)
	}
	return code(s)
}

// block is foreign text of several lines as a fenced block of the given language.
func block(lang, s string) string { return untrusted.From(untrusted.From(s).Block()).Fence(lang) }

// oneLine makes one bounded line of inert characters.
func oneLine(s string) string { return untrusted.From(s).Line(maxText) }

// lines shows each of several texts on one line.
func lines(texts []untrusted.Text) []string {
	shown := []string{}
	for _, t := range texts {
		shown = append(shown, t.Line(maxStep))
	}
	return shown
}
