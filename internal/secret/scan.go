package secret

import (
	"encoding/binary"
	"slices"
	"sync"
)

const (
	tableBits = 15
	fold8     = 0x2020202020202020
)

// A scanner finds all literals of all rules in one pass: a table, indexed by a
// hash of three bytes with their case folded, leads to the few literals that can
// start there.
type scanner struct {
	table   [1 << tableBits]uint16 // 0 = nothing starts here, else 1 + index of an entry
	entries []entry
	rules   []rule
	forms   []form
}

// An entry is one literal and what it belongs to.
type entry struct {
	lit   string
	fold  bool // lit is lower case and matches any case
	kind  kind
	align uint8  // kindEncoded: bytes before the literal in its base64 group
	next  uint16 // the next entry of the same hash, as in table
	index int    // into rules or forms
	off   int    // kindForm: where in the form the literal is
}

type kind uint8

const (
	kindRule kind = iota
	kindEncoded
	kindForm
)

// patterns is the scanner of the built-in rules, made when first needed.
var patterns = sync.OnceValue(func() *scanner {
	s := &scanner{rules: builtin()}
	for i, r := range s.rules {
		for _, lit := range r.lits {
			s.add(entry{lit: lit, fold: r.fold, kind: kindRule, index: i})
			if r.fold || r.plain {
				continue
			}
			for align := range 3 {
				if enc, _ := encodedCore(lit, align); len(enc) >= 3 {
					s.add(entry{lit: enc, kind: kindEncoded, align: uint8(align), index: i})
				}
			}
		}
	}
	return s
})

func (s *scanner) clone() *scanner {
	return &scanner{table: s.table, entries: slices.Clone(s.entries), rules: s.rules}
}

func (s *scanner) add(e entry) {
	h := hash(uint64(e.lit[0]) | uint64(e.lit[1])<<8 | uint64(e.lit[2])<<16 | fold8&0xFFFFFF)
	e.next = s.table[h]
	s.entries = append(s.entries, e)
	s.table[h] = uint16(len(s.entries))
}

// addForm registers a form at its start and, when it may be broken over lines,
// once more behind the first break's possible places.
func (s *scanner) addForm(f form) {
	if len(s.entries) > 60_000 { // far beyond any environment; the table's index is 16 bits
		return
	}
	s.forms = append(s.forms, f)
	e := entry{lit: f.text[:min(len(f.text), 8)], kind: kindForm, index: len(s.forms) - 1}
	if !f.wraps {
		s.add(e)
		return
	}
	for _, off := range []int{0, 3} {
		if off+3 <= len(f.text) {
			e.lit, e.off = f.text[off:off+3], off
			s.add(e)
		}
	}
}

// hash maps the low three bytes of v to a place in the table.
func hash(v uint64) uint32 { return uint32(v) << 8 * 0x9E3779B1 >> (32 - tableBits) }

func (s *scanner) spans(dst []Span, b []byte) []Span {
	base, i := len(dst), 0
	t := &s.table
	for ; i+8 <= len(b); i += 6 {
		v := binary.LittleEndian.Uint64(b[i:]) | fold8
		if t[hash(v)]|t[hash(v>>8)]|t[hash(v>>16)]|t[hash(v>>24)]|t[hash(v>>32)]|t[hash(v>>40)] != 0 {
			dst = s.visit(dst, base, b, i, i+6)
		}
	}
	return s.visit(dst, base, b, i, len(b)-2)
}

// visit tries every literal that can start at a position in [i, end).
func (s *scanner) visit(dst []Span, base int, b []byte, i, end int) []Span {
	for ; i < end; i++ {
		v := uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | fold8&0xFFFFFF
		for n := s.table[hash(v)]; n != 0; n = s.entries[n-1].next {
			e := &s.entries[n-1]
			if !hasLiteral(b[i:], e) {
				continue
			}
			if sp, ok := s.try(e, b, i, last(dst, base)); ok {
				dst = merge(dst, base, sp)
			}
		}
	}
	return dst
}

func hasLiteral(b []byte, e *entry) bool {
	if len(b) < len(e.lit) {
		return false
	}
	if !e.fold {
		return string(b[:len(e.lit)]) == e.lit
	}
	for k := range len(e.lit) {
		if lower(b[k]) != e.lit[k] {
			return false
		}
	}
	return true
}

func (s *scanner) try(e *entry, b []byte, i int, prev Span) (Span, bool) {
	if e.kind == kindForm {
		from, to, ok := s.forms[e.index].match(b, i, e.off)
		return Span{From: from, Start: from, End: to, Rule: ExactRule}, ok
	}
	r := &s.rules[e.index]
	if i < prev.End && prev.Rule == r.id {
		return Span{}, false // already inside; looking again would cost the square
	}
	if e.kind == kindEncoded {
		return matchEncoded(r, b, i, int(e.align))
	}
	m, ok := r.match(b, i, len(e.lit))
	m.Rule = r.id
	return m, ok
}

func last(spans []Span, base int) Span {
	if len(spans) == base {
		return Span{}
	}
	return spans[len(spans)-1]
}

// merge adds sp, joining it with those it overlaps.
func merge(dst []Span, base int, sp Span) []Span {
	for len(dst) > base && dst[len(dst)-1].End > sp.Start {
		p := dst[len(dst)-1]
		sp.From, sp.Start, sp.End = min(sp.From, p.From), min(sp.Start, p.Start), max(sp.End, p.End)
		if sp.Rule != ExactRule {
			sp.Rule = p.Rule
		}
		dst = dst[:len(dst)-1]
	}
	return append(dst, sp)
}
