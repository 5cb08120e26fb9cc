package arbiter

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// node is a value of an answer that is read loosely: what stands behind a key, or one
// of a list, whose key is "".
type node struct {
	key  string
	word string // of a string, a number or a bare word
	kids []node // of an object or a list
}

// deepest bounds how deep a loose reader follows braces.
const deepest = 50

// begins is where a JSON object may begin, whatever is wrong with the rest of it.
var begins = regexp.MustCompile(`\{\s*(?:"|\w+\s*:)`)

// loosely reads every object of a text, whatever is wrong with its form: commas too
// many or too few, brackets and ends that lack, quotes within quotes, prose around it.
// prose is what stands in none of them.
func loosely(text string) (all []node, prose string) {
	var out strings.Builder
	for {
		at := begins.FindStringIndex(text)
		if at == nil {
			return all, out.String() + text
		}
		out.WriteString(text[:at[0]] + "\n")
		r := looseReader{rest: text[at[0]:]}
		all = append(all, r.value(""))
		text = r.rest
	}
}

type looseReader struct {
	rest string
	open []byte // brackets that are open, by the one that closes them
	ends bool   // no string ends any more but with its line
}

func (r *looseReader) value(key string) node {
	r.rest = strings.TrimLeftFunc(r.rest, unicode.IsSpace)
	if r.rest == "" {
		return node{key: key}
	}
	switch c := r.rest[0]; {
	case c == '{' && len(r.open) < deepest:
		return r.within(key, '}')
	case c == '[' && len(r.open) < deepest:
		return r.within(key, ']')
	}
	return node{key: key, word: r.token()}
}

// within reads an object or a list, which are told apart by nothing but how they close.
func (r *looseReader) within(key string, closes byte) node {
	n := node{key: key}
	r.rest, r.open = r.rest[1:], append(r.open, closes)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	for {
		r.rest = strings.TrimLeftFunc(r.rest, func(c rune) bool { return unicode.IsSpace(c) || c == ',' || c == ':' })
		switch {
		case r.rest == "":
			return n
		case r.rest[0] == closes:
			r.rest = r.rest[1:]
			return n
		case strings.IndexByte("}]", r.rest[0]) >= 0:
			if slices.Contains(r.open, r.rest[0]) {
				return n // this one was not closed
			}
			r.rest = r.rest[1:]
		default:
			n.kids = append(n.kids, r.member())
		}
	}
}

// member is a value, with its key where it has one.
func (r *looseReader) member() node {
	n := r.value("")
	after := strings.TrimLeftFunc(r.rest, unicode.IsSpace)
	if n.kids != nil || n.word == "" || !strings.HasPrefix(after, ":") {
		return n
	}
	r.rest = strings.TrimLeftFunc(after[1:], unicode.IsSpace)
	if r.rest == "" || strings.IndexByte(",}]", r.rest[0]) >= 0 {
		return node{key: n.word}
	}
	return r.value(n.word)
}

// token is a string, or the word up to the next sign. It takes at least one character.
func (r *looseReader) token() string {
	if r.rest[0] == '"' {
		return r.quoted()
	}
	i := strings.IndexFunc(r.rest[1:], func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`,:{}[]"`, c) })
	word := r.rest
	if i >= 0 {
		word = r.rest[:i+1]
	}
	r.rest = r.rest[len(word):]
	return strings.Trim(word, "'`*")
}

// quoted is a string. It ends at a quote behind which one may; where there is none, with
// its line.
func (r *looseReader) quoted() string {
	text, end := r.rest[1:], -1
	for i := 0; i < len(text) && end < 0 && !r.ends; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			if after := strings.TrimLeft(text[i+1:], " \t\r"); after == "" || strings.IndexByte(",:}]\n", after[0]) >= 0 {
				end = i
			}
		}
	}
	skip := 1
	if end < 0 {
		skip, r.ends = 0, true
		if end = strings.IndexByte(text, '\n'); end < 0 {
			end = len(text)
		}
	}
	r.rest = text[end+skip:]
	var plain string
	if json.Unmarshal([]byte(`"`+text[:end]+`"`), &plain) == nil {
		return plain
	}
	return text[:end]
}
