package secret

// A charset is a set of bytes.
type charset [256]bool

// set builds a charset from single bytes and ranges such as a-z; a dash that is
// meant itself comes last.
func set(spec string) *charset {
	var c charset
	for i := 0; i < len(spec); i++ {
		if i+2 < len(spec) && spec[i+1] == '-' {
			for b := int(spec[i]); b <= int(spec[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[spec[i]] = true
	}
	return &c
}

var (
	alnum     = set("a-zA-Z0-9")
	hexDigits = set("a-fA-F0-9")
	digits    = set("0-9")
	letters   = set("a-zA-Z")
	lowerCase = set("a-z")
	upperCase = set("A-Z")
	upperNum  = set("A-Z0-9")
	word      = set("a-zA-Z0-9_")
	wordDash  = set("a-zA-Z0-9_-")
	wordDot   = set("a-zA-Z0-9_.-")
	tokenSet  = set("a-zA-Z0-9_.=+/~-")
	base64Set = set("a-zA-Z0-9+/_=-")
)

// run returns the end of the run of set members that starts at i, looking no
// further than limit bytes.
func run(b []byte, i, limit int, c *charset) int {
	end := min(len(b), i+limit)
	for i < end && c[b[i]] {
		i++
	}
	return i
}

// runBack returns the start of the run of set members that ends before i.
func runBack(b []byte, i, limit int, c *charset) int {
	end := max(0, i-limit)
	for i > end && c[b[i-1]] {
		i--
	}
	return i
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

// starts reports whether a token may start at i: the byte before is no word
// character, or belongs to an escape (\n, \u001b, %3D, a colour).
func starts(b []byte, i int) bool {
	if i == 0 || !word[b[i-1]] {
		return true
	}
	return escapeEnds(b, i)
}

func escapeEnds(b []byte, i int) bool {
	switch {
	case i > 1 && b[i-2] == '\\':
		return true
	case i > 2 && b[i-3] == '%' && hexDigits[b[i-1]] && hexDigits[b[i-2]]:
		return true
	case i > 5 && b[i-6] == '\\' && b[i-5] == 'u':
		return true
	}
	return b[i-1] == 'm' && colourEnds(b, i-1)
}

// colourEnds reports whether a terminal colour (ESC [ 1 ; 31 m) ends at i.
func colourEnds(b []byte, i int) bool {
	k := i
	for k > 0 && i-k < 16 && (digits[b[k-1]] || b[k-1] == ';') {
		k--
	}
	return k > 0 && b[k-1] == '['
}
