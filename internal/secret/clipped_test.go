package secret

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestWhatWasCutOffShowsNoHalfOfASecret, wherever the cut was.
func TestWhatWasCutOffShowsNoHalfOfASecret(t *testing.T) {
	const value = `Xq7-2b "Vt9 LmPz4RwKd8H`
	red := New([]string{value})
	texts := []string{"it is " + value, base64.StdEncoding.EncodeToString([]byte("it is " + value + " and more"))}
	for _, s := range shapes {
		texts = append(texts, "before "+s.text)
	}
	for _, text := range texts {
		for cut := range len(text) {
			got := red.Clipped(text[:cut] + Ellipsis)
			for k, s := range append([]struct{ text, hidden string }{{value, value}}, shapes...) {
				if half := s.hidden[:min(len(s.hidden), max(9, len(s.hidden)/2))]; shows(got, half) {
					t.Fatalf("shape %d, cut at %d: %q is shown of %q", k, cut, got, text)
				}
			}
		}
	}
}

func TestWhatWasCutOffKeepsItsWords(t *testing.T) {
	red := New([]string{"Xq7-2bVt9LmPz4RwKd8H"})
	for _, text := range []string{"to be continued…", `{"file_path":"/a/b.go","content":"package…`, "it took 4321 ms…", "…", "", "no cut here glrt-QNd1"} {
		if got := red.Clipped(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := red.Clipped("the key is glrt-QNd1…"); strings.Contains(got, "QNd1") {
		t.Error(got)
	}
}
