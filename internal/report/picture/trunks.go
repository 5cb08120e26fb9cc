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
	set string
}

// layout is where everything is.
type layout struct {
	items  []item // boxes first, in the order of the nodes
	rows   []row
	edges  []edge
	trunks map[trunkKey]*trunk
	keys   []trunkKey // by edge
	boxW   int
	w, h   int
}

// route lays the edges into lanes.
func (l *layout) route(deps [][]int, at []int, joined map[string]int) {
	for i := range deps {
		l.items = append(l.items, item{row: at[i], box: true})
	}
	in, out := make([]int, len(deps)), make([]int, len(deps))
	for to, list := range deps {
		for _, from := range list {
			l.edges = append(l.edges, edge{from, to})
			if at[to]-at[from] > 1 {
				in[to]++
				out[from]++
			}
		}
	}
	order := []trunkKey{}
	for _, e := range l.edges {
		key := trunkKey{end: e.to}
		if set := setKey(deps[e.to]); joined[set] > 1 {
			key = trunkKey{set: set}
		} else if out[e.from] > in[e.to] {
			key = trunkKey{end: e.from, out: true}
		}
		l.keys = append(l.keys, key)
		first, last := at[e.from]+1, at[e.to]-1
		if first > last {
			continue
		}
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
	type pair struct{ a, b int }
	seen := map[pair]bool{}
	for i := range l.edges {
		steps := l.steps(i)
		for _, p := range []pair{{steps[0], steps[1]}, {steps[len(steps)-2], steps[len(steps)-1]}} {
			if !seen[p] {
				seen[p] = true
				l.join(p.a, p.b)
			}
		}
	}
}

func (l *layout) join(a, b int) {
	l.items[a].down = append(l.items[a].down, b)
	l.items[b].up = append(l.items[b].up, a)
}

// steps are the items that an edge passes, its ends with them, one per row.
func (l *layout) steps(i int) []int {
	e := l.edges[i]
	all := []int{e.from}
	if t := l.trunks[l.keys[i]]; t != nil {
		for r := l.items[e.from].row + 1; r < l.items[e.to].row; r++ {
			all = append(all, t.lane+r-t.first)
		}
	}
	return append(all, e.to)
}
