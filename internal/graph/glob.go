package graph

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A pattern is a path pattern cut into segments. Matching is that of doublestar:
// `*` and `?` stay inside a segment, a segment `**` is any number of segments,
// `[…]` is one rune and `{a,b}` a choice. Everything here errs on the side of
// matching more, so that "these do not overlap" can be believed.
type pattern []segment

type segment struct {
	deep bool    // `**`
	text string  // the whole segment, when it has no wildcard; folded
	toks []token // the segment otherwise
}

// token is one folded rune, or one of the wildcards below.
type token rune

// A letter with an accent is one rune or several, as it was typed; some file systems
// take both for the same name. Here it is always several, and what stands for one
// letter of a pattern for all of those.
const (
	anyOne   token = -1
	anyMany  token = -2
	anyMarks token = -3 // what may follow the first rune of one letter
)

var deep = segment{deep: true}

// compile reads a pattern relative to the folder dir, which is taken literally. Case and
// how accents are written are ignored because some file systems ignore them, and a pattern that ends in a plain
// name also covers what is below a folder of that name.
func compile(dir, glob string) pattern {
	var p pattern
	for _, s := range strings.Split(path.Clean("/"+dir), "/") {
		if s != "" {
			p = append(p, segment{text: fold(s)})
		}
	}
	for _, s := range strings.Split(glob, "/") {
		switch s {
		case "", ".":
		case "**":
			p = append(p, deep)
		default:
			seg, ok := compileSegment(s)
			if !ok {
				return append(p, deep)
			}
			p = append(p, seg)
		}
	}
	if n := len(p); n == 0 || p[n-1].literal() {
		p = append(p, deep)
	}
	return p
}

func (s segment) literal() bool { return !s.deep && s.toks == nil }

// compileSegment reads one segment; not ok means that it may match anything from
// here on: a choice that spans segments, or a pattern that is not well formed.
func compileSegment(s string) (segment, bool) {
	if !strings.ContainsAny(s, `*?[]{}\`) {
		return segment{text: fold(s)}, true
	}
	toks := []token{}
	for i, rs := 0, []rune(s); i < len(rs); i++ {
		switch rs[i] {
		case '*':
			toks = append(toks, anyMany)
		case '?':
			toks = append(toks, anyOne, anyMarks)
		case '[':
			end := slices.Index(rs[i:], ']')
			if end < 2 || rs[i+1] == '^' || rs[i+1] == '!' || slices.Contains(rs[i:i+end], '\\') {
				return segment{}, false // unclosed, or too clever to be sure of
			}
			toks = append(toks, anyOne, anyMarks)
			i += end
		case '{':
			end := slices.Index(rs[i:], '}')
			if end < 0 || strings.ContainsAny(string(rs[i+1:i+end]), `{*\[`) {
				return segment{}, false
			}
			toks = append(toks, anyMany)
			i += end
		case '\\':
			if i++; i == len(rs) {
				return segment{}, false
			}
			toks = append(toks, tokensOf(string(rs[i]))...)
		default:
			toks = append(toks, tokensOf(string(rs[i]))...)
		}
	}
	return segment{toks: toks}, true
}

// overlaps reports whether some path may match both.
func (p pattern) overlaps(q pattern) bool {
	for len(p) > 0 && len(q) > 0 && p[0].literal() && q[0].literal() {
		if p[0].text != q[0].text {
			return false
		}
		p, q = p[1:], q[1:]
	}
	all := func(_, _ segment) bool { return true }
	return meet(p, q, func(s segment) bool { return s.deep }, all, segment.meets)
}

func (s segment) meets(other segment) bool {
	if s.literal() && other.literal() {
		return s.text == other.text
	}
	many := func(t token) bool { return t == anyMany || t == anyMarks }
	return meet(s.tokens(), other.tokens(), many, token.takes, func(a, b token) bool {
		return a == b || a == anyOne || b == anyOne
	})
}

// takes reports whether a wildcard for many runes may stand for another token.
func (t token) takes(other token) bool { return t == anyMany || other < 0 || follows(rune(other)) }

// follows reports whether a rune may be a later one of a letter that is written as
// several: an accent, or a part of a Korean syllable.
func follows(r rune) bool { return unicode.Is(unicode.M, r) || r >= 0x1161 && r <= 0x11ff }

func (s segment) tokens() []token {
	if s.toks != nil {
		return s.toks
	}
	return tokensOf(s.text)
}

// tokensOf are the tokens of plain text.
func tokensOf(text string) (out []token) {
	for _, r := range fold(text) {
		out = append(out, token(r))
	}
	return out
}

// meet reports whether two sequences have a common instance, where a wild element
// stands for any number of those elements that it takes, and eq says whether two others
// can be one. Row j of the table holds whether a[i:] and b[j:] meet, for the current i.
func meet[T any](a, b []T, wild func(T) bool, takes, eq func(x, y T) bool) bool {
	next := make([]bool, len(b)+1)
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			inA, inB := i < len(a), j < len(b)
			switch {
			case !inA && !inB:
				row[j] = true
			case inA && wild(a[i]):
				row[j] = next[j] || inB && row[j+1] && takes(a[i], b[j])
			case inB && wild(b[j]):
				row[j] = row[j+1] || inA && next[j] && takes(b[j], a[i])
			default:
				row[j] = inA && inB && next[j+1] && eq(a[i], b[j])
			}
		}
		row, next = next, row
	}
	return next[0]
}

func fold(s string) string { return norm.NFD.String(strings.Map(foldRune, norm.NFD.String(s))) }

// foldRune gives all cases of a letter one form.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
