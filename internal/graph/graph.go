// Package graph turns the jobs of a spec into an order: what may start when, what
// a failure blocks, which jobs may run at the same time and whose files overlap.
//
// Jobs with the same depends_on share one list, so that ten stages of a hundred
// jobs, each stage depending on the whole one before, cost ten lists and not ten
// thousand edges per stage. The package is pure.
package graph

import (
	"encoding/binary"
	"fmt"
	"slices"

	"orchestrate/internal/spec"
)

// Graph is the order of a spec's jobs. It does not change after New and may be
// shared between goroutines.
type Graph struct {
	jobs   []spec.Job
	index  map[string]int // id -> place in jobs
	lists  []list
	listOf []int    // job -> list it waits for, or none
	feeds  [][]int  // job -> lists that it is in
	order  []int    // a topological order; shorter than jobs when there is a cycle
	cycle  []string // nil when there is none

	writers []int // jobs that may change files
	place   []int // job -> place in writers, or none
	above   []bits
	owned   []ownership // per writer
	beside  []int       // per writer: some writer that may run at the same time, or none
}

// list is one distinct depends_on and the jobs that have it.
type list struct {
	deps    []int
	members []int
	// ended says that its members wait for all of it to end, however; else for all of it to
	// succeed.
	ended bool
}

const none = -1

// New builds the graph and says what is wrong with it: unknown dependencies, a
// cycle, and the contract's rule on writers that may run together. A graph with
// errors can be looked at; it must not be run.
func New(s *spec.Spec) (*Graph, []spec.Diagnostic) {
	g := &Graph{jobs: s.Jobs, index: make(map[string]int, len(s.Jobs))}
	for i := range s.Jobs {
		g.index[s.Jobs[i].ID] = i
	}
	errs := g.link()
	g.sort()
	if g.cycle != nil {
		return g, append(errs, g.cycleError())
	}
	g.findWriters()
	return g, append(errs, g.writerErrors()...)
}

// link groups the jobs by what they depend on.
func (g *Graph) link() []spec.Diagnostic {
	var errs []spec.Diagnostic
	g.listOf = make([]int, len(g.jobs))
	g.feeds = make([][]int, len(g.jobs))
	known := map[string]int{}
	var deps []int
	var key []byte
	for i := range g.jobs {
		deps, errs = g.depsOf(i, deps[:0], errs)
		if len(deps) == 0 {
			g.listOf[i] = none
			continue
		}
		ended := g.jobs[i].AfterAll
		key = key[:0]
		if ended {
			key = append(key, 0) // no other begins so: deps are counted from 1 here
		}
		for _, d := range deps {
			key = binary.AppendUvarint(key, uint64(d+1))
		}
		n, ok := known[string(key)]
		if !ok {
			n = g.addList(deps, ended)
			known[string(key)] = n
		}
		g.listOf[i] = n
		g.lists[n].members = append(g.lists[n].members, i)
	}
	return errs
}

// depsOf appends what job i depends on, in the spec's order and each once.
func (g *Graph) depsOf(i int, deps []int, errs []spec.Diagnostic) ([]int, []spec.Diagnostic) {
	for n, id := range g.jobs[i].DependsOn {
		d, ok := g.index[id]
		if !ok {
			errs = append(errs, spec.Diagnostic{
				Pos: g.jobs[i].Pos, Rule: "unknown-dependency",
				Field:   fmt.Sprintf("jobs[%d].depends_on[%d]", i, n),
				Message: fmt.Sprintf("no job has the id %q", id),
			})
			continue
		}
		deps = append(deps, d)
	}
	slices.Sort(deps)
	return slices.Compact(deps), errs
}

func (g *Graph) addList(deps []int, ended bool) int {
	n := len(g.lists)
	g.lists = append(g.lists, list{deps: slices.Clone(deps), ended: ended})
	for _, d := range deps {
		g.feeds[d] = append(g.feeds[d], n)
	}
	return n
}

// deps lists what job i waits for directly.
func (g *Graph) deps(i int) []int {
	if g.listOf[i] == none {
		return nil
	}
	return g.lists[g.listOf[i]].deps
}

// Job finds a job by its id.
func (g *Graph) Job(id string) (*spec.Job, bool) {
	i, ok := g.index[id]
	if !ok {
		return nil, false
	}
	return &g.jobs[i], true
}

func (g *Graph) ids(of []int) []string {
	out := make([]string, len(of))
	for n, i := range of {
		out[n] = g.jobs[i].ID
	}
	return out
}
