package graph

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/spec"
)

// job is an observer; the helpers below change one thing each.
func job(id string, deps ...string) spec.Job {
	return spec.Job{ID: id, Effect: "observe", Cwd: "/w", DependsOn: deps}
}

func writer(id string, owned []string, deps ...string) spec.Job {
	j := job(id, deps...)
	j.Effect, j.OwnedPaths, j.Overlap = "scoped-write", owned, "refuse"
	return j
}

func serialized(key string, j spec.Job) spec.Job {
	j.Serialize = key
	return j
}

func build(t *testing.T, jobs ...spec.Job) *Graph {
	t.Helper()
	g, errs := New(&spec.Spec{Jobs: jobs})
	if len(errs) > 0 {
		t.Fatalf("unexpected errors: %v", errs)
	}
	return g
}

// Ready is all that may start now.
func (t *Tracker) Ready() []string {
	return t.ReadyIf(len(t.ready), func(string) bool { return true })
}

// Done reports whether every job has settled.
func (t *Tracker) Done() bool {
	return !slices.ContainsFunc(t.phase, func(p phase) bool { return p != settled })
}

func rules(ds []spec.Diagnostic) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Rule)
	}
	return out
}

func TestCycleIsPrinted(t *testing.T) {
	g, errs := New(&spec.Spec{Jobs: []spec.Job{
		job("free"), job("behind", "a"), job("a", "c"), job("b", "a"), job("c", "b", "free"),
	}})
	if diff := cmp.Diff([]string{"a", "c", "b", "a"}, g.cycle); diff != "" {
		t.Error(diff)
	}
	if len(errs) != 1 || !strings.Contains(errs[0].Message, "a -> c -> b -> a") {
		t.Errorf("errors: %v", errs)
	}
}

func TestSelfDependencyIsACycle(t *testing.T) {
	g, _ := New(&spec.Spec{Jobs: []spec.Job{job("a", "a")}})
	if diff := cmp.Diff([]string{"a", "a"}, g.cycle); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownDependencyIsNamed(t *testing.T) {
	_, errs := New(&spec.Spec{Jobs: []spec.Job{job("a"), job("b", "a", "nope")}})
	if len(errs) != 1 || errs[0].Field != "jobs[1].depends_on[1]" || !strings.Contains(errs[0].Message, `"nope"`) {
		t.Errorf("errors: %v", errs)
	}
}

func TestNoStageBarrier(t *testing.T) {
	tr := build(t, job("slow"), job("quick"), job("after-quick", "quick"), job("last", "slow", "after-quick")).Track()
	tr.Start("slow")
	tr.Start("quick")
	tr.Settle("quick", true, "")
	if diff := cmp.Diff([]string{"after-quick"}, tr.Ready()); diff != "" {
		t.Error(diff)
	}
}

func TestFailureBlocksAllThatFollows(t *testing.T) {
	tr := build(t,
		job("scout"), job("other"), job("write", "scout"), job("test", "write", "other"), job("free", "other"),
	).Track()
	tr.Start("scout")
	tr.Start("other")
	got := tr.Settle("scout", false, "failed: timeout")
	want := []Blocked{
		{"write", "scout", "scout failed: timeout"},
		{"test", "scout", "scout failed: timeout"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := tr.Settle("other", true, ""); got != nil {
		t.Errorf("a success blocked %v", got)
	}
	if diff := cmp.Diff([]string{"free"}, tr.Ready()); diff != "" {
		t.Error(diff)
	}
	tr.Settle("free", true, "")
	if !tr.Done() {
		t.Error("everything has settled, but Done is false")
	}
}

func TestSerializeKey(t *testing.T) {
	tr := build(t,
		serialized("lock", job("a")), serialized("lock", job("b")), serialized("other", job("c")), job("d"),
	).Track()
	step := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, tr.Ready(), cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Error(diff)
		}
	}
	step("a", "c", "d")
	notA := func(id string) bool { return id != "a" }
	if diff := cmp.Diff([]string{"b", "c", "d"}, tr.ReadyIf(10, notA)); diff != "" {
		t.Error(diff)
	}
	for most, want := range [][]string{nil, {"b"}, {"b", "c"}} {
		if diff := cmp.Diff(want, tr.ReadyIf(most, notA)); diff != "" {
			t.Error(diff)
		}
	}
	tr.Start("a")
	step("c", "d")
	tr.Start("c")
	tr.Start("d")
	step()
	tr.Settle("a", false, "failed: crash") // a key is free however its holder ended
	step("b")
}

// A job that waits for its next attempt holds no key, one of which something may
// still run holds it for good, and neither blocks what depends on it.
func TestSerializeKeyOfAJobThatDoesNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		put    func(t *Tracker)
		ready  []string // after that
		settle []string // ready once a has failed after all
	}{
		"put back":   {func(t *Tracker) { t.Return("a") }, []string{"a"}, []string{"b"}},
		"left":       {func(t *Tracker) { t.Leave("a") }, []string{"b"}, []string{"b"}},
		"kept":       {func(t *Tracker) { t.Keep("a") }, nil, nil},
		"never done": {func(t *Tracker) { t.Return("b"); t.Leave("b"); t.Keep("b") }, nil, []string{"b"}},
	} {
		tr := build(t, serialized("k", job("a")), serialized("k", job("b")), job("after", "a")).Track()
		tr.Start("a")
		c.put(tr)
		if got := tr.Ready(); !slices.Equal(got, c.ready) {
			t.Errorf("%s: ready %v, want %v", name, got, c.ready)
		}
		if blocked := tr.Settle("a", false, "failed"); len(blocked) != 1 || blocked[0].ID != "after" {
			t.Errorf("%s: blocked %v", name, blocked)
		}
		if got := tr.Ready(); !slices.Equal(got, c.settle) {
			t.Errorf("%s: then ready %v, want %v", name, got, c.settle)
		}
	}
}

func TestCriticalPath(t *testing.T) {
	g := build(t, job("a"), job("b"), job("c", "a", "b"), job("d", "b"))
	path, total := g.CriticalPath(map[string]time.Duration{
		"a": time.Second, "b": 3 * time.Second, "c": time.Second, "d": 500 * time.Millisecond,
	})
	if diff := cmp.Diff([]string{"b", "c"}, path); diff != "" || total != 4*time.Second {
		t.Error(diff, total)
	}
	if path, total := build(t).CriticalPath(nil); path != nil || total != 0 {
		t.Error("an empty graph has a critical path")
	}
}

// stages builds jobs that each depend on the whole stage before.
func stages(n, width int) []spec.Job {
	var jobs []spec.Job
	var before []string
	for s := range n {
		var stage []string
		for w := range width {
			id := fmt.Sprintf("s%d-%d", s, w)
			stage = append(stage, id)
			jobs = append(jobs, job(id, before...))
		}
		before = stage
	}
	return jobs
}

func TestAllToAllCostsNoEdgeLists(t *testing.T) {
	s := &spec.Spec{Jobs: stages(10, 100)}
	var g *Graph
	cost := allocated(func() { g, _ = New(s) })
	if len(g.lists) != 9 {
		t.Errorf("%d lists for 9 distinct ones", len(g.lists))
	}
	// 90,000 edges of one word each would be 720 KB alone.
	if cost > 400<<10 {
		t.Errorf("building took %d bytes", cost)
	}
	if allocs := testing.AllocsPerRun(3, func() { New(s) }); allocs > 2500 {
		t.Errorf("building took %.0f allocations", allocs)
	}
	tr := g.Track()
	settle := allocated(func() {
		for _, id := range g.Order() {
			tr.Start(id)
			tr.Settle(id, true, "")
		}
	})
	if !tr.Done() || settle > 100<<10 {
		t.Errorf("done %v, running took %d bytes", tr.Done(), settle)
	}
}

// allocated counts the bytes that f asks for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestWritersThatMayRunTogether(t *testing.T) {
	src, docs := []string{"src/**"}, []string{"docs/**"}
	accept := writer("b", src)
	accept.Overlap = "accept"
	unowned, everything, none := writer("a", nil), writer("a", []string{"**"}), writer("a", src)
	unowned.Isolation, everything.Isolation, none.Isolation = "none", "none", "none"
	elsewhere := writer("b", src)
	elsewhere.Cwd = "/w/sub"
	output := writer("b", docs)
	output.Outputs = []spec.Output{{Path: "src/[x].md"}}
	for name, c := range map[string]struct {
		jobs    []spec.Job
		want    []string // rules of the errors
		message string
		beside  map[string]string
	}{
		"disjoint": {
			jobs: []spec.Job{writer("a", src), writer("b", docs)}, beside: map[string]string{"a": "b", "b": "a"},
		},
		"overlapping": {
			jobs: []spec.Job{writer("a", src), writer("b", []string{"src/x.go"})}, want: []string{"overlap"},
			message: `"b" may run at the same time as "a" and write the same files: "src/x.go" here and "src/**" there can be the same file; ` +
				`give both one serialize key, let one depend on the other with depends_on, or say overlap: accept`,
			beside: map[string]string{"a": "b", "b": "a"},
		},
		"accepted":           {jobs: []spec.Job{writer("a", src), accept}, beside: map[string]string{"a": "b", "b": "a"}},
		"ordered":            {jobs: []spec.Job{writer("a", src), writer("b", src, "a")}},
		"ordered indirectly": {jobs: []spec.Job{writer("a", src), job("m", "a"), writer("b", src, "m")}},
		"serialized":         {jobs: []spec.Job{serialized("k", writer("a", src)), serialized("k", writer("b", src))}},
		"observers":          {jobs: []spec.Job{writer("a", src), job("b")}},
		"another folder":     {jobs: []spec.Job{writer("a", src), elsewhere}, beside: map[string]string{"a": "b", "b": "a"}},
		"output among the owned paths": {
			jobs: []spec.Job{writer("a", src), output}, want: []string{"overlap"}, beside: map[string]string{"a": "b", "b": "a"},
		},
		"no owned paths": {
			jobs: []spec.Job{writer("a", docs), writer("b", nil)}, want: []string{"overlap"}, beside: map[string]string{"a": "b", "b": "a"},
		},
		"alone, whole cwd, isolation none": {jobs: []spec.Job{unowned}, want: []string{"isolation"}},
		"alone, all named, isolation none": {jobs: []spec.Job{everything}, want: []string{"isolation"}},
		"alone, isolation none":            {jobs: []spec.Job{none}},
		"beside another, isolation none": {
			jobs: []spec.Job{none, writer("b", docs)}, want: []string{"isolation"}, beside: map[string]string{"a": "b", "b": "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, errs := New(&spec.Spec{Jobs: c.jobs})
			if diff := cmp.Diff(c.want, rules(errs)); diff != "" {
				t.Errorf("%s\n%v", diff, errs)
			}
			if c.message != "" && errs[0].Message != c.message {
				t.Errorf("message: %s", errs[0].Message)
			}
			if c.beside == nil {
				c.beside = map[string]string{}
			}
			if diff := cmp.Diff(c.beside, g.ConcurrentWriters()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlyATaskOfTheWorkerFormHasItsWholeFolderWithoutAWorktree(t *testing.T) {
	task := func(id string) spec.Job {
		j := writer(id, nil)
		j.Worker = &spec.Worker{AsIs: true}
		j.Overlap = "accept"
		return j
	}
	for name, c := range map[string]struct {
		jobs []spec.Job
		want string // why the first needs a worktree
	}{
		"a job of a spec":        {[]spec.Job{writer("a", nil)}, "owns its whole cwd"},
		"one that names it all":  {[]spec.Job{writer("a", []string{"**"})}, "owns its whole cwd"},
		"a task":                 {[]spec.Job{task("a")}, ""},
		"a task beside a reader": {[]spec.Job{task("a"), job("b")}, ""},
		"a task beside another":  {[]spec.Job{task("a"), task("b")}, "may run beside another writer (b)"},
	} {
		why := build(t, c.jobs...).IsolationWhy("a")
		if !strings.Contains(why, c.want) || (why == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
}

func TestManyOverlapsStayReadable(t *testing.T) {
	var jobs []spec.Job
	for i := range 50 {
		jobs = append(jobs, writer(fmt.Sprintf("w%d", i), nil))
	}
	_, errs := New(&spec.Spec{Jobs: jobs})
	if len(errs) != 49 || !strings.Contains(errs[48].Message, "and with 48 other jobs") {
		t.Errorf("%d errors, the last: %v", len(errs), errs[len(errs)-1])
	}
}

func TestAcceptedOverlapIsPredicted(t *testing.T) {
	b := writer("b", []string{"src/*"})
	b.Overlap = "accept"
	g := build(t, writer("a", []string{"src/**"}), b)
	warned := g.Warnings(func(string) bool { return true })
	if len(warned) != 1 || warned[0].Rule != "predicted-conflict" {
		t.Errorf("warnings: %v", warned)
	}
}

func TestBaseOfADependent(t *testing.T) {
	g := build(t,
		writer("one", []string{"a"}), writer("two", []string{"b"}), writer("shared", []string{"c"}, "one", "two"),
		job("review", "one", "shared"), job("both", "one", "two"), job("later", "review"),
	)
	isolated := func(id string) bool { return id != "shared" }
	for id, want := range map[string]struct {
		base    string
		several []string
	}{
		"one":    {"", nil},
		"review": {"one", nil},
		"both":   {"", []string{"one", "two"}},
		"later":  {"", nil}, // only what it depends on directly
	} {
		base, several := g.BaseOf(id, isolated)
		if base != want.base || !slices.Equal(several, want.several) {
			t.Errorf("BaseOf(%s) = %q, %v", id, base, several)
		}
	}
	if got := rules(g.Warnings(isolated)); !slices.Equal(got, []string{"several-writers", "several-writers"}) {
		t.Errorf("warnings: %v", got)
	}
}

// TestABaseThatIsSaid comes before all that the order of the jobs says; what else a job
// depends on it gets as patches.
func TestABaseThatIsSaid(t *testing.T) {
	based := func(j spec.Job, on string) spec.Job {
		j.Worktree.Base = on
		return j
	}
	g := build(t,
		writer("one", []string{"a"}), writer("two", []string{"b"}), based(writer("three", []string{"a"}, "one", "two"), "two"),
		based(job("review", "three", "two", "one"), "one"), based(job("alone", "two"), "two"),
	)
	for id, want := range map[string]struct {
		base    string
		several []string
	}{
		"three":  {"two", []string{"one"}},
		"review": {"one", []string{"two", "three"}},
		"alone":  {"two", nil},
	} {
		base, several := g.BaseOf(id, everyWriter)
		if base != want.base || !slices.Equal(several, want.several) {
			t.Errorf("BaseOf(%s) = %q, %v", id, base, several)
		}
	}
	told := g.Warnings(everyWriter)
	if got := rules(told); !slices.Equal(got, []string{"several-writers", "several-writers"}) || !strings.Contains(told[0].Message, `starts from the work of "two", as it says`) {
		t.Errorf("warnings: %v", told)
	}
	if g.BaseFor("one") != "review" || g.BaseFor("three") != "" {
		t.Errorf("one is the base of %q, three of %q", g.BaseFor("one"), g.BaseFor("three"))
	}
}

// TestABaseThatIsBuiltOnAllOthers is the last of a chain of writers: its tree holds what
// all of them did.
func TestABaseThatIsBuiltOnAllOthers(t *testing.T) {
	based := func(j spec.Job, on string) spec.Job {
		j.Worktree.Base = on
		return j
	}
	g := build(t,
		job("final", "one", "three", "two"), // the order of the spec does not matter
		writer("one", []string{"a"}), writer("two", []string{"a"}, "one"), writer("three", []string{"a"}, "two", "one"),
		writer("apart", []string{"b"}, "one"), writer("beside", []string{"c"}),
		job("skips", "three", "one"), job("branches", "three", "apart"), job("mixed", "three", "two", "beside"),
		based(job("said", "three", "one", "two", "beside"), "two"), based(writer("joined", []string{"d"}, "three", "beside"), "three"),
		job("over", "joined", "two"), job("notAll", "joined", "beside"),
	)
	for id, want := range map[string]struct{ base, several, holds string }{
		"three":    {"two", "", "two one"},
		"final":    {"three", "", "three two one"},
		"skips":    {"three", "", "three two one"},
		"branches": {"", "three apart", ""},
		"mixed":    {"", "two three beside", ""},
		"said":     {"two", "three beside", "two one"},
		"joined":   {"three", "beside", "three two one"},
		"over":     {"joined", "", "joined three two one"},
		"notAll":   {"", "beside joined", ""},
		"one":      {"", "", ""},
	} {
		base, several := g.BaseOf(id, everyWriter)
		holds := g.Holds(id, everyWriter)
		if base != want.base || strings.Join(several, " ") != want.several || strings.Join(holds, " ") != want.holds {
			t.Errorf("%s: base %q, several %v, holds %v", id, base, several, holds)
		}
	}
	for _, w := range g.Warnings(everyWriter) {
		for _, quiet := range []string{"final", "three", "skips", "over"} {
			if w.Rule == "several-writers" && strings.HasPrefix(w.Message, fmt.Sprintf("%q", quiet)) {
				t.Errorf("warned: %s", w.Message)
			}
		}
	}
}

func TestWhoFollowsAWriter(t *testing.T) {
	g := build(t,
		spec.Job{ID: "look", Effect: "observe"},
		spec.Job{ID: "write", Effect: "scoped-write", DependsOn: []string{"look"}},
		spec.Job{ID: "read", Effect: "observe", DependsOn: []string{"write"}},
		spec.Job{ID: "last", Effect: "observe", DependsOn: []string{"read"}},
	)
	for id, want := range map[string]bool{"look": false, "write": false, "read": true, "last": true, "none": false} {
		if got := g.FollowsWriter(id); got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}
