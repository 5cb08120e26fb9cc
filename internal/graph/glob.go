package graph

import (
	"path"
	"slices"
	"strings"
	"unicode"
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

const (
	anyOne  token = -1
	anyMany token = -2
)

var deep = segment{deep: true}

// compile reads a pattern relative to the folder dir, which is taken literally. Case
// is ignored because some file systems ignore it, and a pattern that ends in a plain
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
			toks = append(toks, anyOne)
		case '[':
			end := slices.Index(rs[i:], ']')
			if end < 2 || rs[i+1] == '^' || rs[i+1] == '!' || slices.Contains(rs[i:i+end], '\\') {
				return segment{}, false // unclosed, or too clever to be sure of
			}
			toks = append(toks, anyOne)
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
			toks = append(toks, token(foldRune(rs[i])))
		default:
			toks = append(toks, token(foldRune(rs[i])))
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
	return meet(p, q, func(s segment) bool { return s.deep }, segment.meets)
}

func (s segment) meets(other segment) bool {
	if s.literal() && other.literal() {
		return s.text == other.text
	}
	many := func(t token) bool { return t == anyMany }
	return meet(s.tokens(), other.tokens(), many, func(a, b token) bool {
		return a == b || a == anyOne || b == anyOne
	})
}

func (s segment) tokens() []token {
	if s.toks != nil {
		return s.toks
	}
	var out []token
	for _, r := range s.text {
		out = append(out, token(r))
	}
	return out
}

// meet reports whether two sequences have a common instance, where a wild element
// stands for any number of elements and eq says whether two others can be one.
// Row j of the table holds whether a[i:] and b[j:] meet, for the current i.
func meet[T any](a, b []T, wild func(T) bool, eq func(x, y T) bool) bool {
	next := make([]bool, len(b)+1)
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			inA, inB := i < len(a), j < len(b)
			switch {
			case !inA && !inB:
				row[j] = true
			case inA && wild(a[i]):
				row[j] = next[j] || inB && row[j+1]
			case inB && wild(b[j]):
				row[j] = row[j+1] || inA && next[j]
			default:
				row[j] = inA && inB && next[j+1] && eq(a[i], b[j])
			}
		}
		row, next = next, row
	}
	return next[0]
}

func fold(s string) string { return strings.Map(foldRune, s) }

// foldRune gives all cases of a letter one form.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
