package graph

import (
	"cmp"
	"slices"
)

// Where a job's tree starts. A tree can start at one snapshot only, and that holds what
// its writer did and what it started from itself.

// BaseOf says from whose snapshot a job starts: of one that goes on with a session, that of
// the job before it there, or what this started from itself. Else that of the job that it
// names as its base, else of the one isolated writer that it depends on directly, else, of
// several, of that one whose own work is built on the work of all the others. several names
// the isolated writers that it depends on directly and whose work it does not start with.
func (g *Graph) BaseOf(id string, isolated func(id string) bool) (base string, several []string) {
	i, ok := g.index[id]
	if !ok {
		return "", nil
	}
	b := bases{g, isolated, map[int]int{}, map[int]int{}}
	writers := b.writers(i)
	if at := b.of(i); at != none {
		base = g.jobs[at].ID
		chain := b.chain(i)
		writers = slices.DeleteFunc(writers, func(w int) bool { return slices.Contains(chain, w) })
	}
	for _, w := range writers {
		several = append(several, g.jobs[w].ID)
	}
	return base, several
}

// Holds names the writers whose work a job finds in its tree: the one that it starts
// from, the one that this started from, and so on.
func (g *Graph) Holds(id string, isolated func(id string) bool) (writers []string) {
	i, ok := g.index[id]
	if !ok {
		return nil
	}
	b := bases{g, isolated, map[int]int{}, map[int]int{}}
	for _, w := range b.chain(i) {
		writers = append(writers, g.jobs[w].ID)
	}
	return writers
}

// bases are what jobs start from, each found once.
type bases struct {
	*Graph
	isolated func(id string) bool
	known    map[int]int // job -> job, none
	deep     map[int]int // job -> number of jobs
}

func (b bases) of(i int) int {
	at, ok := b.known[i]
	if !ok {
		at = b.find(i)
		b.known[i] = at
	}
	return at
}

func (b bases) find(i int) int {
	if from, ok := b.index[b.jobs[i].Continue]; ok { // it works where the session is at home
		if j := &b.jobs[from]; j.Writes() && b.isolated(j.ID) {
			return from
		}
		return b.of(from)
	}
	if said := b.jobs[i].Worktree.Base; said != "" {
		return b.index[said]
	}
	writers := b.writers(i)
	switch len(writers) {
	case 0:
		return none
	case 1:
		return writers[0]
	}
	last := slices.MaxFunc(writers, func(v, w int) int { return cmp.Compare(b.depth(v), b.depth(w)) })
	missing := map[int]bool{}
	for _, w := range writers {
		missing[w] = w != last
	}
	for at := b.of(last); at != none; at = b.of(at) {
		missing[at] = false
	}
	for _, w := range writers {
		if missing[w] {
			return none
		}
	}
	return last
}

// depth counts what a job's work is built on.
func (b bases) depth(i int) int {
	n, ok := b.deep[i]
	if at := b.of(i); !ok && at != none {
		n = 1 + b.depth(at)
	}
	b.deep[i] = n
	return n
}

// chain is what a job starts from, and what that starts from, up to the run's base.
func (b bases) chain(i int) (chain []int) {
	for at := b.of(i); at != none; at = b.of(at) {
		chain = append(chain, at)
	}
	return chain
}

// writers are the isolated writers that a job depends on directly, and those whose rounds
// of work such a job gathers.
func (b bases) writers(i int) (all []int) {
	add := func(d int) {
		if j := &b.jobs[d]; j.Writes() && b.isolated(j.ID) && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	for _, d := range b.deps(i) {
		add(d)
		for _, w := range b.rounds(d) {
			add(w)
		}
	}
	return all
}

// rounds are the rounds of work that a job stands for, none where it gathers no such.
func (g *Graph) rounds(i int) (all []int) {
	if g.jobs[i].Gather == nil {
		return nil
	}
	for _, id := range g.jobs[i].Gather.Work {
		if w, ok := g.index[id]; ok {
			all = append(all, w)
		}
	}
	return all
}
