package picture

// An edge over several rows passes each row between in a lane, beside the boxes. Edges
// that have an end in common share their lanes, which are then one trunk: two hundred
// jobs that one waits for are one line down the side and not two hundred.

// item is what has a place in a row: a box, or one row's part of a trunk.
type item struct {
	row      int
	box      bool
	up, down []int // items of the neighbour rows that it is linked with
	x        float64
	inY      int // of the level line where links come to it, outY where they leave
	outY     int
}

// trunk is the lanes of its edges, one per row from first to last.
type trunk struct{ first, last, lane int }

// trunkKey names what its edges have in common: the node that they come from or lead
// to, or what a group of nodes waits for.
type trunkKey struct {
	end int
	out bool
	set int // what they wait for, as shared numbers it; 0 = they share nothing
}

// layout is where everything is.
type layout struct {
	items  []item // boxes first, in the order of the nodes
	rows   []row
	edges  []edge
	trunks map[trunkKey]*trunk
	sets   []int // of each node, as shared numbers them
	in     []int // of each node, how many edges over several rows lead to it
	out    []int // and from it
	layers int
	fit    int  // how many boxes are in a row, at most
	banded bool // the rows are not in the order of the layers, and all of layer 0
	boxW   int
	w, h   int
}

// route lays the edges into lanes of these rows.
func (l *layout) route(deps [][]int, rows []row, at []int) {
	l.rows, l.trunks = rows, map[trunkKey]*trunk{}
	n := 0
	for i, list := range deps {
		l.items = append(l.items, item{row: at[i], box: true})
		n += len(list)
	}
	l.edges, l.in, l.out = make([]edge, 0, n), make([]int, len(deps)), make([]int, len(deps))
	for to, list := range deps {
		for _, from := range list {
			l.edges = append(l.edges, edge{from, to})
			if at[to]-at[from] > 1 {
				l.in[to]++
				l.out[from]++
			}
		}
	}
	order := []trunkKey{}
	for _, e := range l.edges {
		first, last := at[e.from]+1, at[e.to]-1
		if first > last {
			continue
		}
		key := l.key(e)
		if t := l.trunks[key]; t == nil {
			l.trunks[key] = &trunk{first: first, last: last}
			order = append(order, key)
		} else {
			t.first, t.last = min(t.first, first), max(t.last, last)
		}
	}
	for _, key := range order {
		l.lanes(l.trunks[key])
	}
	l.link()
}

// key names the trunk of an edge, if it has one.
func (l *layout) key(e edge) trunkKey {
	switch {
	case l.sets[e.to] > 0:
		return trunkKey{set: l.sets[e.to]}
	case l.out[e.from] > l.in[e.to]:
		return trunkKey{end: e.from, out: true}
	}
	return trunkKey{end: e.to}
}

// lanes makes the lanes of a trunk.
func (l *layout) lanes(t *trunk) {
	t.lane = len(l.items)
	for r := t.first; r <= t.last; r++ {
		l.rows[r].items = append(l.rows[r].items, len(l.items))
		l.items = append(l.items, item{row: r})
		if r > t.first {
			l.join(len(l.items)-2, len(l.items)-1)
		}
	}
}

// link ties every edge's ends to its trunk, each pair once.
func (l *layout) link() {
	seen := map[edge]bool{}
	once := func(a, b int) {
		if !seen[edge{a, b}] {
			seen[edge{a, b}] = true
			l.join(a, b)
		}
	}
	for _, e := range l.edges {
		first, last, over := l.passes(e)
		if !over {
			once(e.from, e.to)
			continue
		}
		once(e.from, first)
		once(last, e.to)
	}
}

// passes are the first and the last lane that an edge is in; over is false where its
// ends are in neighbour rows.
func (l *layout) passes(e edge) (first, last int, over bool) {
	from, to := l.items[e.from].row, l.items[e.to].row
	if to-from < 2 {
		return 0, 0, false
	}
	t := l.trunks[l.key(e)]
	return t.lane + from + 1 - t.first, t.lane + to - 1 - t.first, true
}

func (l *layout) join(a, b int) {
	l.items[a].down = append(l.items[a].down, b)
	l.items[b].up = append(l.items[b].up, a)
}

// steps are the items that an edge passes, its ends with them, one per row.
func (l *layout) steps(i int) []int {
	e := l.edges[i]
	all := []int{e.from}
	if first, last, over := l.passes(e); over {
		for lane := first; lane <= last; lane++ {
			all = append(all, lane)
		}
	}
	return append(all, e.to)
}
