package secret

import "bytes"

// digestMarks say that a digest follows, and how many bytes it has.
var digestMarks = []struct {
	mark string
	size int
}{
	{"h1:", 32},
	{"sha1:", 20},
	{"sha1-", 20},
	{"sha224:", 28},
	{"sha256:", 32},
	{"sha256-", 32},
	{"sha384:", 48},
	{"sha384-", 48},
	{"sha512:", 64},
	{"sha512-", 64},
	{"md5:", 16},
	{"md5-", 16},
}

// Digest reports whether a value is a digest that is marked as one, in front of it or
// at its beginning, as lock files have it: h1:…, sha512-…, sha256:…. It is of no use to
// a thief, whatever name stands before.
func Digest(before, value []byte) bool {
	for _, d := range digestMarks {
		mark := []byte(d.mark)
		if own, ok := bytes.CutPrefix(value, mark); ok && holds(own, d.size) {
			return true
		}
		at, ok := bytes.CutSuffix(before, mark)
		if ok && (len(at) == 0 || !word[at[len(at)-1]]) && holds(value, d.size) {
			return true
		}
	}
	return false
}

// holds reports whether value is so many bytes in hexadecimal or base64.
func holds(value []byte, size int) bool {
	if len(value) == 2*size && run(value, 0, len(value), hexDigits) == len(value) {
		return true
	}
	text := bytes.TrimRight(value, "=")
	return len(text) == (size*8+5)/6 && run(text, 0, len(text), base64Set) == len(text)
}
