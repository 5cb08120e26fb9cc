package graph

import (
	"fmt"

	"orchestrate/internal/spec"
)

// A writer sees the work of the one isolated writer that it depends on directly,
// and what that one built on. What came before it in any other way it does not
// see, though the order says that it comes after.

// unseen warns of each isolated writer whose files another isolated writer may
// have changed before it, unseen by it: their patches may then not apply together.
// Jobs that depend on several writers have a warning of their own.
func (g *Graph) unseen(isolated func(id string) bool) (out []spec.Diagnostic) {
	if len(g.writers) == 0 {
		return nil
	}
	apart := make([]bool, len(g.writers))
	for w, i := range g.writers {
		apart[w] = isolated(g.jobs[i].ID)
	}
	inTree := func(id string) bool { return apart[g.place[g.index[id]]] }
	built := make([]bits, len(g.writers)) // per writer: those whose work it starts from
	var before []int                      // writers that came earlier, in topological order
	for _, i := range g.order {
		w := g.place[i]
		if w == none || !apart[w] {
			continue
		}
		base, several := g.BaseOf(g.jobs[i].ID, inTree)
		built[w] = make(bits, (len(g.writers)+63)/64)
		if base != "" {
			b := g.place[g.index[base]]
			built[w].union(built[b])
			built[w].add(b)
		}
		if several == nil {
			if other := g.lastUnseen(w, before, built[w]); other != none {
				out = append(out, g.unseenWarning(w, other, base))
			}
		}
		before = append(before, w)
	}
	return out
}

// lastUnseen finds the latest writer that w comes after and shares files with, but
// does not build on.
func (g *Graph) lastUnseen(w int, before []int, built bits) int {
	i := g.writers[w]
	for n := len(before) - 1; n >= 0; n-- {
		o := before[n]
		if g.waitsForWriter(i, o) && !built.has(o) && g.owned[w].overlap(g.owned[o]) != "" {
			return o
		}
	}
	return none
}

// unseenWarning names the way out. A writer that has a base already cannot get a
// second one: there the writers must become one chain.
func (g *Graph) unseenWarning(w, other int, base string) spec.Diagnostic {
	i := g.writers[w]
	later, earlier := g.jobs[i].ID, g.jobs[g.writers[other]].ID
	remedy := fmt.Sprintf("add depends_on: [%s]", earlier)
	if base != "" {
		remedy = fmt.Sprintf("it starts from the work of %q: let each of these writers depend directly on the one before it", base)
	}
	return spec.Diagnostic{
		Pos: g.jobs[i].Pos, Field: field(i, "depends_on"), Rule: "unseen-work",
		Message: fmt.Sprintf("%q comes after %q but does not start from its work, and both may change the same files: %s; %s",
			later, earlier, g.owned[w].overlap(g.owned[other]), remedy),
	}
}
