package graph

// bits is a set of writers, by their place among the writers.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }

func (b bits) union(other bits) {
	for i, w := range other {
		b[i] |= w
	}
}

// findWriters notes the writers, which writers each list waits for (directly or
// not), and for every writer another one that may run beside it.
func (g *Graph) findWriters() {
	g.place = make([]int, len(g.jobs))
	for i := range g.jobs {
		g.place[i] = none
		if g.jobs[i].Writes() {
			g.place[i] = len(g.writers)
			g.writers = append(g.writers, i)
		}
	}
	if len(g.writers) == 0 {
		return
	}
	g.findAncestors()
	g.owned = make([]ownership, len(g.writers))
	g.beside = make([]int, len(g.writers))
	for w, i := range g.writers {
		g.owned[w] = ownershipOf(&g.jobs[i])
		g.beside[w] = none
	}
	for a := range g.writers {
		for b := range a {
			g.noteBeside(a, b)
		}
	}
}

func (g *Graph) noteBeside(a, b int) {
	if g.beside[a] != none && g.beside[b] != none || !g.concurrent(a, b) {
		return
	}
	if g.beside[a] == none {
		g.beside[a] = b
	}
	if g.beside[b] == none {
		g.beside[b] = a
	}
}

// findAncestors fills one set of writers per list, in topological order.
func (g *Graph) findAncestors() {
	g.above = make([]bits, len(g.lists))
	words := (len(g.writers) + 63) / 64
	for _, i := range g.order {
		n := g.listOf[i]
		if n == none || g.above[n] != nil {
			continue
		}
		set := make(bits, words)
		for _, d := range g.lists[n].deps {
			if g.place[d] != none {
				set.add(g.place[d])
			}
			if up := g.listOf[d]; up != none {
				set.union(g.above[up])
			}
		}
		g.above[n] = set
	}
}

// concurrent reports whether two writers may run at the same time.
func (g *Graph) concurrent(a, b int) bool {
	i, j := g.writers[a], g.writers[b]
	return !g.sameKey(i, j) && !g.waitsForWriter(i, b) && !g.waitsForWriter(j, a)
}

// FollowsWriter reports whether a job comes after one that may change files.
func (g *Graph) FollowsWriter(id string) bool {
	i, ok := g.index[id]
	for w := range g.writers {
		if ok && g.waitsForWriter(i, w) {
			return true
		}
	}
	return false
}

func (g *Graph) waitsForWriter(i, w int) bool {
	n := g.listOf[i]
	return n != none && g.above[n].has(w)
}

func (g *Graph) sameKey(i, j int) bool {
	return g.jobs[i].Serialize != "" && g.jobs[i].Serialize == g.jobs[j].Serialize
}

// ConcurrentWriters names, for every writer that may run at the same time as
// another writer, one such other. A writer that is always alone is not in it.
func (g *Graph) ConcurrentWriters() map[string]string {
	out := map[string]string{}
	for w, other := range g.beside {
		if other != none {
			out[g.jobs[g.writers[w]].ID] = g.jobs[g.writers[other]].ID
		}
	}
	return out
}
