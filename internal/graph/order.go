package graph

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/spec"
)

// sort finds a topological order: jobs without dependencies first, in the spec's
// order, then each as soon as its last dependency is placed.
func (g *Graph) sort() {
	pending := g.pending()
	g.order = make([]int, 0, len(g.jobs))
	for i := range g.jobs {
		if g.listOf[i] == none {
			g.order = append(g.order, i)
		}
	}
	for at := 0; at < len(g.order); at++ {
		for _, n := range g.feeds[g.order[at]] {
			if pending[n]--; pending[n] == 0 {
				g.order = append(g.order, g.lists[n].members...)
			}
		}
	}
	if len(g.order) < len(g.jobs) {
		g.cycle = g.findCycle()
	}
}

// pending counts the unsettled dependencies of each list at the start.
func (g *Graph) pending() []int {
	pending := make([]int, len(g.lists))
	for n := range g.lists {
		pending[n] = len(g.lists[n].deps)
	}
	return pending
}

// findCycle lists the jobs of a dependency cycle, each depending on the next and the
// first repeated at the end. It follows unplaced dependencies from the first unplaced
// job: every unplaced job has one, so the walk must meet itself.
func (g *Graph) findCycle() []string {
	placed := make([]bool, len(g.jobs))
	for _, i := range g.order {
		placed[i] = true
	}
	var walk []int
	seen := map[int]int{}
	i := slices.Index(placed, false)
	for {
		if at, ok := seen[i]; ok {
			return g.ids(append(walk[at:], i))
		}
		seen[i] = len(walk)
		walk = append(walk, i)
		deps := g.deps(i)
		i = deps[slices.IndexFunc(deps, func(d int) bool { return !placed[d] })]
	}
}

func (g *Graph) cycleError() spec.Diagnostic {
	i := g.index[g.cycle[0]]
	return spec.Diagnostic{
		Pos: g.jobs[i].Pos, Field: field(i, "depends_on"), Rule: "cycle",
		Message: "jobs depend on each other in a circle: " + strings.Join(g.cycle, " -> ") +
			"; take one of these dependencies out",
	}
}

// Order lists all jobs so that each comes after everything it depends on. Jobs on
// or behind a cycle are left out.
func (g *Graph) Order() []string { return g.ids(g.order) }

// CriticalPath is the chain of dependent jobs that took longest, first job first,
// and how long it took in all. A job without a duration counts as zero.
func (g *Graph) CriticalPath(took map[string]time.Duration) ([]string, time.Duration) {
	end := make([]time.Duration, len(g.jobs))
	from := make([]int, len(g.jobs))
	slowest := g.slowestOf(end)
	last := none
	for _, i := range g.order {
		from[i] = none
		if n := g.listOf[i]; n != none {
			from[i] = slowest(n)
			end[i] = end[from[i]]
		}
		end[i] += took[g.jobs[i].ID]
		if last == none || end[i] > end[last] {
			last = i
		}
	}
	if last == none {
		return nil, 0
	}
	var path []int
	for i := last; i != none; i = from[i] {
		path = append(path, i)
	}
	slices.Reverse(path)
	return g.ids(path), end[last]
}

// slowestOf finds the dependency of a list that ended last, once per list. It may
// be asked about a list only when the ends of all its dependencies are known.
func (g *Graph) slowestOf(end []time.Duration) func(n int) int {
	found := make([]int, len(g.lists))
	for n := range found {
		found[n] = none
	}
	return func(n int) int {
		if found[n] == none {
			found[n] = slices.MaxFunc(g.lists[n].deps, func(a, b int) int {
				return cmp.Compare(end[a], end[b])
			})
		}
		return found[n]
	}
}
