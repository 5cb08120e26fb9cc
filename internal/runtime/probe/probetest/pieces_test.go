package probetest

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// A check that cannot fail keeps nothing.
func TestPiecesAreSeen(t *testing.T) {
	said := []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From("All is well.")}, {Kind: runtime.EventWarning, Text: untrusted.From("well, no")}}
	for stdout, want := range map[string]int{
		`{"type":"text","parts":[{"text":"All "}]}` + "\n" + `{"text":"All is"}`: 2,
		`{"type":"text","text":"All is well.","x":["well","A"]}` + "\nAll is":    0,
	} {
		if got := inPieces(nil, []byte(stdout), said); len(got) != want {
			t.Errorf("%s: %q", stdout, got)
		}
	}
}
