package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"orchestrate/internal/spec"
)

// drawJobs draws an acyclic graph whose jobs stand in a random order.
func drawJobs(t *rapid.T) []spec.Job {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	jobs := make([]spec.Job, n)
	for i := range jobs {
		jobs[i] = job(fmt.Sprintf("j%d", i))
		for d := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				jobs[i].DependsOn = append(jobs[i].DependsOn, jobs[d].ID)
			}
		}
		jobs[i].AfterAll = rapid.IntRange(0, 2).Draw(t, "after all") == 0
		if rapid.IntRange(0, 2).Draw(t, "key") == 0 {
			jobs[i].Serialize = rapid.SampledFrom([]string{"k", "l"}).Draw(t, "name")
		}
		if rapid.Bool().Draw(t, "writes") {
			jobs[i].Effect, jobs[i].OwnedPaths = "scoped-write", []string{fmt.Sprintf("own%d/**", i)}
		}
	}
	return rapid.Permutation(jobs).Draw(t, "order")
}

// ancestors is the plain definition that the graph is held against.
func ancestors(jobs []spec.Job, id string) map[string]bool {
	out := map[string]bool{}
	var visit func(string)
	visit = func(id string) {
		i := slices.IndexFunc(jobs, func(j spec.Job) bool { return j.ID == id })
		for _, d := range jobs[i].DependsOn {
			if !out[d] {
				out[d] = true
				visit(d)
			}
		}
	}
	visit(id)
	return out
}

func TestOrderIsTopological(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		g, errs := New(&spec.Spec{Jobs: jobs})
		if len(errs) > 0 {
			t.Fatalf("errors: %v", errs)
		}
		order := g.Order()
		if len(order) != len(jobs) {
			t.Fatalf("%d of %d jobs ordered", len(order), len(jobs))
		}
		for _, j := range jobs {
			for _, d := range j.DependsOn {
				if slices.Index(order, d) > slices.Index(order, j.ID) {
					t.Fatalf("%s comes after %s: %v", d, j.ID, order)
				}
			}
		}
	})
}

func TestBackEdgeIsAlwaysACycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		from := rapid.IntRange(0, len(jobs)-1).Draw(t, "from")
		up := append(slices.Sorted(keys(ancestors(jobs, jobs[from].ID))), jobs[from].ID)
		low := rapid.SampledFrom(up).Draw(t, "ancestor")
		i := slices.IndexFunc(jobs, func(j spec.Job) bool { return j.ID == low })
		jobs[i].DependsOn = append(jobs[i].DependsOn, jobs[from].ID)
		g, errs := New(&spec.Spec{Jobs: jobs})
		cycle := g.cycle
		if len(errs) == 0 || len(cycle) < 2 || cycle[0] != cycle[len(cycle)-1] {
			t.Fatalf("cycle %v, errors %v", cycle, errs)
		}
		for n, id := range cycle[:len(cycle)-1] {
			j, _ := g.Job(id)
			if !slices.Contains(j.DependsOn, cycle[n+1]) {
				t.Fatalf("%s does not depend on %s in %v", id, cycle[n+1], cycle)
			}
		}
	})
}

func keys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestATreeHoldsAllOrNamesWhatItLacks: every isolated writer that a job depends on is
// either in what its tree holds or told as one of several; what it holds are writers that
// come before it; and the run's base is chosen only where none of them holds the others.
func TestATreeHoldsAllOrNamesWhatItLacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		g, _ := New(&spec.Spec{Jobs: jobs})
		apart := map[string]bool{}
		for _, j := range jobs {
			apart[j.ID] = rapid.IntRange(0, 3).Draw(t, "isolated") > 0
		}
		isolated := func(id string) bool { return apart[id] }
		for _, j := range jobs {
			base, several := g.BaseOf(j.ID, isolated)
			holds := g.Holds(j.ID, isolated)
			if (base == "") != (len(holds) == 0) || base != "" && holds[0] != base {
				t.Fatalf("%s starts at %q and holds %v", j.ID, base, holds)
			}
			for _, h := range holds {
				if w, _ := g.Job(h); !w.Writes() || !apart[h] || !ancestors(jobs, j.ID)[h] {
					t.Fatalf("%s holds %s", j.ID, h)
				}
			}
			var writers []string
			for _, d := range j.DependsOn {
				if w, _ := g.Job(d); w.Writes() && apart[d] {
					writers = append(writers, d)
				}
			}
			for _, w := range writers {
				if slices.Contains(holds, w) == slices.Contains(several, w) {
					t.Fatalf("%s holds %v, lacks %v, depends on %s", j.ID, holds, several, w)
				}
				all := append(g.Holds(w, isolated), w)
				if base == "" && !slices.ContainsFunc(writers, func(o string) bool { return !slices.Contains(all, o) }) {
					t.Fatalf("%s starts from the run's base, and %s holds %v", j.ID, w, writers)
				}
			}
		}
	})
}

func TestBesideIsTheAbsenceOfAPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		g, _ := New(&spec.Spec{Jobs: jobs})
		beside := g.ConcurrentWriters()
		for _, a := range jobs {
			partners := map[string]bool{}
			for _, b := range jobs {
				sameKey := a.Serialize != "" && a.Serialize == b.Serialize
				waits := ancestors(jobs, a.ID)[b.ID] || ancestors(jobs, b.ID)[a.ID]
				partners[b.ID] = a.ID != b.ID && b.Writes() && !sameKey && !waits
			}
			other, ok := beside[a.ID]
			if want := a.Writes() && slices.Contains(slices.Collect(maps.Values(partners)), true); ok != want || ok && !partners[other] {
				t.Fatalf("writer %s: beside %q", a.ID, other)
			}
		}
	})
}

// TestReadySetIsExact runs random schedules and compares every step with the
// definition: what succeeded, what failed, what may start, what is blocked.
func TestReadySetIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		g, _ := New(&spec.Spec{Jobs: jobs})
		m := &model{jobs: jobs, state: map[string]string{}}
		tr := g.Track()
		for !tr.Done() {
			m.check(t, tr.Ready())
			can := append(m.in("running"), tr.Ready()...)
			if len(can) == 0 {
				t.Fatal("nothing runs, nothing is ready, and the run is not done")
			}
			id := rapid.SampledFrom(can).Draw(t, "job")
			if m.state[id] == "" {
				tr.Start(id)
				m.state[id] = "running"
				continue
			}
			ok := rapid.IntRange(0, 3).Draw(t, "fails") > 0
			blocked := tr.Settle(id, ok, "failed: crash")
			m.settle(t, id, ok, blocked)
		}
		if len(m.state) != len(jobs) || len(m.in("running")) > 0 {
			t.Fatalf("done with %v", m.state)
		}
	})
}

type model struct {
	jobs  []spec.Job
	state map[string]string // "", running, success, failed, blocked
}

func (m *model) in(state string) []string {
	var out []string
	for _, j := range m.jobs {
		if m.state[j.ID] == state {
			out = append(out, j.ID)
		}
	}
	return out
}

func (m *model) check(t *rapid.T, got []string) {
	taken := map[string]bool{"": false}
	for _, id := range m.in("running") {
		taken[m.job(id).Serialize] = true
	}
	var want []string
	for _, j := range m.jobs {
		ready := m.state[j.ID] == ""
		for _, d := range j.DependsOn {
			over := m.state[d] == "failed" || m.state[d] == "blocked"
			ready = ready && (m.state[d] == "success" || j.AfterAll && over)
		}
		if ready && (j.Serialize == "" || !taken[j.Serialize]) {
			want = append(want, j.ID)
			taken[j.Serialize] = true
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("ready %v, want %v; states %v", got, want, m.state)
	}
}

func (m *model) job(id string) spec.Job {
	return m.jobs[slices.IndexFunc(m.jobs, func(j spec.Job) bool { return j.ID == id })]
}

func (m *model) settle(t *rapid.T, id string, ok bool, blocked []Blocked) {
	m.state[id] = "success"
	if !ok {
		m.state[id] = "failed"
	}
	var want []string
	for _, j := range m.jobs {
		if m.state[j.ID] == "" && !ok && m.needs(j.ID, id) {
			want = append(want, j.ID)
		}
	}
	var got []string
	for _, b := range blocked {
		got = append(got, b.ID)
		m.state[b.ID] = "blocked"
		if b.Root != id || b.Detail != id+" failed: crash" {
			t.Fatalf("%s is blocked by %q: %s", b.ID, b.Root, b.Detail)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%s blocked %v, want %v", id, got, want)
	}
}

// needs reports whether a job cannot run where another has not succeeded.
func (m *model) needs(id, other string) bool {
	j := m.job(id)
	return !j.AfterAll && slices.ContainsFunc(j.DependsOn, func(d string) bool { return d == other || m.needs(d, other) })
}

// drawPattern draws owned_paths as people write them and as they should not.
func drawPattern(t *rapid.T, label string) string {
	part := rapid.SampledFrom([]string{
		"a", "b", "ab", "*", "**", "?", "a*", "*b", "a?", "[ab]", "[^a]", "[a-b]b", "{a,b}", "{a,b/**}", "{a*,b}", "a**", `\*`, "{,a}b", "a]", "A", "[", "{a",
	})
	return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, label), "/")
}

// TestOverlapIsSound: a path that both patterns match means that they overlap.
func TestOverlapIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPattern(t, "a"), drawPattern(t, "b")
		part := rapid.SampledFrom([]string{"a", "b", "ab", "aa", "bb", "*", "a]", "aab"})
		for range 20 {
			p := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path"), "/")
			if matches(a, p) && matches(b, p) && !overlap(a, b) {
				t.Fatalf("%q and %q both match %q", a, b, p)
			}
		}
		if overlap(a, b) != overlap(b, a) {
			t.Fatalf("%q and %q overlap in one order only", a, b)
		}
	})
}

// respelt is a name as another program may spell it, that some file systems take for the
// same.
func respelt(t *rapid.T, name, label string) string {
	spell := rapid.SampledFrom([]func(string) string{
		func(s string) string { return s }, norm.NFC.String, norm.NFD.String, strings.ToUpper, strings.ToLower,
		func(s string) string { return norm.NFD.String(strings.ToUpper(s)) },
	})
	return spell.Draw(t, label)(name)
}

// TestOverlapIsSoundWhereFileSystemsFold: the same, where a path that each pattern matches
// differs in case and in how its accents are written.
func TestOverlapIsSoundWhereFileSystemsFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{
			"ä", "a\u0308", "é", "o", "ö", "Ö", "한", "각", "\u212b", "Å", "ǆ", "σ", "ς", "ế", "й", "*", "?", "??", "**", "[ä]", "[a-z]", "[é-ö]", "{ä,b}", `\ö`, "x", "/",
		})
		pattern := func(label string) string {
			text := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, label), "")
			return respelt(t, strings.Trim(text, "/"), label+" spelt")
		}
		a, b := pattern("a"), pattern("b")
		letter := rapid.SampledFrom([]string{"ä", "é", "o", "ö", "한", "각", "Å", "σ", "ế", "й", "x", "b", "/"})
		for range 20 {
			p := strings.Trim(strings.Join(rapid.SliceOfN(letter, 1, 4).Draw(t, "path"), ""), "/")
			one, other := respelt(t, p, "one"), respelt(t, p, "other")
			if matches(a, one) && matches(b, other) && !overlap(a, b) {
				t.Fatalf("%q matches %q and %q matches %q", a, one, b, other)
			}
		}
	})
}

// overlap reads two patterns from the same folder.
func overlap(a, b string) bool { return compile("", a).overlaps(compile("", b)) }

// matches takes a pattern that doublestar refuses as matching nothing.
func matches(pattern, p string) bool {
	ok, err := doublestar.Match(pattern, p)
	return ok && err == nil
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src/**", "docs/**", false},
		{"src/session/**", "src/api/**", false},
		{"src/**", "src/session/x.go", true},
		{"src", "src/session/x.go", true},
		{"src/", "./src/x", true},
		{"src/*.go", "src/*.md", false},
		{"src/*.go", "src/a/b.go", false},
		{"src/*_test.go", "src/api*", true},
		{"**/*.go", "docs/**", true},
		{"**/*.go", "docs/*.md", false},
		{"a/**/z", "a/z", true},
		{"file?.txt", "file10.txt", false},
		{"README.md", "readme.MD", true},
		{"Straße", "STRASSE", false},
		{".", "anything", true},
		{"{src,docs}/**", "docs/x", true},
		{`a\*b`, "axb", false},
		{`a\*b`, `a\*b`, true},
		{"документы/**", "тесты/**", false},
		{"größe.txt", "gro\u0308ße.txt", true},
		{"gr?ße.txt", "GRO\u0308ße.txt", true},
		{"größe.txt", "große.txt", false},
		{"a{b/c,d}/x", "ab/c/x", true},
		{"[a/b]x", "a/bx", true},
	} {
		if got := overlap(c.a, c.b); got != c.want {
			t.Errorf("overlap(%q, %q) = %v", c.a, c.b, got)
		}
	}
}
