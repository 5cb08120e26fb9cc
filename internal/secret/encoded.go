package secret

// maxDecode is how many base64 characters around a literal are decoded.
const maxDecode = 1024

// A decoding is the plain text around an encoded literal, and where each
// character of it was.
type decoding struct {
	chars [maxDecode + 8]byte
	pos   [maxDecode + 8]int
	n     int
	plain [maxDecode]byte
}

// matchEncoded looks for a rule's secret in base64. The literal's encoding, for
// align bytes before it in its group, is at b[i:].
func matchEncoded(r *rule, b []byte, i, align int) (Span, bool) {
	var d decoding
	skip := [3]int{0, 2, 3}[align]
	before := d.collectBack(b, i, skip+4)
	lead := align
	switch {
	case before == skip+4:
		lead += 3
	case before >= skip:
		d.dropFront(before - skip)
	default:
		return Span{}, false
	}
	d.collect(b, i)
	plain := d.decode()
	if len(plain) <= lead {
		return Span{}, false
	}
	lit := literalLength(r, plain, lead)
	if lit == 0 {
		return Span{}, false
	}
	m, ok := r.match(plain, lead, lit)
	if !ok {
		return Span{}, false
	}
	return d.locate(r, b, m), true
}

// literalLength is the length of the rule's literal that is at plain[at:].
func literalLength(r *rule, plain []byte, at int) int {
	for _, lit := range r.lits {
		if len(plain)-at >= len(lit) && string(plain[at:at+len(lit)]) == lit {
			return len(lit)
		}
	}
	return 0
}

// collectBack takes up to n characters before i, over line breaks.
func (d *decoding) collectBack(b []byte, i, n int) int {
	var pos [8]int
	k := 0
	for k < n {
		i = skipBreakBack(b, i)
		if i == 0 || b[i-1] == '=' || !base64Set[b[i-1]] {
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

// collect takes the characters from i on, over line breaks.
func (d *decoding) collect(b []byte, i int) {
	for d.n < maxDecode {
		if i >= len(b) || b[i] == '=' || !base64Set[b[i]] {
			next := skipBreak(b, i)
			if next == i || next >= len(b) || !base64Set[b[next]] {
				return
			}
			i = next
		}
		d.chars[d.n], d.pos[d.n] = b[i], i
		d.n++
		i++
	}
}

// decode accepts both alphabets.
func (d *decoding) decode() []byte {
	out := d.plain[:0]
	var acc uint32
	for k := range d.n {
		acc = acc<<6 | uint32(sextet(d.chars[k]))
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

func sextet(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A'
	case c >= 'a' && c <= 'z':
		return c - 'a' + 26
	case c >= '0' && c <= '9':
		return c - '0' + 52
	case c == '+' || c == '-':
		return 62
	}
	return 63
}

// locate maps a match in the plain text to the characters that hold it.
func (d *decoding) locate(r *rule, b []byte, m Span) Span {
	first, end := m.Start*8/6, (m.End*8+5)/6
	sp := Span{From: d.pos[m.From*8/6], Start: d.pos[first], Rule: r.id}
	sp.End = d.pos[min(end, d.n)-1] + 1
	if r.whole || m.End == d.n*6/8 {
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
