// Package shellword writes words so that a POSIX shell reads them back unchanged:
// every command that a person is shown can be pasted.
package shellword

import "strings"

// Quote quotes a word, only where a shell would read it otherwise.
func Quote(word string) string {
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Join is a command line of the quoted words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// special reports whether a character may mean something to some shell. A tilde
// means something only at the beginning, but is rare enough to be quoted always.
func special(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=@%+,", r)
}
