package secret

import "strings"

// maxDecode is how many base64 characters around a literal are decoded at most.
const maxDecode = 1024

// maxBack is how many characters before a literal are decoded at most: those of
// the longest that a rule looks back.
const maxBack = 3 + 4*(1+96/3)

// A decoding is the plain text around an encoded literal, and where each
// character of it was.
type decoding struct {
	chars [maxDecode]byte
	pos   [maxDecode]int
	n     int
	plain [maxDecode]byte
}

// match looks for a rule's secret in base64. The literal's encoding, for align
// bytes before it in its group, is at b[i:]. No more is decoded than the rule
// needs to decide, and then as much as the secret goes on.
func (d *decoding) match(r *rule, b []byte, i, align int, pass allowed) (Span, bool) {
	d.n = 0
	lead := d.lead(b, i, align, r.back)
	if lead < 0 {
		return Span{}, false
	}
	for limit := min(maxDecode, 64+2*r.need); ; limit = maxDecode {
		i = d.collect(b, i, limit)
		plain := d.decode()
		lit := literalLength(r, plain, lead)
		if lit == 0 {
			return Span{}, false
		}
		m, ok := r.match(plain, lead, lit)
		if !ok {
			return Span{}, false
		}
		open := m.End == len(plain)
		if !open || r.whole || d.n < limit || limit == maxDecode {
			return d.locate(b, m, r, open), !pass.covers(plain, m)
		}
	}
}

// lead takes the characters before i that belong to the literal's first group,
// and as many whole groups before that as there are and the rule looks back. It
// returns at which byte of the plain text the literal starts, -1 if the group is not
// whole.
func (d *decoding) lead(b []byte, i, align, back int) int {
	skip := [3]int{0, 2, 3}[align]
	before := d.collectBack(b, i, skip+4*(1+back/3))
	if before < skip {
		return -1
	}
	d.dropFront((before - skip) % 4)
	return align + (before-skip)/4*3
}

// literalLength is the length of the rule's literal that is at plain[at:].
func literalLength(r *rule, plain []byte, at int) int {
	for _, lit := range r.lits {
		if len(plain)-at >= len(lit) && strings.EqualFold(string(plain[at:at+len(lit)]), lit) {
			return len(lit)
		}
	}
	return 0
}

// collectBack takes up to n characters before i, over line breaks.
func (d *decoding) collectBack(b []byte, i, n int) int {
	var pos [maxBack]int
	k := 0
	for k < n {
		i = skipBreakBack(b, i)
		if i == 0 || sextets[b[i-1]] > 63 {
			break
		}
		i--
		pos[k] = i
		k++
	}
	for j := k - 1; j >= 0; j-- {
		d.chars[d.n], d.pos[d.n] = b[pos[j]], pos[j]
		d.n++
	}
	return k
}

func (d *decoding) dropFront(k int) {
	copy(d.chars[:], d.chars[k:d.n])
	copy(d.pos[:], d.pos[k:d.n])
	d.n -= k
}

// collect takes the characters from i on, over line breaks, until there are
// limit, and returns where it stopped.
func (d *decoding) collect(b []byte, i, limit int) int {
	for d.n < limit {
		if i >= len(b) || sextets[b[i]] > 63 {
			next := skipBreak(b, i)
			if next == i || next >= len(b) || sextets[b[next]] > 63 {
				return i
			}
			i = next
		}
		d.chars[d.n], d.pos[d.n] = b[i], i
		d.n++
		i++
	}
	return i
}

// decode accepts both alphabets.
func (d *decoding) decode() []byte {
	out := d.plain[:0]
	var acc uint32
	for k, c := range d.chars[:d.n] {
		acc = acc<<6 | uint32(sextets[c])
		switch k % 4 {
		case 1:
			out = append(out, byte(acc>>4))
		case 2:
			out = append(out, byte(acc>>2))
		case 3:
			out = append(out, byte(acc))
		}
	}
	return out
}

// sextets are the values of the base64 characters; others have 64.
var sextets = func() (t [256]byte) {
	for c := range t {
		t[c] = 64
	}
	for v, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = byte(v)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// locate maps a match in the plain text to the characters that hold it. An open
// one, that was decoded to its end, takes all that follows.
func (d *decoding) locate(b []byte, m Span, r *rule, open bool) Span {
	end := (m.End*8 + 5) / 6
	sp := Span{From: d.pos[m.From*8/6], Start: d.pos[m.Start*8/6], Rule: r.id}
	sp.End = d.pos[min(end, d.n)-1] + 1
	if r.whole || open {
		sp.End = restOfRun(b, sp.End)
	}
	return sp
}

// restOfRun is the end of the base64 text that goes on at i, over line breaks.
func restOfRun(b []byte, i int) int {
	limit := min(len(b), i+minWindow)
	for i < limit {
		next := skipBreak(b, i)
		if next >= len(b) || !base64Set[b[next]] {
			return i
		}
		i = next + 1
	}
	return i
}
