package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostNamed is how many names an error message offers.
const mostNamed = 5

// nearest are the names most like the wanted one, the likeliest first.
func nearest(wanted string, names []string) []string {
	likeness := make(map[string]float64, len(names))
	for _, n := range names {
		likeness[n] = alike(wanted, n)
	}
	all := slices.Compact(slices.Sorted(slices.Values(names)))
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(likeness[b], likeness[a]) })
	return all[:min(len(all), mostNamed)]
}

// likely is the question after a name that is not known: what it may be misspelt from;
// "" where nothing is much like it.
func likely(wanted string, names []string) string {
	const much = 0.6
	if near := nearest(wanted, names); len(near) > 0 && alike(wanted, near[0]) >= much {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}

// alike is the share of neighbouring letters that two names have in common, 0 to 1.
func alike(a, b string) float64 {
	x, y := pairs(a), pairs(b)
	common := 0
	for p, n := range x {
		common += min(n, y[p])
	}
	return 2 * float64(common) / float64(max(1, len(a)+len(b)))
}

func pairs(s string) map[string]int {
	s = "^" + strings.ToLower(s)
	all := map[string]int{}
	for i := range len(s) - 1 {
		all[s[i:i+2]]++
	}
	return all
}

// offer is the end of a next step that names what there is to choose from.
func offer(kind, wanted string, names []string) string {
	switch n := len(names); {
	case n == 0:
		return "it lists none"
	case n <= mostNamed:
		return strings.Join(slices.Sorted(slices.Values(names)), ", ")
	default:
		return fmt.Sprintf("of its %d %s the nearest are %s", n, kind, strings.Join(nearest(wanted, names), ", "))
	}
}
