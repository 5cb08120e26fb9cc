package picture

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"orchestrate/internal/figure"
)

// textAt is where a box's text begins, right of its sign.
const textAt = 34

func drawGraph(nodes []Node, l *layout) template.HTML {
	var b strings.Builder
	path := l.critical(nodes)
	if d := l.lines(func(a, z int) bool { return !path[[2]int{a, z}] }); d != "" {
		fmt.Fprintf(&b, `<path class="edge" d="%s"/>`, d)
	}
	if d := l.lines(func(a, z int) bool { return path[[2]int{a, z}] }); d != "" {
		fmt.Fprintf(&b, `<path class="edge on-path" d="%s"/>`, d)
	}
	count := map[string]int{}
	for i, n := range nodes {
		count[n.Status]++
		l.box(&b, n, l.items[i])
	}
	more := ""
	if slices.ContainsFunc(nodes, func(n Node) bool { return n.OnPath }) {
		more = `<span class="path-key">critical path</span>`
	}
	desc := fmt.Sprintf("%s in %s: %s. What a job waits for is above it.", figure.Count(len(nodes), "job"),
		figure.Count(l.layers, "layer"), sum(count))
	return template.HTML(frame("picture-graph", "Graph of the jobs", desc, l.w, l.h, b.String(), legend(count, more)))
}

// critical are the links of the edges along the critical path.
func (l *layout) critical(nodes []Node) map[[2]int]bool {
	var chain []int
	for i, n := range nodes {
		if n.OnPath {
			chain = append(chain, i)
		}
	}
	slices.SortStableFunc(chain, func(a, b int) int { return l.items[a].row - l.items[b].row })
	next := map[edge]bool{}
	for i := 1; i < len(chain); i++ {
		next[edge{chain[i-1], chain[i]}] = true
	}
	links := map[[2]int]bool{}
	for i, e := range l.edges {
		if next[e] {
			steps := l.steps(i)
			for k := 1; k < len(steps); k++ {
				links[[2]int{steps[k-1], steps[k]}] = true
			}
		}
	}
	return links
}

// lines draws the links that are wanted.
func (l *layout) lines(wanted func(a, z int) bool) string {
	var b strings.Builder
	for a, from := range l.items {
		for _, z := range from.down {
			if wanted(a, z) {
				l.line(&b, a, z)
			}
		}
	}
	return b.String()
}

func (l *layout) box(b *strings.Builder, n Node, it item) {
	x, y, h := int(it.x)-l.boxW/2, l.rows[it.row].y, l.rows[it.row].h
	class, says := "node s-"+word(n.Status), n.ID
	for _, more := range []string{n.Status, n.Detail} {
		if more != "" {
			says += ", " + more
		}
	}
	if n.OnPath {
		class, says = class+" on-path", says+", on the critical path"
	}
	open, end := link(n.Href, fmt.Sprintf(`class="%s" data-job="%s"`, class, inert(n.ID)))
	fmt.Fprintf(b, `%s<title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`, open, inert(says), x, y, l.boxW, h)
	if len(it.up) > 0 {
		fmt.Fprintf(b, `<path class="tip" d="M%d %dl-4-6h8z"/>`, int(it.x), y)
	}
	b.WriteString(glyph(n.Status, x+18, y+h/2))
	room, base := float64(l.boxW-textAt-6), y+h/2+4
	if n.Detail != "" {
		base = y + 19
		fmt.Fprintf(b, `<text class="detail" x="%d" y="%d">%s</text>`, x+textAt, y+36, fit(n.Detail, room, plainChar))
	}
	fmt.Fprintf(b, `<text class="id" x="%d" y="%d">%s</text>%s`, x+textAt, base, fit(n.ID, room, idChar), end)
}
