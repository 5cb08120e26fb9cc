package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ExactRule is the rule of a secret that was found by its value.
const ExactRule = "exact"

// A form is one way in which an exact value can appear in text.
type form struct {
	text  string
	wraps bool // base64: may be broken over lines
}

// formsOf lists every form of every usable value that is not allowed, each once.
func formsOf(exact []string, pass allowed) []form {
	seen := map[form]bool{}
	var forms []form
	put := func(text string, wraps bool) {
		f := form{text, wraps}
		if len(text) >= 3 && !seen[f] {
			seen[f] = true
			forms = append(forms, f)
		}
	}
	for _, v := range values(exact, pass) {
		for _, e := range escapes(v) {
			put(e, false)
			for align := range 3 {
				std, urlSafe := encodedCore(e, align)
				put(std, true)
				put(urlSafe, true)
			}
		}
		put(url.QueryEscape(v), false)
		put(url.PathEscape(v), false)
	}
	return forms
}

// values are the usable ones of exact, and the usable lines of those that have
// several (a key that is printed with an indent).
func values(exact []string, pass allowed) []string {
	var all []string
	for _, v := range exact {
		v = strings.TrimSpace(v)
		if !Usable(v) || pass.form(v) {
			continue
		}
		all = append(all, v)
		if !strings.Contains(v, "\n") {
			continue
		}
		for line := range strings.Lines(v) {
			line = strings.TrimSpace(line)
			if len(line) >= 16 && Usable(line) && !pass.form(line) && !strings.HasPrefix(line, "-----") {
				all = append(all, line)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// escapes are v itself and v inside a JSON string, as the common encoders write
// it, also when that JSON is itself a string in JSON.
func escapes(v string) []string {
	plain, html := jsonString(v, false), jsonString(v, true)
	all := []string{
		v, plain, html, jsonString(plain, false), jsonString(html, true),
		inner(strconv.QuoteToASCII(v)), octal(v), strings.ReplaceAll(plain, "/", `\/`),
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// octal is v as git writes it in the name of a file.
func octal(v string) string {
	var b strings.Builder
	for i := range len(v) {
		switch c := v[i]; {
		case c >= 0x80:
			fmt.Fprintf(&b, `\%03o`, c)
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func jsonString(v string, html bool) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(html)
	if enc.Encode(v) != nil { // cannot happen for a string
		return v
	}
	return inner(strings.TrimSuffix(out.String(), "\n"))
}

// inner takes the quotes off.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// encodedCore returns those base64 characters, in the standard and in the URL
// alphabet, that text determines alone when it starts align bytes into a group
// of three.
func encodedCore(text string, align int) (std, urlSafe string) {
	padded := append(make([]byte, align, align+len(text)), text...)
	skip := [3]int{0, 2, 3}[align]
	full := len(padded) * 8 / 6
	if full <= skip {
		return "", ""
	}
	return base64.RawStdEncoding.EncodeToString(padded)[skip:full],
		base64.RawURLEncoding.EncodeToString(padded)[skip:full]
}

// wrapped reports where text, which may be broken over lines, is when the part
// of it at off is at b[i:].
func wrapped(text string, b []byte, i, off int) (from, to int, ok bool) {
	to = i
	for k := off; k < len(text); k++ {
		if k > off {
			to = skipBreak(b, to)
		}
		if to >= len(b) || b[to] != text[k] {
			return 0, 0, false
		}
		to++
	}
	from = i
	for k := off - 1; k >= 0; k-- {
		from = skipBreakBack(b, from)
		if from == 0 || b[from-1] != text[k] {
			return 0, 0, false
		}
		from--
	}
	return from, to, true
}

// blockLine is the least length of a line in a block of base64; tools write 64 or
// 76 characters.
const blockLine = 40

func endsBlockLine(b []byte, end int) bool {
	return end-runBack(b, end, blockLine, base64Set) == blockLine
}

// skipBreak returns the position behind a line break at b[i:], raw or escaped.
func skipBreak(b []byte, i int) int {
	for i < len(b) {
		switch {
		case b[i] == '\n' || b[i] == '\r':
			i++
		case b[i] == '\\' && i+1 < len(b) && (b[i+1] == 'n' || b[i+1] == 'r'):
			i += 2
		default:
			return i
		}
	}
	return i
}

// skipBreakBack is skipBreak towards the front.
func skipBreakBack(b []byte, i int) int {
	for i > 0 {
		switch {
		case b[i-1] == '\n' || b[i-1] == '\r':
			i--
		case i > 1 && b[i-2] == '\\' && (b[i-1] == 'n' || b[i-1] == 'r'):
			i -= 2
		default:
			return i
		}
	}
	return i
}
