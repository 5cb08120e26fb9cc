package picture

import (
	"fmt"
	"strings"
)

// Where many links come together or spread between two rows they share a level line,
// so that they are one thick comb and not a bundle of nearly level curves.
const (
	busAt    = 3  // from so many on
	busPitch = 7  // between two such lines
	mostGap  = 70 // what a gap grows to for them
	bend     = 5
)

// bus says at which of a link's ends more come together, and is not ok where few do.
func (l *layout) bus(a, z int) (end int, ok bool) {
	out, in := len(l.items[a].down), len(l.items[z].up)
	if out > in {
		return a, out >= busAt
	}
	return z, in >= busAt
}

// buses are the ends that have a level line below a row, from the top: first those
// where links come together, then those where they spread, so that stubs and lines of
// two of them seldom cross.
func (l *layout) buses(r int) []int {
	var in, out []int
	seen := map[int]bool{}
	for _, a := range l.rows[r].items {
		for _, z := range l.items[a].down {
			end, ok := l.bus(a, z)
			if !ok || seen[end] {
				continue
			}
			seen[end] = true
			if end == a {
				out = append(out, a)
			} else {
				in = append(in, z)
			}
		}
	}
	return append(in, out...)
}

// spread gives the level lines below a row their y, in a gap that begins at y and is
// at least so high, and says how high it has become.
func (l *layout) spread(r, y, least int) (gap int) {
	ends := l.buses(r)
	gap = max(least, min(busPitch*(len(ends)+1), mostGap))
	for k, end := range ends {
		level := y + gap*(k+1)/(len(ends)+1)
		if l.items[end].row == r {
			l.items[end].outY = level
		} else {
			l.items[end].inY = level
		}
	}
	return gap
}

// line draws one link: from one row's lower edge to the next one's upper edge, and
// straight down where it passes that row.
func (l *layout) line(b *strings.Builder, a, z int) {
	from, to := l.items[a], l.items[z]
	x1, x2 := int(from.x), int(to.x)
	bottom, top := l.rows[from.row].y+l.rows[from.row].h, l.rows[to.row].y
	end, ok := l.bus(a, z)
	switch {
	case x1 == x2:
		fmt.Fprintf(b, "M%d %dV%d", x1, bottom, top)
	case ok && end == a:
		level(b, x1, bottom, x2, top, from.outY)
	case ok:
		level(b, x1, bottom, x2, top, to.inY)
	default:
		middle := (bottom + top) / 2
		fmt.Fprintf(b, "M%d %dC%d %d %d %d %d %d", x1, bottom, x1, middle, x2, middle, x2, top)
	}
	if h := l.rows[to.row].h; !to.box && h > 0 {
		fmt.Fprintf(b, "v%d", h)
	}
}

// level draws down, along y, and down, with round corners.
func level(b *strings.Builder, x1, y1, x2, y2, y int) {
	r := min(bend, y-y1, y2-y, max(x2-x1, x1-x2)/2)
	side := r
	if x2 < x1 {
		side = -r
	}
	fmt.Fprintf(b, "M%d %dV%dQ%d %d %d %dH%dQ%d %d %d %dV%d", x1, y1, y-r, x1, y, x1+side, y, x2-side, x2, y, x2, y+r, y2)
}
