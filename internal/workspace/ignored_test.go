package workspace

import (
	"maps"
	"slices"
	"testing"
)

func TestStandingOfOddNames(t *testing.T) {
	r, dir := newRepo(t)
	write(t, dir, ".gitignore", "*.env\n!kept.env\nbuild/\n")
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-qm", "ignore")
	for _, name := range []string{"a.env", ":(top)b.env", "sub dir/*.env", "build/x", "kept.env", "plain.txt", "tracked.env"} {
		write(t, dir, name, "x\n")
	}
	gitDo(t, dir, "add", "-f", "tracked.env")
	want := []string{":(top)b.env", "a.env", "build/x", "gone.env", "sub dir/*.env"}
	s, err := r.Standing(t.Context(), []string{"a.env", ":(top)b.env", "sub dir/*.env", "build/x", "kept.env", "plain.txt", "tracked.env", "gone.env"})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(s.Ignored)); !slices.Equal(got, want) {
		t.Errorf("ignored: %q", got)
	}
	if got := slices.Sorted(maps.Keys(s.Tracked)); !slices.Equal(got, []string{"tracked.env"}) {
		t.Errorf("tracked: %q", got)
	}
	for _, none := range [][]string{nil, {"plain.txt"}} {
		if s, err := r.Standing(t.Context(), none); err != nil || len(s.Ignored)+len(s.Tracked) > 0 {
			t.Errorf("%q: %+v, %v", none, s, err)
		}
	}
	tree := addTree(t, r, "orchestrate/x/a")
	if s, err := tree.Standing(t.Context(), []string{"a.env", "tracked.env"}); err != nil || !s.Ignored["a.env"] || !s.Ignored["tracked.env"] {
		t.Errorf("in the tree, which lacks tracked.env: %+v, %v", s, err)
	}
}
