package picture

import (
	"math"
	"slices"
)

// sweeps is how often the rows are put in order, down and up in turn.
const sweeps = 10

// order puts the items of each row where their neighbours are, so that lines cross
// seldom, and keeps the best that it came by.
func (l *layout) order() {
	place := make([]float64, len(l.items))
	for r := range l.rows {
		l.number(r, place)
	}
	keys := make([]float64, len(l.items))
	best, kept := l.cost(place), l.orders()
	for s := 0; s < sweeps && best > 0; s++ {
		for i := range l.rows {
			r := i
			if s%2 == 1 {
				r = len(l.rows) - 1 - i
			}
			l.sort(r, s%2 == 1, place, keys)
		}
		if c := l.cost(place); c < best {
			best, kept = c, l.orders()
		}
	}
	for r := range l.rows {
		l.rows[r].items = kept[r]
	}
}

// sort orders one row by where its neighbours above, or below, are.
func (l *layout) sort(r int, below bool, place, keys []float64) {
	for _, i := range l.rows[r].items {
		near := l.items[i].up
		if below {
			near = l.items[i].down
		}
		keys[i] = mean(near, place, place[i])
	}
	slices.SortStableFunc(l.rows[r].items, byKey(keys))
	l.number(r, place)
}

// number says where each item of a row is while the row is in the middle: a lane is
// much narrower than a box, so counting them would pull lines from side to side.
func (l *layout) number(r int, place []float64) {
	x := -l.need(l.rows[r]) / 2
	for _, i := range l.rows[r].items {
		w := l.takes(l.rows[r], i)
		place[i] = x + w/2
		x += w
	}
}

func (l *layout) orders() [][]int {
	all := make([][]int, len(l.rows))
	for r := range l.rows {
		all[r] = slices.Clone(l.rows[r].items)
	}
	return all
}

// crossing is what a crossing counts beside the way that lines take to the side.
const crossing = 40

// cost is what makes an order hard to follow: lines that cross, and lines that swing
// from side to side.
func (l *layout) cost(place []float64) float64 {
	sum := crossing * float64(l.crossings())
	for a, it := range l.items {
		for _, z := range it.down {
			sum += math.Abs(place[a] - place[z])
		}
	}
	return sum
}

// crossings counts the pairs of links that cross, with a Fenwick tree over the lower
// ends that were met so far.
func (l *layout) crossings() (n int) {
	at := make([]int, len(l.items))
	for _, row := range l.rows {
		for k, i := range row.items {
			at[i] = k
		}
	}
	for r := 0; r+1 < len(l.rows); r++ {
		tree := make([]int, len(l.rows[r+1].items)+1)
		met := 0
		for _, i := range l.rows[r].items {
			for _, b := range l.items[i].down {
				left := 0
				for k := at[b] + 1; k > 0; k -= k & -k {
					left += tree[k]
				}
				n += met - left
			}
			for _, b := range l.items[i].down {
				met++
				for k := at[b] + 1; k < len(tree); k += k & -k {
					tree[k]++
				}
			}
		}
	}
	return n
}
