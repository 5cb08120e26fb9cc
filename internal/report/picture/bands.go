package picture

import (
	"cmp"
	"slices"
)

// Where layers are wider than the picture, rows in the order of the layers part every
// chain: its jobs are whole layers of rows away from each other, and lines of all the
// chains pass between. But rows need not be in that order. Any is right in which each
// node is below all that it waits for; so bands are filled that keep together what
// belongs together, in two ways, and the rows with the fewest lanes are drawn.

// arrange puts the nodes into rows and lays the edges.
func (l *layout) arrange(deps [][]int, rank []int) {
	best := l.layered(deps, rank)
	if best.wrapped() {
		walk := walked(deps)
		for _, closing := range []bool{false, true} {
			if other := l.bands(deps, walk, closing); len(other.items) < len(best.items) {
				best = other
			}
		}
	}
	*l = *best
}

// layered is the layout in the order of the layers.
func (l *layout) layered(deps [][]int, rank []int) *layout {
	other := *l
	rows, at := rowsOf(deps, rank, l.fit, l.sets)
	other.route(deps, rows, at)
	return &other
}

// bands is the layout in rows that are filled one by one.
func (l *layout) bands(deps [][]int, walk []int, closing bool) *layout {
	other := *l
	other.banded = true
	f := newFilling(deps, l.sets, walk)
	for len(f.ready) > 0 {
		f.fill(min(l.fit, len(f.ready)), closing)
	}
	other.route(deps, f.rows, f.at)
	return &other
}

// wrapped says whether a layer has several rows of boxes.
func (l *layout) wrapped() bool {
	for r := 1; r < len(l.rows); r++ {
		if l.rows[r].layer == l.rows[r-1].layer && l.rows[r-1].boxes > 0 {
			return true
		}
	}
	return false
}

// walked numbers the nodes on a walk up from those that nothing waits for: what a node
// waits for comes just before it.
func walked(deps [][]int) []int {
	walk, awaited := make([]int, len(deps)), make([]bool, len(deps))
	for _, list := range deps {
		for _, d := range list {
			awaited[d] = true
		}
	}
	n := 0
	var visit func(i int)
	visit = func(i int) {
		if walk[i] > 0 {
			return
		}
		for _, d := range deps[i] {
			visit(d)
		}
		n++
		walk[i] = n
	}
	for i := range deps {
		if !awaited[i] {
			visit(i)
		}
	}
	return walk
}

// filling is how far the bands are filled.
type filling struct {
	feeds   [][]int
	missing []int // of each node, how many of those it waits for have no row yet
	sets    []int
	walk    []int
	ready   []int // what may be in the next row
	rows    []row
	at      []int
	lowest  []int // of each node, the lowest row that it waits for
	nets    nets
}

func newFilling(deps [][]int, sets, walk []int) *filling {
	n := len(deps)
	f := &filling{
		feeds: make([][]int, n), missing: make([]int, n), at: make([]int, n), lowest: make([]int, n),
		sets: sets, walk: walk, nets: netsOf(deps, sets),
	}
	for i, list := range deps {
		f.missing[i] = len(list)
		for _, d := range list {
			f.feeds[d] = append(f.feeds[d], i)
		}
		if len(list) == 0 {
			f.ready = append(f.ready, i)
		}
	}
	return f
}

// fill adds a row of n nodes: those that the walk comes to first or, if it is closing,
// those that end more lines than they begin.
func (f *filling) fill(n int, closing bool) {
	slices.SortFunc(f.ready, func(a, b int) int { return cmp.Compare(f.walk[a], f.walk[b]) })
	if closing {
		for k := range n {
			f.nets.choose(f.ready[k:])
		}
	}
	part, rest := slices.Clone(f.ready[:n]), slices.Clone(f.ready[n:])
	// What nodes wait for together comes together in a row between.
	if slices.ContainsFunc(part, func(i int) bool { return f.sets[i] > 0 && f.lowest[i] == len(f.rows)-1 }) {
		f.rows = append(f.rows, row{})
	}
	f.ready = rest
	for _, i := range part {
		f.at[i] = len(f.rows)
		for _, z := range f.feeds[i] {
			f.lowest[z] = f.at[i]
			if f.missing[z]--; f.missing[z] == 0 {
				f.ready = append(f.ready, z)
			}
		}
	}
	f.rows = append(f.rows, row{items: part, boxes: n})
}

// nets are the nodes that one line ties together: a node and what waits for it, or
// those that wait for the same and what they wait for.
type nets struct {
	of    [][]int // of each node, the nets that it is in
	left  []int   // of each net, how many of its nodes have no place yet
	begun []bool
}

func netsOf(deps [][]int, sets []int) nets {
	// The nets of nodes are numbered as these are, the nets of sets after them.
	size := len(deps) + slices.Max(sets) + 1
	n := nets{of: make([][]int, len(deps)), left: make([]int, size), begun: make([]bool, size)}
	add := func(net, node int) {
		n.of[node] = append(n.of[node], net)
		n.left[net]++
	}
	for i, list := range deps {
		if sets[i] == 0 {
			for _, d := range list {
				add(d, i)
			}
			continue
		}
		net := len(deps) + sets[i]
		if n.left[net] == 0 {
			for _, d := range list {
				add(net, d)
			}
		}
		add(net, i)
	}
	for i := range deps {
		if n.left[i] > 0 {
			add(i, i)
		}
	}
	return n
}

// choose puts the best of some nodes first and leaves the others in their order.
func (n *nets) choose(from []int) {
	best, most := 0, n.gain(from[0])
	for k := 1; k < len(from); k++ {
		if g := n.gain(from[k]); g > most {
			best, most = k, g
		}
	}
	i := from[best]
	copy(from[1:best+1], from[:best])
	from[0] = i
	for _, net := range n.of[i] {
		n.begun[net] = true
		n.left[net]--
	}
}

// gain is high for a node that brings lines near their ends and low for one that
// begins some.
func (n *nets) gain(i int) (sum float64) {
	for _, net := range n.of[i] {
		if n.begun[net] {
			sum += 1 / float64(n.left[net])
		} else {
			sum--
		}
	}
	return sum
}
