package secret

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Fingerprint is what an operator writes down to say that a value is no secret:
// the rule that found it, a colon, and 16 hexadecimal digits of the value's SHA-256.
func Fingerprint(rule, value string) string {
	sum := sha256.Sum256([]byte(value))
	return rule + ":" + hex.EncodeToString(sum[:fingerprintDigits/2])
}

const fingerprintDigits = 16

// allowed are the values that an operator has allowed. Only the digits count, not
// the rule: the same value is found by several.
type allowed map[string]bool

func newAllowed(fingerprints []string) allowed {
	a := allowed{}
	for _, f := range fingerprints {
		a[f[strings.LastIndexByte(f, ':')+1:]] = true
	}
	return a
}

func (a allowed) has(value []byte) bool {
	sum := sha256.Sum256(value)
	return a[hex.EncodeToString(sum[:fingerprintDigits/2])]
}

// form reports whether an exact value, as it is or as it is written in JSON, is
// allowed.
func (a allowed) form(v string) bool {
	if len(a) == 0 {
		return false
	}
	return slices.ContainsFunc(escapes(v), func(e string) bool { return a.has([]byte(e)) })
}

// covers reports whether a match is of an allowed value. Other rules, and other
// detectors, draw the borders of a value elsewhere: it may be the whole match or
// word, have quotes, lack the punctuation at its ends, or be written with escapes
// here.
func (a allowed) covers(b []byte, m Span) bool {
	if len(a) == 0 {
		return false
	}
	quotes := b[max(0, m.Start-1):min(len(b), m.End+1)]
	word := b[runBack(b, m.Start, maxRun, visible):run(b, m.End, maxRun, visible)]
	for _, v := range [][]byte{b[m.Start:m.End], b[m.From:m.End], quotes, word} {
		if a.has(v) || a.has(bytes.Trim(v, edges)) || a.has([]byte(unescape.Replace(string(v)))) {
			return true
		}
	}
	return false
}

// visible is all but blanks and line ends.
var visible = func() *charset {
	c := &charset{}
	for i := '!'; i < 256; i++ {
		c[i] = true
	}
	return c
}()

const edges = "\"'`.,;:=/+~-_@ \t\r\n\\"

var unescape = strings.NewReplacer(`\r`, "\r", `\n`, "\n", `\t`, "\t", `\"`, `"`, `\/`, "/", `\\`, `\`)
