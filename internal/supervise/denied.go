package supervise

import (
	"bytes"
	"strings"
)

// What programs say when the kernel refuses them something, whatever they are written in.
// rare is the part that is searched for: the others begin with letters that are in every
// second word, which makes the search ten times slower.
var refusals = [...]struct{ before, rare string }{{"ermission ", "denied"}, {"", "peration not permitted"}, {"", "EACCES"}, {"", "ross-device link"}, {"", "EXDEV"}}

const (
	longestRefusal = len("peration not permitted")
	// maxDenied is how many different refusals of an attempt are looked at.
	maxDenied = 50
	// deniedText is how much before and after the words is told, in bytes.
	deniedText = 140
	// deniedAround is how much before and after is redacted with it: a secret of which
	// only a part is seen is not known as one.
	deniedAround = 16 << 10
	// deniedSearch is how much of a stream is searched: in what floods beyond it nobody
	// reads a refusal, and the search would cost more than all the rest.
	deniedSearch = 64 << 20
)

// denied tells once of each different refusal that an attempt's streams show.
type denied struct {
	redact func(string) string
	tell   func(text string)
	seen   map[string]bool // as it was printed; never on disk
	told   map[string]bool
}

func newDenied(redact func(string) string, tell func(string)) *denied {
	return &denied{redact: redact, tell: tell, seen: map[string]bool{}, told: map[string]bool{}}
}

// spotter looks for refusals in one stream.
type spotter struct {
	last     []byte // the end of what came before
	searched int
}

// look searches a chunk, and where it meets the one before.
func (s *spotter) look(chunk []byte, d *denied) {
	if len(d.seen) >= maxDenied || s.searched >= deniedSearch {
		return
	}
	s.searched += len(chunk)
	s.seam(chunk, d)
	over := 0 // up to where something was told of
	for at, words := range matches(chunk) {
		if at >= over {
			over = d.found(s.last, chunk, at, words)
		}
		if len(d.seen) >= maxDenied {
			return
		}
	}
	if len(chunk) < deniedAround {
		s.last = append(s.last, chunk...)
		s.last = append(s.last[:0], s.last[max(0, len(s.last)-deniedAround):]...)
	} else {
		s.last = append(s.last[:0], chunk[len(chunk)-deniedAround:]...)
	}
}

// seam searches where the chunk meets what came before.
func (s *spotter) seam(chunk []byte, d *denied) {
	before := s.last[max(0, len(s.last)-longestRefusal+1):]
	seam := append(append([]byte{}, before...), chunk[:min(len(chunk), longestRefusal-1)]...)
	for at, words := range matches(seam) {
		if at < len(before) && at+len(words) > len(before) {
			whole := append(append([]byte{}, s.last...), chunk[:min(len(chunk), 2*deniedAround)]...)
			d.found(nil, whole, len(s.last)-len(before)+at, words)
		}
	}
}

// matches yields where refusals are in text, in their order.
func matches(text []byte) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var next [len(refusals)]int
		for i := range refusals {
			next[i] = index(text, i, 0)
		}
		for {
			first := 0
			for i := range next {
				if next[i] < next[first] {
					first = i
				}
			}
			at, words := next[first], refusals[first].before+refusals[first].rare
			if at == len(text) || !yield(at, words) {
				return
			}
			next[first] = index(text, first, at+len(words))
		}
	}
}

// index is where a refusal is first, at or after from; the end of text if nowhere.
func index(text []byte, refusal, from int) int {
	before, rare := refusals[refusal].before, []byte(refusals[refusal].rare)
	for at := from; ; {
		i := bytes.Index(text[at:], rare)
		if i < 0 {
			return len(text)
		}
		if start := at + i - len(before); start >= from && bytes.HasPrefix(text[start:], []byte(before)) {
			return start
		}
		at += i + len(rare)
	}
}

// found takes in a refusal at a place in chunk, which follows on last. It returns up to
// where the chunk was told of.
func (d *denied) found(last, chunk []byte, at int, words string) (over int) {
	end := at + len(words)
	start := max(0, at-deniedText)
	raw := string(chunk[start:min(len(chunk), end+deniedText)])
	from, to := around(raw, at-start, len(words))
	if raw = raw[from:to]; d.seen[raw] {
		return start + to
	}
	d.seen[raw] = true
	rest := chunk[end:min(len(chunk), end+deniedAround)]
	if len(rest) < deniedAround && bytes.IndexByte(rest, '\n') < 0 {
		rest = nil // its end has not come yet, and may be half a secret
	}
	var front []byte
	if at < deniedAround {
		front = append(front, last...)
	}
	front = append(front, chunk[max(0, at-deniedAround):at]...)
	d.say(string(front), words, string(rest))
	return start + to
}

// say tells of a refusal as it reads when secrets are taken out of what surrounds it.
func (d *denied) say(front, words, rest string) {
	nth := strings.Count(front+words, words)
	shown := d.redact(front + words + rest)
	at := -len(words)
	for range nth {
		next := strings.Index(shown[at+len(words):], words)
		if next < 0 {
			return // it was taken out with a secret
		}
		at += len(words) + next
	}
	from, to := around(shown, at, len(words))
	text := strings.ToValidUTF8(strings.TrimSpace(shown[from:to]), "")
	if !d.told[text] {
		d.told[text] = true
		d.tell(text)
	}
}

// around is the line with the words at that place, cut to what is told. An escaped line
// end is one too.
func around(text string, at, length int) (from, to int) {
	from, to = max(0, at-deniedText), min(len(text), at+length+deniedText)
	for _, end := range []string{"\n", `\n`} {
		if i := strings.LastIndex(text[from:at], end); i >= 0 {
			from += i + len(end)
		}
		if i := strings.Index(text[at+length:to], end); i >= 0 {
			to = at + length + i
		}
	}
	return from, to
}
