package workspace

import (
	"slices"
	"testing"
)

func TestNamesAtAreThoseOfTheTopOfThatCommit(t *testing.T) {
	r, _ := newRepo(t)
	base, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.NamesAt(t.Context(), base)
	if err != nil || !slices.Contains(names, "a.txt") {
		t.Errorf("names %q, %v", names, err)
	}
}
