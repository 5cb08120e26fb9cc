package planner

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"orchestrate/internal/spelling"
)

// MostBytes bounds a request.
const MostBytes = 64 << 10

// Request is the request that the arguments of a bare command line are. commands are the
// names of all commands. The error says why they are none: what may be a slip of the
// keyboard or a path is never taken for a request, which would cost a model call.
func Request(args, commands []string) (string, error) {
	if len(args) != 1 {
		return "", noCommand(args[0], commands, "; a request is one argument: put it in quotes")
	}
	text := args[0]
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return "", errors.New("the request is empty: say in a sentence what you want, in quotes")
	case len(text) > MostBytes:
		return "", fmt.Errorf("the request has %d bytes, and %d are the most: put what is long in a file of the workspace and name that", len(text), MostBytes)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", errors.New("the request is no text: it is not UTF-8, or has a NUL in it")
	case len(words) == 1:
		return "", noCommand(text, commands, "; a spec's name ends in .yaml, .yml or .json (orchestrate --help lists the commands), and a request has two words or more")
	case likePath(text):
		return "", fmt.Errorf("%q looks like a path and is no spec (its name would end in .yaml, .yml or .json); a request is a sentence", short(text))
	case strings.HasPrefix(text, "-"):
		return "", fmt.Errorf("%q looks like a flag; a request is a sentence", short(text))
	}
	if near := likeCommand(words, commands); near != "" {
		return "", fmt.Errorf("%q looks like the command %s and its arguments in one pair of quotes; without them it is that command, and as a request it needs more words", short(text), near)
	}
	return strings.TrimSpace(text), nil
}

// noCommand says of a word that it is none, and what was perhaps meant.
func noCommand(word string, commands []string, otherwise string) error {
	if near := nearest(word, commands); len(near) > 0 && word != "" {
		return fmt.Errorf("%q is not a command; did you mean %s?", short(word), strings.Join(near, " or "))
	}
	return fmt.Errorf("%q is not a command%s", short(word), otherwise)
}

// likePath reports whether a text begins as only paths do.
func likePath(text string) bool {
	for _, start := range []string{"/", "./", "../", "~/", `.\`, `..\`} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
}

// sentence is how many words a request has at least whose first is, or is nearly, the name
// of a command.
const sentence = 4

// likeCommand is the command that the words seem to call, "" = none. A sentence may begin
// with its name, but has neither a flag nor a spec or a run behind it.
func likeCommand(words, commands []string) string {
	near := nearest(words[0], commands)
	if len(near) == 0 {
		return ""
	}
	rest := words[1:]
	if len(words) < sentence || slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-") }) || operand(rest[0]) {
		return near[0]
	}
	return ""
}

// operand reports whether a word can only be what a command is given: a spec or a run.
func operand(word string) bool {
	switch path.Ext(strings.ToLower(word)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return strings.HasPrefix(word, "orchestrate-") || runID.MatchString(word) || likePath(word)
}

// runID is what a run is called without the rest of its folder's name.
var runID = regexp.MustCompile(`^\d{8}-\d{6}(-\d+)?$`)

// nearest are the commands that a word is a slip of, nearest first.
func nearest(word string, commands []string) (near []string) {
	if len(word) > 40 {
		return nil
	}
	word = strings.ToLower(word)
	for slips := range 3 {
		for _, c := range commands {
			if spelling.Distance(word, c) == slips && slips <= 1+len(c)/5 {
				near = append(near, c)
			}
		}
	}
	return near
}

// short is the beginning of a text for a message.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
