package picture

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// edge says that one node waits for another, both by their place among the nodes.
type edge struct{ from, to int }

// edgesOf reads what the nodes wait for: each once, without unknown ones and itself.
func edgesOf(nodes []Node) [][]int {
	index := make(map[string]int, len(nodes))
	for i, n := range nodes {
		if _, twice := index[n.ID]; !twice {
			index[n.ID] = i
		}
	}
	deps := make([][]int, len(nodes))
	for i, n := range nodes {
		for _, id := range n.After {
			if d, known := index[id]; known && d != i {
				deps[i] = append(deps[i], d)
			}
		}
		slices.Sort(deps[i])
		deps[i] = slices.Compact(deps[i])
	}
	return deps
}

// ranks gives each node its layer: one more than the deepest that it waits for. A
// cycle, which no valid graph has, is cut where it is first met; what leads up is then
// taken out of deps.
func ranks(deps [][]int) []int {
	rank := make([]int, len(deps))
	missing := make([]int, len(deps))
	feeds := make([][]int, len(deps))
	var ready []int
	for i, list := range deps {
		missing[i] = len(list)
		if len(list) == 0 {
			ready = append(ready, i)
		}
		for _, d := range list {
			feeds[d] = append(feeds[d], i)
		}
	}
	done := make([]bool, len(deps))
	for next := 0; ; {
		for len(ready) > 0 {
			i := ready[0]
			ready, done[i] = ready[1:], true
			for _, f := range feeds[i] {
				if done[f] {
					continue
				}
				rank[f] = max(rank[f], rank[i]+1)
				if missing[f]--; missing[f] == 0 {
					ready = append(ready, f)
				}
			}
		}
		for next < len(deps) && done[next] {
			next++
		}
		if next == len(deps) {
			break
		}
		ready = append(ready, next)
	}
	for i := range deps {
		deps[i] = slices.DeleteFunc(deps[i], func(d int) bool { return rank[d] >= rank[i] })
	}
	return rank
}

// row is one line of the layout: boxes and the lanes that pass between them, by their
// item, from left to right. A layer with more boxes than fit has several.
type row struct {
	layer int
	items []int
	boxes int // how many of the items are; a row of joints has none
	y, h  int
}

// rowsOf puts the nodes of each layer into rows of nearly the same length, at most
// fit. A layer whose nodes share what they wait for has a row of joints above it,
// in which all that leads there comes together.
func rowsOf(deps [][]int, rank []int, fit int, sets []int) (rows []row, at []int) {
	layers := make([][]int, slices.Max(rank)+1)
	jointed := make([]bool, len(layers))
	for i, r := range rank {
		layers[r] = append(layers[r], i)
		jointed[r] = jointed[r] || sets[i] > 0
	}
	at = make([]int, len(deps))
	place, keys := make([]float64, len(deps)), make([]float64, len(deps))
	for l, layer := range layers {
		if jointed[l] {
			rows = append(rows, row{layer: l})
		}
		for _, i := range layer {
			keys[i] = mean(deps[i], place, 0)
		}
		slices.SortStableFunc(layer, byKey(keys))
		lines := (len(layer) + fit - 1) / fit
		for k := range lines {
			part := layer[len(layer)*k/lines : len(layer)*(k+1)/lines]
			for n, i := range part {
				at[i], place[i] = len(rows), (float64(n)+0.5)/float64(len(part))
			}
			rows = append(rows, row{layer: l, items: slices.Clone(part), boxes: len(part)})
		}
	}
	return rows, at
}

// shared numbers what two or more nodes wait for together, if that is two or more: these
// are drawn as one bundle, which is also what a reader wants to know of them. A node that
// shares nothing has 0.
func shared(deps [][]int) []int {
	number, count, sets := map[string]int{}, []int{0}, make([]int, len(deps))
	for i, list := range deps {
		if len(list) < 2 {
			continue
		}
		key := setKey(list)
		if number[key] == 0 {
			number[key], count = len(count), append(count, 0)
		}
		sets[i] = number[key]
		count[sets[i]]++
	}
	for i, set := range sets {
		if count[set] < 2 {
			sets[i] = 0
		}
	}
	return sets
}

// setKey is the same for the same nodes.
func setKey(list []int) string {
	key := make([]byte, 0, 4*len(list))
	for _, i := range list {
		key = binary.BigEndian.AppendUint32(key, uint32(i))
	}
	return string(key)
}

func mean(of []int, values []float64, none float64) float64 {
	if len(of) == 0 {
		return none
	}
	sum := 0.0
	for _, i := range of {
		sum += values[i]
	}
	return sum / float64(len(of))
}

func byKey(keys []float64) func(a, b int) int {
	return func(a, b int) int { return cmp.Compare(keys[a], keys[b]) }
}
