package report

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/untrusted"
)

// A page that is written in parts is the page: no character is cut, valid or not.
func TestThePartsOfAPageAreThePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Repeat("x", visiblePart-rapid.IntRange(0, 9).Draw(t, "before"))
		text := before + strings.Repeat(string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes"))+rapid.String().Draw(t, "text"), rapid.SampledFrom([]int{1, 30000}).Draw(t, "times"))
		var got bytes.Buffer
		out := &visible{to: &got}
		for rest := text; rest != ""; {
			n := min(len(rest), rapid.SampledFrom([]int{7, 4096, 3 * visiblePart}).Draw(t, "write"))
			if len(rest) > 1<<20 {
				n = len(rest) / 2
			}
			if _, err := out.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := out.rest(); err != nil {
			t.Fatal(err)
		}
		if want := untrusted.From(text).Block(); got.String() != want {
			t.Fatalf("%d bytes, want %d", got.Len(), len(want))
		}
	})
}
