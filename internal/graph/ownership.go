package graph

import (
	"fmt"
	"path/filepath"
	"strings"

	"orchestrate/internal/spec"
)

// ownership is what a writer may write, as patterns from the root of the disk.
type ownership struct {
	whole    bool // its whole cwd, and so everything
	patterns []pattern
	written  []string // as in the spec, beside patterns
	open     []bool   // beside patterns: it holds an item that is not known yet
	list     string   // whose items those are, "" = it has none such
}

func ownershipOf(j *spec.Job) ownership {
	o := ownership{whole: j.OwnsCwd()}
	for _, p := range j.OwnedPaths {
		o.add(j, p, p)
	}
	for _, out := range j.Outputs {
		o.add(j, escape(out.Path), out.Path)
	}
	return o
}

// add takes one more pattern of a job, and how the spec writes it. Of one with an item that
// is not known before the run only the beginning counts.
func (o *ownership) add(j *spec.Job, p, written string) {
	dir, open := filepath.ToSlash(j.Cwd), false
	if j.Item != nil && j.Item.Value == nil {
		o.list = j.Item.Of
		if above, ok := aboveItem(dir); ok {
			dir, p, open = above, "**", true
		} else if above, ok = aboveItem(p); ok {
			p, open = above+"**", true
		}
	}
	o.patterns = append(o.patterns, compile(dir, p))
	o.written, o.open = append(o.written, written), append(o.open, open)
}

// aboveItem is the part of a path, or pattern, above the first component that holds a
// variable, with its slash; false = it has none.
func aboveItem(p string) (above string, ok bool) {
	at := strings.Index(p, "{{")
	if in := strings.Index(p, escape("{{")); at < 0 || in >= 0 && in < at {
		at = in
	}
	if at < 0 {
		return "", false
	}
	return p[:strings.LastIndexByte(p[:at], '/')+1], true
}

// escape makes a plain path a pattern that matches only itself.
func escape(p string) string {
	return strings.NewReplacer(
		`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`,
	).Replace(p)
}

// overlap says what two writers both may write; "" when that is provably nothing.
func (o ownership) overlap(other ownership) string {
	if o.whole || other.whole {
		return "one of them owns its whole cwd (by no owned_paths, or by some that cover everything)"
	}
	same := o.list != "" && o.list == other.list
	for i, p := range o.patterns {
		for k, q := range other.patterns {
			if same && (o.open[i] || other.open[k]) {
				continue // they are compared when the items are known
			}
			if p.overlaps(q) {
				return fmt.Sprintf("%q here and %q there can be the same file", o.written[i], other.written[k])
			}
		}
	}
	return ""
}

// Overlap says what two writers both may write, "" = provably nothing, or one of them
// accepts it.
func Overlap(a, b *spec.Job) string {
	if a.Overlap == "accept" || b.Overlap == "accept" {
		return ""
	}
	return ownershipOf(a).overlap(ownershipOf(b))
}

// Conflict is two writers that may run together and write the same files.
type Conflict struct {
	A, B     string // B is the later one in the spec
	Why      string
	Accepted bool // one of them says overlap: accept
}

// Conflicts lists, for each writer, the first earlier writer that may run beside
// it and shares files with it, unaccepted ones before accepted ones. more counts
// the further partners of the same writer, so that a wide graph without
// owned_paths stays readable.
func (g *Graph) Conflicts() (found []Conflict, more []int) {
	for a := range g.writers {
		if g.beside[a] == none {
			continue
		}
		if c, others := g.conflictOf(a); c.A != "" {
			found, more = append(found, c), append(more, others)
		}
	}
	return found, more
}

// conflictOf looks at the writers before a.
func (g *Graph) conflictOf(a int) (first Conflict, more int) {
	for b := range a {
		if g.beside[b] == none || !g.concurrent(a, b) {
			continue
		}
		why := g.owned[a].overlap(g.owned[b])
		if why == "" {
			continue
		}
		x, y := &g.jobs[g.writers[b]], &g.jobs[g.writers[a]]
		c := Conflict{A: x.ID, B: y.ID, Why: why, Accepted: x.Overlap == "accept" || y.Overlap == "accept"}
		if first.A == "" || first.Accepted && !c.Accepted {
			first = c
		}
		more++
	}
	return first, more - 1
}

// writerErrors applies the contract's rule 4.
func (g *Graph) writerErrors() []spec.Diagnostic {
	var errs []spec.Diagnostic
	found, more := g.Conflicts()
	for n, c := range found {
		if !c.Accepted {
			errs = append(errs, g.conflictError(c, more[n]))
		}
	}
	for _, i := range g.writers {
		j := &g.jobs[i]
		if why := g.IsolationWhy(j.ID); why != "" && j.Isolation == "none" {
			errs = append(errs, spec.Diagnostic{
				Pos: j.Pos, Field: field(i, "isolation"), Rule: "isolation",
				Message: fmt.Sprintf("%q is \"none\", but the job %s; leave isolation out or write \"worktree\"", j.ID, why),
			})
		}
	}
	return errs
}

func (g *Graph) conflictError(c Conflict, more int) spec.Diagnostic {
	i := g.index[c.B]
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" (and with %d other jobs)", more)
	}
	return spec.Diagnostic{
		Pos: g.jobs[i].Pos, Field: field(i, "owned_paths"), Rule: "overlap",
		Message: fmt.Sprintf("%q may run at the same time as %q%s and write the same files: %s; "+
			"give both one serialize key, let one depend on the other with depends_on, or say overlap: accept",
			c.B, c.A, others, c.Why),
	}
}

// IsolationWhy says why a job needs a worktree of its own for what the graph
// knows: it may run beside another writer, or it owns its whole cwd. "" means
// that the graph knows no reason.
func (g *Graph) IsolationWhy(id string) string {
	i, ok := g.index[id]
	if !ok || g.place == nil || g.place[i] == none {
		return ""
	}
	w := g.place[i]
	if other := g.beside[w]; other != none {
		return fmt.Sprintf("may run beside another writer (%s)", g.jobs[g.writers[other]].ID)
	}
	if g.owned[w].whole && g.jobs[i].Worker == nil { // a worker alone has the tree
		return "owns its whole cwd (by no owned_paths, or by some that cover everything)"
	}
	return ""
}

// Warnings says what a person should know before the run: accepted overlaps, jobs
// that depend on several isolated writers, and writers that come after the work of
// another without building on it.
func (g *Graph) Warnings(isolated func(id string) bool) []spec.Diagnostic {
	var out []spec.Diagnostic
	found, _ := g.Conflicts()
	for _, c := range found {
		if i := g.index[c.B]; c.Accepted {
			out = append(out, spec.Diagnostic{
				Pos: g.jobs[i].Pos, Field: field(i, "overlap"), Rule: "predicted-conflict",
				Message: fmt.Sprintf("%q and %q may change the same files and their patches may not apply together: %s", c.B, c.A, c.Why),
			})
		}
	}
	for i := range g.jobs {
		if base, several := g.BaseOf(g.jobs[i].ID, isolated); several != nil {
			out = append(out, g.severalWarning(i, base, several))
		}
	}
	return append(out, g.unseen(isolated)...)
}

// severalWarning says what a job does not find in its tree, and how to choose.
func (g *Graph) severalWarning(i int, base string, several []string) spec.Diagnostic {
	names := strings.Join(several, ", ")
	message := fmt.Sprintf("%q depends on several writers (%s): it starts from the run's base and gets their patches as inputs; `worktree: {base: job:%s}` would start it from that one's work",
		g.jobs[i].ID, names, several[len(several)-1])
	if base != "" {
		message = fmt.Sprintf("%q starts from the work of %q, as it says, and gets the patches of the other writers that it depends on (%s) as inputs only", g.jobs[i].ID, base, names)
	}
	return spec.Diagnostic{Pos: g.jobs[i].Pos, Field: field(i, "depends_on"), Rule: "several-writers", Message: message}
}

// BaseFor is a job that says that it starts at this one's snapshot, "" = none does.
func (g *Graph) BaseFor(id string) string {
	for i := range g.jobs {
		if g.jobs[i].Worktree.Base == id {
			return g.jobs[i].ID
		}
	}
	return ""
}

func field(i int, name string) string { return fmt.Sprintf("jobs[%d].%s", i, name) }
