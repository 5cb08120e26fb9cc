package secret

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
)

const tableBits = 16

// A scanner finds all literals of all rules in one pass: a table, indexed by a
// hash of three bytes, leads to the few literals that hold those bytes. Of each
// literal the three bytes that are rarest in ordinary text stand in the table.
type scanner struct {
	table   [1 << tableBits]uint16 // 0 = nothing, else 1 + index into heads
	heads   []uint32               // the newest entry of a place in the table, as next
	entries []entry
	rules   []rule
	forms   []form
	allow   allowed    // never spans of these values
	decode  *sync.Pool // of *decoding
}

// An entry is one literal and what it belongs to.
type entry struct {
	lit   string
	off   int    // where in lit the window is
	index int    // into rules
	next  uint32 // 1 + index of the next entry of the same hash, 0 = none
	kind  kind
	fold  bool  // lit is lower case and matches any case
	align uint8 // kindEncoded: bytes before the literal in its base64 group
}

type kind uint8

const (
	kindRule kind = iota
	kindEncoded
	kindForm
	kindWrapped
)

// patterns is the scanner of the built-in rules, made when first needed.
var patterns = sync.OnceValue(func() *scanner {
	s := &scanner{rules: builtin(), decode: &sync.Pool{New: func() any { return new(decoding) }}}
	for i, r := range s.rules {
		for _, lit := range r.encoded {
			s.addEncoded(lit, i)
		}
		for _, lit := range r.lits {
			off := rarest(lit)
			s.add(lit[off:off+3], entry{lit: lit, off: off, fold: r.fold, kind: kindRule, index: i})
			if r.plain {
				continue
			}
			s.addEncoded(lit, i)
			if r.fold {
				s.addEncoded(strings.ToUpper(lit), i)
				s.addEncoded(strings.ToUpper(lit[:1])+lit[1:], i)
			}
		}
	}
	return s
})

// byRarity lists letters from the most to the least frequent in text.
const byRarity = "etaoinshrdlcumwfgypbvkjxqz"

// rarest returns where in lit the three bytes are that occur least in text.
func rarest(lit string) int {
	best, at := -1, 0
	for i := 0; i+3 <= len(lit); i++ {
		score := 0
		for k := i; k < i+3; k++ {
			if n := strings.IndexByte(byRarity, lit[k]); n >= 0 {
				score += n
			} else if lit[k] != ' ' {
				score += 2 * len(byRarity)
			}
		}
		if score > best {
			best, at = score, i
		}
	}
	return at
}

func (s *scanner) clone() *scanner {
	c := *s
	c.heads, c.entries = slices.Clone(s.heads), slices.Clone(s.entries)
	return &c
}

// add enters e under the window, when it folds under every case of it.
func (s *scanner) add(window string, e entry) {
	for _, w := range cases(window, e.fold) {
		h := hash(uint32(w[0]) | uint32(w[1])<<8 | uint32(w[2])<<16)
		if s.table[h] == 0 {
			s.heads = append(s.heads, 0)
			s.table[h] = uint16(len(s.heads))
		}
		head := &s.heads[s.table[h]-1]
		e.next = *head
		s.entries = append(s.entries, e)
		*head = uint32(len(s.entries))
	}
}

// cases lists a window in every case.
func cases(window string, fold bool) []string {
	all := []string{window}
	for k := 0; fold && k < len(window); k++ {
		if window[k] < 'a' || window[k] > 'z' {
			continue
		}
		for _, w := range all {
			all = append(all, w[:k]+strings.ToUpper(w[k:k+1])+w[k+1:])
		}
	}
	return all
}

// addEncoded registers the base64 of a rule's literal.
func (s *scanner) addEncoded(lit string, index int) {
	for align := range 3 {
		enc, _ := encodedCore(lit, align)
		s.addWrapped(entry{lit: enc, kind: kindEncoded, align: uint8(align), index: index})
	}
}

// addWrapped registers text that may be broken over lines at two places, of
// which a break can divide only one (where there is room for two).
func (s *scanner) addWrapped(e entry) {
	if len(e.lit) < 3 {
		return
	}
	second := min(3, len(e.lit)-3)
	s.add(e.lit[:3], e)
	if e.off = second; second > 0 {
		s.add(e.lit[second:second+3], e)
	}
}

// addForm registers a form of an exact value.
func (s *scanner) addForm(f form) {
	s.forms = append(s.forms, f)
	if f.wraps {
		s.addWrapped(entry{lit: f.text, kind: kindWrapped})
		return
	}
	off := rarest(f.text)
	s.add(f.text[off:off+3], entry{lit: f.text, off: off, kind: kindForm})
}

// hash maps the low three bytes of v to a place in the table.
func hash(v uint32) uint32 { return v << 8 * 0x9E3779B1 >> (32 - tableBits) }

func (s *scanner) spans(dst []Span, b []byte) []Span {
	base, i := len(dst), 0
	t := &s.table
	for ; i+8 <= len(b); i += 6 {
		v := binary.LittleEndian.Uint64(b[i:])
		if t[hash(uint32(v))]|t[hash(uint32(v>>8))]|t[hash(uint32(v>>16))]|
			t[hash(uint32(v>>24))]|t[hash(uint32(v>>32))]|t[hash(uint32(v>>40))] != 0 {
			dst = s.visit(dst, base, b, i, 6, v)
		}
	}
	var v uint64
	for k, c := range b[i:] {
		v |= uint64(c) << (8 * k)
	}
	return s.visit(dst, base, b, i, len(b)-2-i, v)
}

// visit tries every literal that has its window at one of the n positions from i
// on; v holds the bytes there.
func (s *scanner) visit(dst []Span, base int, b []byte, i, n int, v uint64) []Span {
	for end := i + n; i < end; i, v = i+1, v>>8 {
		place := s.table[hash(uint32(v))]
		if place == 0 {
			continue
		}
		for n := s.heads[place-1]; n != 0; {
			e := &s.entries[n-1]
			n = e.next
			at, to, ok := e.find(b, i)
			if !ok {
				continue
			}
			if sp, ok := s.try(e, b, at, to, last(dst, base)); ok {
				dst = merge(dst, base, sp)
			}
		}
	}
	return dst
}

// find returns where e's literal is when its window is at b[i:].
func (e *entry) find(b []byte, i int) (at, to int, ok bool) {
	if e.kind == kindEncoded || e.kind == kindWrapped {
		return wrapped(e.lit, b, i, e.off)
	}
	at = i - e.off
	to = at + len(e.lit)
	if at < 0 || to > len(b) {
		return 0, 0, false
	}
	if !e.fold {
		return at, to, string(b[at:to]) == e.lit
	}
	for k := range len(e.lit) {
		if lower(b[at+k]) != e.lit[k] {
			return 0, 0, false
		}
	}
	return at, to, true
}

// try decides about the literal of e at b[at:to].
func (s *scanner) try(e *entry, b []byte, at, to int, prev Span) (Span, bool) {
	if e.kind == kindForm || e.kind == kindWrapped {
		m := Span{From: at, Start: at, End: to, Rule: ExactRule}
		return m, !s.allow.covers(b, m)
	}
	r := &s.rules[e.index]
	if at < prev.End && prev.Rule == r.id {
		return Span{}, false // already inside; looking again would cost the square
	}
	if e.kind == kindEncoded {
		d := s.decode.Get().(*decoding)
		defer s.decode.Put(d)
		m, ok := d.match(r, b, at, int(e.align), s.allow)
		return m, ok && !s.allow.covers(b, m) // its encoded spelling may be what was allowed
	}
	m, ok := r.match(b, at, to-at)
	m.Rule = r.id
	return m, ok && !s.allow.covers(b, m)
}

func last(spans []Span, base int) Span {
	if len(spans) == base {
		return Span{}
	}
	return spans[len(spans)-1]
}

// merge puts sp in its place, joined with those it overlaps.
func merge(dst []Span, base int, sp Span) []Span {
	k := len(dst)
	for k > base && dst[k-1].Start >= sp.End {
		k--
	}
	end := k
	for k > base && dst[k-1].End > sp.Start {
		k--
		p := dst[k]
		sp.From, sp.Start, sp.End = min(sp.From, p.From), min(sp.Start, p.Start), max(sp.End, p.End)
		if sp.Rule != ExactRule {
			sp.Rule = p.Rule
		}
	}
	return slices.Replace(dst, k, end, sp)
}
