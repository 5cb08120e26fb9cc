package mcp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What is cut fits, keeps both ends, says where the rest is, and is text.
func TestCutKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringN(1, 40, -1).Draw(t, "piece"), rapid.IntRange(1, 400).Draw(t, "times"))
		most := rapid.IntRange(300, 4000).Draw(t, "most")
		short, was := cut(text, most, "file.md")
		switch {
		case size(short) > most:
			t.Fatalf("%d bytes, not %d", size(short), most)
		case !was && short != text:
			t.Fatal("changed, and it does not say so")
		case was && (size(text) <= most || !strings.Contains(short, "file.md") || !strings.HasPrefix(text, short[:1])):
			t.Fatalf("cut to %q", short)
		case utf8.ValidString(text) && !utf8.ValidString(short):
			t.Fatalf("%q is no text", short)
		}
	})
}

func TestFewSaysHowManyMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.String()).Draw(t, "all")
		most := rapid.IntRange(0, 200).Draw(t, "most")
		some, more := few(all, most)
		if len(some)+more != len(all) || some == nil || len(some) > 0 && size(some) > most+2 {
			t.Fatalf("%d of %d, %d more, %d bytes", len(some), len(all), more, size(some))
		}
	})
}
