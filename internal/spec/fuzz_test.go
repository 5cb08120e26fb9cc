package spec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse wants no panic on any input, a position for every message, and that
// a spec which is accepted can be written out and read again.
func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, m := range mistakes {
		f.Add([]byte(m.spec))
	}
	for _, m := range wrongPatterns {
		f.Add([]byte(patterned(m.jobs...)))
	}
	for _, jobs := range wholePatterns {
		f.Add([]byte(patterned(jobs...)))
	}
	f.Add(Starter())
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ds := Parse("jobs.yaml", data, Options{Cwd: root, Dir: root, Secrets: planted})
		for _, d := range ds {
			if d.Pos.Line < 1 || d.Pos.Col < 1 || d.Pos.File == "" || d.Message == "" {
				t.Fatalf("no place or message: %+v", d)
			}
		}
		Format(ds, data)
		if (s == nil) != (len(ds) > 0) {
			t.Fatalf("spec %v with %d diagnostics", s, len(ds))
		}
		if s == nil {
			return
		}
		out := s.Resolved()
		again, ds := Parse("jobs.yaml", out, Options{Cwd: root, Dir: root, Resolved: true})
		if len(ds) > 0 {
			t.Fatalf("resolved spec is refused: %v\n%s", ds, out)
		}
		if diff := cmp.Diff(s, again, sameSpec); diff != "" {
			t.Fatalf("%s\n%s", diff, out)
		}
	})
}
