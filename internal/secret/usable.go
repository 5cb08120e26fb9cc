package secret

import "math"

const (
	minLength  = 8
	minEntropy = 2.5 // bits per byte
)

// Usable reports whether a value is long and varied enough to be taken out
// wherever it appears: at least 8 bytes, at least 2.5 bits of entropy per byte,
// and more than one word of letters unless it has 16 bytes or more. A password
// such as `test` or `production` is not: redacting it would only spoil text.
func Usable(value string) bool {
	if len(value) < minLength || entropy(value) < minEntropy {
		return false
	}
	return len(value) >= 16 || classes(value) >= 2
}

// Certain reports whether what the redactor takes out is a secret beyond doubt, so that
// a text may be refused for it, or an attempt fail. What is assigned to a word such as
// "password", or stands in a URL or a header, must look made by a machine: 16 bytes or
// more (14 in a URL or a header), letters and digits, at least 3.3 bits of entropy per
// byte. Anything else may be an example or a test's, and is only taken out.
func Certain(rule, value string) bool {
	least := 16
	switch rule {
	case "password", "assigned-secret", "service-key", "curl-user":
	case "url-credentials", "authorization":
		least = 14
	default:
		return true
	}
	return random([]byte(value), least)
}

// Unmistakable reports whether a rule knows a secret by its own shape, so that it is
// found also where any bytes may stand: not by a name before it, nor by words that
// programs hold.
func Unmistakable(rule string) bool {
	switch rule {
	case "password", "assigned-secret", "service-key", "curl-user", "url-credentials", "authorization", "private-key", "typeform-token":
		return false
	}
	return true
}

// random reports whether a value of so many bytes looks made by a machine.
func random(v []byte, least int) bool {
	return len(v) >= least && has(v, digits) && has(v, letters) && entropy(v) >= 3.3
}

// entropy is the Shannon entropy of the first 96 bytes of s in bits per byte.
func entropy[T string | []byte](s T) float64 {
	s = s[:min(len(s), 96)]
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}

// classes counts which of lower case, upper case, digits and others occur in s.
func classes[T string | []byte](s T) int {
	var lo, up, di, other int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			lo = 1
		case c >= 'A' && c <= 'Z':
			up = 1
		case c >= '0' && c <= '9':
			di = 1
		default:
			other = 1
		}
	}
	return lo + up + di + other
}
