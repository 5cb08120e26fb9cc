package picture

import (
	"math"
	"slices"
)

// Measures of the graph, in CSS pixels.
const (
	margin    = 10
	edgePad   = 2  // beside a lane at the side
	boxGap    = 20 // between boxes of a row, half of it beside the first and the last
	lanePitch = 14 // what a lane takes of a row, at most
	laneRoom  = 90 // what boxes leave to lanes
	rowGap    = 22 // between rows of one layer, and where lines are straight
	layerGap  = 44
	jointGap  = 24 // above and below a row of joints
	boxH      = 30
	boxTall   = 46 // with a second line
)

// inner is what items have of the width.
const inner = Width - 2*edgePad

// lay finds a place for every node and edge.
func lay(nodes []Node) *layout {
	deps := edgesOf(nodes)
	rank := ranks(deps)
	l := blank(nodes, deps, rank)
	l.arrange(deps, rank)
	l.order()
	l.across()
	l.down(nodes)
	return l
}

// blank is a layout in which nothing has a place yet.
func blank(nodes []Node, deps [][]int, rank []int) *layout {
	room, w := inner, boxWidth(nodes)
	if slices.ContainsFunc(deps, func(list []int) bool { return len(list) > 0 }) {
		room -= laneRoom
	}
	return &layout{sets: shared(deps), layers: slices.Max(rank) + 1, fit: max(room/(w+boxGap), 1), boxW: w}
}

// across gives items their x: near their neighbours, in the order of the row, at the
// distance that they need.
func (l *layout) across() {
	longest := make([]float64, l.layers)
	for _, row := range l.rows {
		longest[row.layer] = max(longest[row.layer], l.need(row))
	}
	for r := range l.rows {
		l.start(r, longest[l.rows[r].layer])
	}
	for s := range 8 {
		for i := range l.rows {
			r := i
			if s%2 == 1 {
				r = len(l.rows) - 1 - i
			}
			l.settle(r, s)
		}
	}
	l.trim()
}

// start puts a row's items side by side, where the longest row of its layer begins.
func (l *layout) start(r int, longest float64) {
	x := edgePad + (inner-longest)/2
	for _, i := range l.rows[r].items {
		w := l.takes(l.rows[r], i)
		l.items[i].x = x + w/2
		x += w
	}
}

// takes is what an item needs of its row, with half a gap on each side.
func (l *layout) takes(r row, i int) float64 {
	if l.items[i].box {
		return float64(l.boxW + boxGap)
	}
	left := inner - r.boxes*(l.boxW+boxGap)
	return min(lanePitch, float64(left)/float64(len(r.items)-r.boxes))
}

func (l *layout) need(r row) (w float64) {
	for _, i := range r.items {
		w += l.takes(r, i)
	}
	return w
}

// settle moves a row's items as near to what they want as their order and distances
// allow, all together (isotonic regression by pooling neighbours that are in each
// other's way).
func (l *layout) settle(r, sweep int) {
	type pool struct{ sum, weight float64 }
	var pools []pool
	var sizes []int
	offset, last := make([]float64, len(l.rows[r].items)), 0.0
	for n, i := range l.rows[r].items {
		w := l.takes(l.rows[r], i)
		offset[n] = last + w/2
		last += w
		weight := 1.0
		if !l.items[i].box {
			weight = 3 // long lines are easier to follow when they are straight
		}
		pools, sizes = append(pools, pool{(l.wants(i, sweep) - offset[n]) * weight, weight}), append(sizes, 1)
		for k := len(pools) - 1; k > 0 && pools[k-1].sum/pools[k-1].weight >= pools[k].sum/pools[k].weight; k-- {
			pools[k-1].sum += pools[k].sum
			pools[k-1].weight += pools[k].weight
			sizes[k-1] += sizes[k]
			pools, sizes = pools[:k], sizes[:k]
		}
	}
	least, most := float64(edgePad), float64(Width-edgePad)-last
	n := 0
	for k, p := range pools {
		for range sizes[k] {
			l.items[l.rows[r].items[n]].x = offset[n] + min(max(p.sum/p.weight, least), most)
			n++
		}
	}
}

// wants is where an item's neighbours are: above, below, and at last on both sides.
func (l *layout) wants(i, sweep int) float64 {
	it := l.items[i]
	near := it.up
	switch {
	case sweep >= 6:
		near = append(append([]int{}, it.up...), it.down...)
	case sweep%2 == 1:
		near = it.down
	}
	if len(near) == 0 {
		return it.x
	}
	sum := 0.0
	for _, j := range near {
		sum += l.items[j].x
	}
	return sum / float64(len(near))
}

// trim takes away what is empty on the left and says how wide the picture is.
func (l *layout) trim() {
	left, right := math.Inf(1), math.Inf(-1)
	for _, it := range l.items {
		half := float64(edgePad)
		if it.box {
			half = float64(l.boxW+boxGap) / 2
		}
		left, right = min(left, it.x-half), max(right, it.x+half)
	}
	for i := range l.items {
		l.items[i].x = math.Round(l.items[i].x - left)
	}
	l.w = int(math.Ceil(right - left))
}

// down gives the rows their y.
func (l *layout) down(nodes []Node) {
	h := boxH
	for _, n := range nodes {
		if n.Detail != "" {
			h = boxTall
		}
	}
	y := margin
	for r := range l.rows {
		this := &l.rows[r]
		if r > 0 {
			y += l.spread(r-1, y, l.gap(r-1))
		}
		this.y = y
		if this.boxes > 0 {
			this.h = h
		}
		y += this.h
	}
	l.h = y + margin
}

// gap is what is left free below a row.
func (l *layout) gap(r int) int {
	above, below := l.rows[r], l.rows[r+1]
	switch {
	case above.boxes == 0, below.boxes == 0:
		return jointGap
	case l.banded && !l.straight(r), above.layer != below.layer:
		return layerGap
	}
	return rowGap
}

// straight says whether links go on below a row, and none of them far to the side from
// a box to a box: those would be nearly level.
func (l *layout) straight(r int) bool {
	some := false
	for _, a := range l.rows[r].items {
		for _, z := range l.items[a].down {
			some = true
			if l.items[a].box && l.items[z].box && math.Abs(l.items[a].x-l.items[z].x) > rowGap {
				return false
			}
		}
	}
	return some
}
