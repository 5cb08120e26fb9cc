package picture

import (
	"fmt"
	"slices"
	"testing"
)

// chains are jobs that wait for each other one by one.
func chains(n, long int) (nodes []Node) {
	for i := range n {
		for k := range long {
			node := Node{ID: fmt.Sprintf("chain-%d-%d", i, k)}
			if k > 0 {
				node.After = []string{fmt.Sprintf("chain-%d-%d", i, k-1)}
			}
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// fortyJobs is the run of forty jobs of browser/specs.mjs.
func fortyJobs() (nodes []Node) {
	add := func(after []string, id string, of ...any) {
		nodes = append(nodes, Node{ID: fmt.Sprintf(id, of...), Detail: "standin, 149ms", After: after})
	}
	named := func(name string, of ...int) (ids []string) {
		for _, i := range of {
			ids = append(ids, fmt.Sprintf("%s-%d", name, i))
		}
		return ids
	}
	for i := range 6 {
		add(nil, "scout-%d", i)
	}
	for i := range 12 {
		add(named("scout", i%6, (i*5+1)%6), "part-%d", i)
	}
	for i := range 12 {
		add(named("part", i), "review-of-part-%d", i)
	}
	for i, other := range []int{0, 1, 3, 3, 4, 5} {
		add(append(named("review-of-part", i*2, other), named("scout", i)...), "docs-%d", i)
	}
	for i := range 3 {
		add(named("docs", i, i+3), "gather-%d", i)
	}
	add(append(named("gather", 0, 1), "scout-0"), "a-job-with-a-name-that-is-far-too-long-for-any-box-of-a-graph")
	return nodes
}

// fans are jobs that wait for one, in groups that one waits for each.
func fans(groups, of int) []Node {
	nodes := []Node{{ID: "prepare"}}
	var leaves []string
	for g := range groups {
		var group []string
		for i := range of {
			group = append(group, fmt.Sprintf("shard-%d-%d", g, i))
			nodes = append(nodes, Node{ID: group[i], After: []string{"prepare"}})
		}
		leaves = append(leaves, fmt.Sprintf("gather-%d", g))
		nodes = append(nodes, Node{ID: leaves[g], After: group})
	}
	return append(nodes, Node{ID: "end", After: leaves})
}

// measured is what makes a picture hard to follow: how many rows its edges lead down by
// in all, in how many lanes, and how often they cross.
type measured struct{ span, lanes, crossings int }

func measure(l *layout) measured {
	m := measured{crossings: l.crossings()}
	for _, e := range l.edges {
		m.span += l.items[e.to].row - l.items[e.from].row
	}
	for _, it := range l.items {
		if !it.box {
			m.lanes++
		}
	}
	return m
}

// Where layers are wrapped, what belongs together stays together.
func TestChainsAreKeptTogether(t *testing.T) {
	for _, c := range []struct {
		name   string
		nodes  []Node
		layers measured // what it is in the order of the layers
		most   measured // what it may be
	}{
		{"fifty chains of four", chains(50, 4), measured{1200, 1050, 0}, measured{150, 0, 0}},
		{"forty jobs", fortyJobs(), measured{226, 98, 51}, measured{183, 76, 19}},
		{"fourteen fans of thirteen", fans(14, 13), measured{5026, 220, 9}, measured{3108, 80, 0}},
	} {
		if got := measure(inLayers(c.nodes)); got != c.layers {
			t.Errorf("%s: in the order of the layers %+v", c.name, got)
		}
		l := lay(c.nodes)
		if got := measure(l); got.span > c.most.span || got.lanes > c.most.lanes || got.crossings > c.most.crossings {
			t.Errorf("%s: %+v, at most %+v", c.name, got, c.most)
		}
		checkRows(t, l)
	}
}

// A chain runs straight down, and what follows is set off from it.
func TestAChainIsAColumn(t *testing.T) {
	l := lay(chains(20, 4))
	for _, e := range l.edges {
		from, to := l.items[e.from], l.items[e.to]
		if from.x != to.x || l.rows[to.row].y-l.rows[from.row].y != boxH+rowGap {
			t.Errorf("%v: from %v, row %d to %v, row %d", e, from.x, from.row, to.x, to.row)
		}
	}
	if below := l.rows[4].y - l.rows[3].y; below != boxH+layerGap {
		t.Errorf("the next chains are %d below", below)
	}
}

// What nodes wait for together still comes together above them, wherever they are.
func TestBandsHaveJoints(t *testing.T) {
	nodes := chains(12, 3)
	for i := range 3 {
		nodes = append(nodes, Node{ID: fmt.Sprintf("both-%d", i), After: []string{"chain-0-2", "chain-1-2"}})
	}
	l := lay(nodes)
	if !l.banded || !slices.ContainsFunc(l.rows, func(r row) bool { return r.boxes == 0 && len(r.items) == 1 }) {
		t.Errorf("banded %v, rows %+v", l.banded, l.rows)
	}
	checkRows(t, l)
}
