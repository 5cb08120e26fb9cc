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

// step is prose for what a person is to read to its end: notes and next steps.
func step(s string) string { return inert(untrusted.From(s).Line(maxStep)) }

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

// acts reports whether Markdown could take c for more than itself; an underscore
// inside a word it does not.
func acts(before, c rune, rest string) bool {
	if c != '_' {
		return strings.ContainsRune("\\`*[]<|~&$", c)
	}
	after, _ := utf8.DecodeRuneInString(rest)
	return !inWord(before) || !inWord(after)
}

func inWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

var (
	links  = regexp.MustCompile(`(?i)(https?|ftp|mailto|xmpp|www)([:.])`) // what renderers link by themselves
	number = regexp.MustCompile(`^(\d+)([.)])`)                           // what would begin a list
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
