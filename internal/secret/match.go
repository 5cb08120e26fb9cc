package secret

import (
	"bytes"
	"encoding/base64"
)

// matchPEM takes a private key from its first line to its last, whatever stands
// between (line numbers, quotes). When the last line is not there (yet),
// everything that can belong to the body is taken. Without a body it is only talked
// about, unless the text ends and one may follow.
func matchPEM(b []byte, at, n int) (Span, bool) {
	head := b[at:min(len(b), at+n+120)]
	k := bytes.Index(head, privateKey)
	if k < 0 || run(head, n, k, labelSet) < k {
		return Span{}, false
	}
	limit := min(len(b), at+minWindow)
	for i := at + k; ; {
		end := bytes.Index(b[i:limit], []byte("-----END "))
		if end < 0 {
			break
		}
		i += end + len("-----END ")
		line := b[i:min(len(b), i+120)]
		t := bytes.Index(line, []byte("-----"))
		if t >= 0 && bytes.Contains(line[:t], privateKey) {
			end := i + t + 5
			return Span{From: at, Start: at, End: end}, hasBody(b[at+n : end])
		}
	}
	stop := run(b, at, limit-at, pemSet)
	return Span{From: at, Start: at, End: len(bytes.TrimRight(b[:stop], `\`))}, stop == len(b) || hasBody(b[at+n:stop])
}

// leastBody is how many characters of a key's body stand together in the shortest
// lines that are written.
const leastBody = 32

func hasBody(b []byte) bool {
	for i := 0; i < len(b); {
		end := run(b, i, leastBody, bodySet)
		if end-i == leastBody {
			return true
		}
		i = end + 1
	}
	return false
}

var (
	privateKey = []byte("PRIVATE KEY")
	labelSet   = set("A-Z0-9 ")
	bodySet    = set("a-zA-Z0-9+/=")
	// pemSet holds what is in the armour and the headers of a key, escapes, and
	// what tools put before a line.
	pemSet = func() *charset {
		c := set("a-zA-Z0-9+/=:,|>\\ \r\n\t-")
		for i := 0x80; i < 256; i++ {
			c[i] = true
		}
		return c
	}()
)

// matchJWT takes header.payload.signature; the signature may be missing.
func matchJWT(b []byte, at, n int) (Span, bool) {
	if !starts(b, at) {
		return Span{}, false
	}
	c := set64
	i := run(b, at, maxRun, c)
	if i-at < 17 || i+2 >= len(b) || b[i] != '.' || b[i+1] != 'e' || b[i+2] != 'y' {
		return Span{}, false
	}
	k := run(b, i+1, maxRun, c)
	if k-i < 17 {
		return Span{}, false
	}
	if k < len(b) && b[k] == '.' {
		k = run(b, k+1, maxRun, c)
	}
	return Span{From: at, Start: at, End: k}, true
}

var set64 = set("a-zA-Z0-9_/+=-")

// matchScheme takes the value of an Authorization header. Prose that goes on
// after "bearer" has no digit; Basic holds a colon when it is decoded.
func matchScheme(b []byte, at, n int) (Span, bool) {
	if !starts(b, at) {
		return Span{}, false
	}
	start := run(b, at+n, 8, blanks)
	end := run(b, start, maxRun, tokenSet)
	v := b[start:end]
	if lower(b[at]) == 'b' && lower(b[at+1]) == 'a' {
		var plain [96]byte
		m := min(len(v)/4*4, 128)
		k, err := base64.StdEncoding.Decode(plain[:], v[:m])
		if len(v) < 8 || err != nil || bytes.IndexByte(plain[:k], ':') < 0 {
			return Span{}, false
		}
		return Span{From: at, Start: start, End: end}, true
	}
	if len(v) < 16 || !has(v, digits) || entropy(v) < 3 {
		return Span{}, false
	}
	return Span{From: at, Start: start, End: end}, true
}

// matchHeader takes the value of a header that authenticates: Authorization,
// X-…-Token, Api-Key and their like.
func matchHeader(b []byte, at, n int) (Span, bool) {
	start := runBack(b, at, 32, nameSet)
	name := bytes.ToLower(b[start : at+n])
	if !bytes.HasPrefix(name, []byte("x-")) && !bytes.HasPrefix(name, []byte("api")) &&
		!bytes.HasSuffix(name, []byte("authorization:")) {
		return Span{}, false
	}
	i := run(b, at+n, 8, blanks)
	if k := run(b, i, 12, letters); k < len(b) && blanks[b[k]] {
		i = run(b, k, 8, blanks) // a scheme: Basic, Bearer, Token
	}
	end := run(b, i, maxRun, headerSet)
	if v := b[i:end]; len(v) < 8 || entropy(v) < minEntropy || classes(v) < 2 {
		return Span{}, false
	}
	return Span{From: start, Start: i, End: end}, true
}

var (
	nameSet   = set("a-zA-Z-")
	blanks    = set(" \t")
	headerSet = set("a-zA-Z0-9_.=+/~@:-")
)

// matchURL takes the password of scheme://user:password@host, or a long lone
// user part, which is a token.
func matchURL(b []byte, at, n int) (Span, bool) {
	if at == 0 || !word[b[at-1]] {
		return Span{}, false
	}
	start := at + n
	i := run(b, start, 256, userSet)
	if i >= len(b) || b[i] != '@' {
		return Span{}, false
	}
	user := b[start:i]
	k := bytes.IndexByte(user, ':')
	if k < 0 && (len(user) < 20 || !has(user, digits) || entropy(user) < 3) {
		return Span{}, false
	}
	if pass := user[k+1:]; len(pass) < 3 || placeholder(pass) {
		return Span{}, false
	}
	return Span{From: at, Start: start + k + 1, End: i}, true
}

var userSet = func() *charset {
	c := &charset{}
	for i := '!'; i < 256; i++ {
		c[i] = true
	}
	for _, stop := range "/?#@\"'`<>" {
		c[stop] = false
	}
	return c
}()

// matchCurlUser takes the password of curl -u user:password.
func matchCurlUser(b []byte, at, n int) (Span, bool) {
	line := b[max(0, at-512):at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	if !bytes.Contains(line, []byte("curl")) {
		return Span{}, false
	}
	i := run(b, at+n, 4, set(" \"'\\"))
	end := run(b, i, 256, argSet)
	k := bytes.IndexByte(b[i:end], ':')
	if k < 0 || end-i-k < 4 || placeholder(b[i+k+1:end]) {
		return Span{}, false
	}
	return Span{From: at, Start: i + k + 1, End: end}, true
}

var argSet = func() *charset {
	c := &charset{}
	for i := '!'; i < 256; i++ {
		c[i] = true
	}
	for _, stop := range "\"'`\\" {
		c[stop] = false
	}
	return c
}()

func matchAzure(b []byte, at, n int) (Span, bool) {
	start := runBack(b, at, 3, azureSet)
	end := run(b, at+n, 40, azureSet)
	return Span{From: start, Start: start, End: end}, at-start == 3 && end-at-n >= 31
}

var azureSet = set("a-zA-Z0-9_~.-")

func matchMaxmind(b []byte, at, n int) (Span, bool) {
	start := runBack(b, at, 36, word)
	return Span{From: start, Start: start, End: at + n}, at-start == 36 && b[start+6] == '_'
}

// around matches a literal with a run on both sides.
func around(least, most int, before *charset, after int, c *charset) matcher {
	return func(b []byte, at, n int) (Span, bool) {
		start := runBack(b, at, most, before)
		if at-start < least || run(b, at+n, after, c)-at-n < after {
			return Span{}, false
		}
		return Span{From: start, Start: start, End: run(b, at+n, maxRun, c)}, true
	}
}

type seg struct {
	c *charset
	n int
}

// segments matches a literal followed by runs of exact lengths.
func segments(sep string, segs ...seg) matcher {
	return func(b []byte, at, n int) (Span, bool) {
		if !starts(b, at) {
			return Span{}, false
		}
		i := at + n
		for k, s := range segs {
			if k > 0 {
				if i >= len(b) || b[i] != sep[0] {
					return Span{}, false
				}
				i++
			}
			if run(b, i, s.n, s.c)-i != s.n {
				return Span{}, false
			}
			i += s.n
		}
		return Span{From: at, Start: at, End: i}, true
	}
}

func has(b []byte, c *charset) bool {
	for _, x := range b {
		if c[x] {
			return true
		}
	}
	return false
}

// placeholder reports whether a value only stands for one: $NAME, {name}, <name>,
// ****, or something already redacted.
func placeholder(v []byte) bool {
	switch v[0] {
	case '$', '{', '<', '*', '[', '%':
		return v[0] != '%' || len(v) < 3 || !hexDigits[v[1]]
	}
	return false
}
