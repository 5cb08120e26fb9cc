package probe

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Words looks for subcommands in the list that a help text has of them, and returns those
// that it shows, each with the line that shows it.
func Words(help string, wanted ...string) map[string]string {
	shown := map[string]string{}
	listed := false
	for line := range strings.SplitSeq(help, "\n") {
		if isHeading(line) {
			listed = strings.TrimSpace(line) == "Commands:"
			continue
		}
		if fields := strings.Fields(line); listed && len(fields) > 1 && slices.Contains(wanted, fields[0]) {
			shown[fields[0]] = Bounded(strings.Join(fields, " "), 240)
		}
	}
	return shown
}

// optionIndent is the widest indent of a line that defines an option. Wrapped
// descriptions, which may well begin with the name of another flag, stand
// further right.
const optionIndent = 8

// Flags looks for each wanted flag in a help text and returns those that it
// shows, each with the text that shows it. "--flag=value" asks for the flag and
// for that word in its description, where the accepted values are listed.
func Flags(help string, wanted ...string) map[string]string {
	shown := map[string]string{}
	for _, want := range wanted {
		flag, value, hasValue := strings.Cut(want, "=")
		block := optionBlock(help, flag)
		if block == "" || (hasValue && !hasWord(block, value)) {
			continue
		}
		shown[want] = Bounded(block, 240)
	}
	return shown
}

// optionBlock is the definition of flag in help, on one line: the line that
// names it and its description. It is "" when help does not define the flag.
func optionBlock(help, flag string) string {
	var block []string
	for line := range strings.SplitSeq(help, "\n") {
		names, isOption := optionNames(line)
		switch {
		case len(block) > 0 && (isOption || isHeading(line)):
			return strings.Join(block, " ")
		case len(block) > 0 || slices.Contains(names, flag):
			block = append(block, strings.Fields(line)...)
		}
	}
	return strings.Join(block, " ")
}

// optionNames are the flags that one help line defines: "-c, --config <k=v>  …".
func optionNames(line string) (names []string, ok bool) {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > optionIndent || !strings.HasPrefix(trimmed, "-") {
		return nil, false
	}
	column, _, _ := strings.Cut(trimmed, "  ")
	for part := range strings.SplitSeq(column, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		if strings.HasPrefix(name, "-") {
			names = append(names, name)
		}
	}
	return names, true
}

func isHeading(line string) bool {
	return line != "" && line[0] != ' '
}

func hasWord(text, word string) bool {
	for field := range strings.FieldsSeq(text) {
		if strings.Trim(field, `"',()[].:;`) == word {
			return true
		}
	}
	return false
}

// Bounded cuts s to at most limit bytes, at a character boundary.
func Bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
