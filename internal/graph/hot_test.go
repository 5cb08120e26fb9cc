package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/spec"
)

func hotOf(files ...string) []Hot {
	var in HotIn
	for _, f := range files {
		in.Add(f, strings.HasPrefix(f, "declared/"))
	}
	return in.All()
}

func TestWhatIsHot(t *testing.T) {
	got := hotOf("go.sum", "web/package-lock.json", "py/poetry.lock", "flake.lock", "a/db/migrations/0001_init.sql", "a/db/migrations/0002_more.sql",
		"alembic/versions/abc.py", "versions/x.py", "api/x.pb.go", "api/x_pb2.py", "ui/t.gen.ts", "ui/__snapshots__/b.txt", "ui/a.snap", "ui/__generated__/t.ts", "declared/any.go",
		"vendor/x/go.sum", "web/node_modules/y/yarn.lock", "main.go", "migrations.md", "lock")
	want := []Hot{
		{HotLock, "go.sum"},
		{HotLock, "web/package-lock.json"},
		{HotLock, "py/poetry.lock"},
		{HotLock, "flake.lock"},
		{HotMigration, "a/db/migrations"},
		{HotMigration, "alembic/versions"},
		{HotGenerated, "api/x.pb.go"},
		{HotGenerated, "api/x_pb2.py"},
		{HotGenerated, "ui/t.gen.ts"},
		{HotGenerated, "ui/__snapshots__/b.txt"},
		{HotGenerated, "ui/a.snap"},
		{HotGenerated, "ui/__generated__/t.ts"},
		{HotGenerated, "declared/any.go"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHotFilesOfWritersThatMayRunTogether(t *testing.T) {
	owner := func(id string, more func(*spec.Job), paths ...string) spec.Job {
		j := spec.Job{ID: id, Effect: "scoped-write", Cwd: "/top", OwnedPaths: paths}
		if more != nil {
			more(&j)
		}
		return j
	}
	accept := func(j *spec.Job) { j.Overlap = "accept" }
	files := hotOf("go.sum", "db/migrations/1.sql", "api/x.pb.go")
	for name, c := range map[string]struct {
		jobs []spec.Job
		want []string // a part of each warning
	}{
		"both own the lock file": {
			[]spec.Job{owner("a", accept, "a/**", "go.sum"), owner("b", accept, "b/**", "go.*")},
			[]string{"a, b may run at the same time and may all change lock files (go.sum); a tool writes them anew from all dependencies, so their patches may not fit together: give these jobs `serialize: lockfile`"},
		},
		"other files of one migrations folder": {
			[]spec.Job{owner("a", nil, "db/migrations/2_a.sql"), owner("b", nil, "db/migrations/2_b.sql"), owner("c", nil, "src/**")},
			[]string{"a, b may run at the same time and may all change migrations folders (db/migrations)"},
		},
		"everything": {
			[]spec.Job{owner("a", accept), owner("b", accept), owner("c", accept)},
			[]string{"a, b, c may run at the same time and may all change lock files", "db/migrations", "generated files (api/x.pb.go)"},
		},
		"one key":           {[]spec.Job{owner("a", func(j *spec.Job) { j.Serialize = "k" }), owner("b", func(j *spec.Job) { j.Serialize = "k" })}, nil},
		"one after another": {[]spec.Job{owner("a", nil), owner("b", func(j *spec.Job) { j.DependsOn = []string{"a"} })}, nil},
		"apart":             {[]spec.Job{owner("a", nil, "a/**", "go.sum"), owner("b", nil, "b/**", "db/migrations/**")}, nil},
		"another folder": {
			[]spec.Job{owner("a", accept), owner("b", func(j *spec.Job) { j.Overlap, j.Cwd = "accept", "/top/web" })}, nil,
		},
	} {
		g, errs := New(&spec.Spec{Jobs: c.jobs})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		all := func(string) bool { return true }
		got := g.HotWarnings("/top", files, all)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d warnings, want %d: %v", name, len(got), len(c.want), got)
			continue
		}
		for i, part := range c.want {
			if !strings.Contains(got[i].Message, part) {
				t.Errorf("%s: %q lacks %q", name, got[i].Message, part)
			}
		}
		if in := g.HotWarnings("/top", files, func(id string) bool { return id == "a" }); len(in) > 0 {
			t.Errorf("%s: only one has a tree of its own: %v", name, in)
		}
	}
}

// A wide graph over a big repository: 500 writers, 100,000 files.
func BenchmarkHot(b *testing.B) {
	var jobs []spec.Job
	for i := range 500 {
		jobs = append(jobs, spec.Job{
			ID: fmt.Sprintf("j%d", i), Effect: "scoped-write", Cwd: "/top",
			OwnedPaths: []string{fmt.Sprintf("pkg%d/**", i), fmt.Sprintf("db/migrations/%d_*.sql", i)},
		})
	}
	g, errs := New(&spec.Spec{Jobs: jobs})
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	for b.Loop() {
		var in HotIn
		for i := range 100_000 {
			in.Add(fmt.Sprintf("pkg%d/sub/x%d.pb.go", i%500, i), false)
		}
		in.Add("db/migrations/0.sql", false)
		if w := g.HotWarnings("/top", in.All(), func(string) bool { return true }); len(w) != 1 {
			b.Fatal(w)
		}
	}
}
