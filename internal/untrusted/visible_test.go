package untrusted

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slowly is what visible makes, character by character.
func slowly(s string, lines bool) string {
	var b strings.Builder
	for _, c := range s {
		show(&b, c, lines)
	}
	return b.String()
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain ~ text!":            "plain ~ text!",
		"two\n\tlines\r\n":         "two\n\tlines \n",
		"a\x1b[31mb":               "a(U+001B)[31mb",
		"\x00\x7f":                 "(U+0000)(U+007F)",
		"née\u202eeén":             "née(U+202E)eén",
		"cut\xff\xc3":              "cut\ufffd\ufffd",
		"a\u00a0b\u2028c":          "a b c",
		"\u3164\u115f\u1160\ue000": "(U+3164)(U+115F)(U+1160)(U+E000)",
		strings.Repeat("x", 9000):  strings.Repeat("x", 9000),
	} {
		if got := visible(in, true); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// What needs no care is taken over as it is; nothing that needs some may be part of that.
func TestPlainTextIsTakenAsItIs(t *testing.T) {
	mixed := rapid.Custom(func(t *rapid.T) string {
		return rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.String(), rapid.StringN(0, 5, 20),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) })).Draw(t, "part")
	})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(mixed, 0, 6).Draw(t, "parts"), "")
		for _, lines := range []bool{false, true} {
			if got, want := visible(s, lines), slowly(s, lines); got != want {
				t.Fatalf("%q, lines %v: %q, want %q", s, lines, got, want)
			}
		}
	})
}

func BenchmarkBlock(b *testing.B) {
	for name, text := range map[string]string{
		"plain": strings.Repeat("<p>Job <a href=\"#job-write\">write</a>: 2 files</p>\n", 20_000),
		"mixed": strings.Repeat("<p>Job — “write”, née: 2 files and a few words more</p>\n", 20_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				From(text).Block()
			}
		})
	}
}
