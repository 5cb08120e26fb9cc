package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn is a graph of any shape: every node waits for some before it.
func drawn(t *rapid.T) []Node {
	n := rapid.IntRange(1, 120).Draw(t, "nodes")
	dense := rapid.IntRange(0, 6).Draw(t, "dense")
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: fmt.Sprintf("job-%d", i), Status: rapid.SampledFrom(states).Draw(t, "status")}
		if rapid.Bool().Draw(t, "detail") {
			nodes[i].Detail = "codex · 12 s"
		}
		nodes[i].OnPath = rapid.IntRange(0, 5).Draw(t, "path") == 0
		if i > 0 {
			for range rapid.IntRange(0, dense).Draw(t, "deps") {
				nodes[i].After = append(nodes[i].After, nodes[rapid.IntRange(0, i-1).Draw(t, "dep")].ID)
			}
		}
	}
	return nodes
}

// No two boxes overlap, every edge leads downwards from box to box by one step per row,
// each of its steps is linked to the next, no lane passes through a box, and all is
// inside the picture.
func TestAGraphIsLaidOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawn(t)
		l := lay(nodes)
		if l.w > Width {
			t.Fatalf("%d wide", l.w)
		}
		checkRows(t, l)
		deps := edgesOf(nodes)
		if layered := inLayers(nodes); l.banded && (!layered.wrapped() || len(l.items) >= len(layered.items)) {
			t.Fatal("the order of the layers is left for nothing")
		}
		known := map[edge]bool{}
		for i, e := range l.edges {
			known[e] = true
			checkEdge(t, l, l.steps(i))
		}
		for to, list := range deps {
			for _, from := range list {
				if !known[edge{from, to}] {
					t.Fatalf("%d waits for %d, and nothing is drawn", to, from)
				}
			}
		}
		if one, two := Graph(nodes), Graph(nodes); one != two {
			t.Fatal("drawn twice, it is not the same")
		}
		wellFormed(t, string(Graph(nodes)))
	})
}

type failing interface{ Fatalf(string, ...any) }

func checkRows(t failing, l *layout) {
	bottom := 0
	for _, r := range l.rows {
		if r.y < bottom || r.y+r.h > l.h {
			t.Fatalf("a row at %d to %d, the one before ends at %d, the picture at %d", r.y, r.y+r.h, bottom, l.h)
		}
		bottom = r.y + r.h
		right := 0.0
		for _, i := range r.items {
			half := 0.0
			if l.items[i].box {
				half = float64(l.boxW) / 2
			}
			if left := l.items[i].x - half; left < right {
				t.Fatalf("an item begins at %v, the one before ends at %v", left, right)
			}
			right = l.items[i].x + half
		}
		if right > float64(l.w) {
			t.Fatalf("ends at %v of %d", right, l.w)
		}
	}
}

func checkEdge(t failing, l *layout, steps []int) {
	for k := 1; k < len(steps); k++ {
		a, z := l.items[steps[k-1]], l.items[steps[k]]
		if z.row != a.row+1 || !slices.Contains(a.down, steps[k]) {
			t.Fatalf("a step from row %d to row %d: %v", a.row, z.row, a.down)
		}
	}
}

// inLayers is the graph with its rows in the order of its layers.
func inLayers(nodes []Node) *layout {
	deps := edgesOf(nodes)
	rank := ranks(deps)
	l := blank(nodes, deps, rank).layered(deps, rank)
	l.order()
	return l
}

// wellFormed reads the picture as strictly as XML is.
func wellFormed(t failing, svg string) {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func TestSharedLinesAreDrawnOnce(t *testing.T) {
	// Two stages of a hundred, the second waiting for all of the first, then one job.
	var nodes []Node
	for i := range 100 {
		nodes = append(nodes, Node{ID: fmt.Sprintf("a%d", i)})
	}
	var first, second []string
	for _, n := range nodes {
		first = append(first, n.ID)
	}
	for i := range 100 {
		nodes = append(nodes, Node{ID: fmt.Sprintf("b%d", i), After: first})
		second = append(second, fmt.Sprintf("b%d", i))
	}
	nodes = append(nodes, Node{ID: "end", After: second})
	l := lay(nodes)
	checkRows(t, l)
	links := 0
	for _, it := range l.items {
		links += len(it.down)
	}
	if len(l.trunks) != 2 || links > 400 {
		t.Errorf("%d trunks, %d links", len(l.trunks), links)
	}
}

func TestLayersAreInOrder(t *testing.T) {
	l := lay([]Node{
		{ID: "test", After: []string{"fix", "nobody", "test"}},
		{ID: "fix", After: []string{"scout"}},
		{ID: "scout"},
		{ID: "alone"},
	})
	if got := []int{l.items[0].row, l.items[1].row, l.items[2].row, l.items[3].row}; !slices.Equal(got, []int{2, 1, 0, 0}) {
		t.Errorf("rows %v", got)
	}
}

func TestACycleIsDrawnAsFarAsItGoes(t *testing.T) {
	nodes := []Node{
		{ID: "a", After: []string{"c"}},
		{ID: "b", After: []string{"a"}},
		{ID: "c", After: []string{"b"}},
		{ID: "a", After: []string{"a"}},
	}
	l := lay(nodes)
	checkRows(t, l)
	if len(l.edges) != 3 || strings.Count(string(Graph(nodes)), "data-job=") != 4 {
		t.Errorf("%d edges", len(l.edges))
	}
}

func TestTheCriticalPathIsOneLine(t *testing.T) {
	svg := string(Graph([]Node{
		{ID: "a", OnPath: true},
		{ID: "b", OnPath: true, After: []string{"a"}},
		{ID: "c", OnPath: true, After: []string{"a", "b"}},
	}))
	_, line, _ := strings.Cut(svg, `class="edge on-path" d="`)
	line, _, _ = strings.Cut(line, `"`)
	if strings.Count(line, "M") != 2 || !strings.Contains(svg, "b, on the critical path") {
		t.Errorf("%s in %s", line, svg)
	}
}

func TestAThousandNodesAreLaidOutInASecond(t *testing.T) {
	var nodes []Node
	seed := uint32(7)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for i := range 1000 {
		n := Node{ID: fmt.Sprintf("job-%d", i), Status: "success"}
		for range min(i, 5) {
			n.After = append(n.After, fmt.Sprintf("job-%d", next(i)))
		}
		nodes = append(nodes, n)
	}
	begin := time.Now()
	svg := Graph(nodes)
	t.Logf("%v, %d bytes", time.Since(begin), len(svg))
	checkRows(t, lay(nodes))
}

func BenchmarkGraph1000(b *testing.B) {
	var nodes []Node
	for i := range 1000 {
		n := Node{ID: fmt.Sprintf("job-%d", i)}
		for k := 1; k <= min(i, 5); k++ {
			n.After = append(n.After, fmt.Sprintf("job-%d", i-1-(i*k*7)%i))
		}
		nodes = append(nodes, n)
	}
	for b.Loop() {
		Graph(nodes)
	}
}

const hostile = "\"><script>alert(1)</script>\x1b[31m\u202Egnp.exe]]>&amp;'\x00"

func TestWhatAJobSaysIsInert(t *testing.T) {
	graph := Graph([]Node{{ID: hostile, Status: hostile, Detail: hostile, Href: "#" + hostile}, {ID: "x", Href: "javascript:alert(1)"}})
	line := Timeline([]Row{{ID: hostile, Href: "https://example.com", Spans: []Span{{
		From: time.Unix(1, 0), To: time.Unix(2, 0), Class: hostile, Title: hostile,
	}}}}, time.Time{}, time.Time{})
	for _, svg := range []string{string(graph), string(line)} {
		wellFormed(t, svg)
		for _, bad := range []string{"<script", "\x1b", "\u202E", "\x00", "javascript:", "https://example", `""`} {
			if strings.Contains(svg, bad) {
				t.Errorf("%q in %s", bad, svg)
			}
		}
	}
}

func TestLongTextIsShortened(t *testing.T) {
	for _, c := range []struct {
		text string
		room float64
		want string
	}{
		{"short", 100, "short"},
		{"implement-the-parser-for-lists", 20 * idChar, "implement-the…-lists"},
		{"漢字漢字漢字漢字漢字", 10 * idChar, "漢字…漢字"},
		{"abc", 0, "a…"},
	} {
		if got := fit(c.text, c.room, idChar); got != c.want {
			t.Errorf("%q in %v: %q, want %q", c.text, c.room, got, c.want)
		}
	}
}
