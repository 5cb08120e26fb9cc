package spec

import (
	"slices"
	"strings"
)

// visit is how far the search has come with a job.
type visit int

const (
	visitNew visit = iota
	visitOpen
	visitDone
)

// cycles reports one cycle of each knot of jobs that wait for each other.
func (r *reader) cycles(views []jobView, known map[string]jobView) {
	state := make(map[string]visit, len(views))
	var path []string
	var walk func(id string) (closed bool)
	walk = func(id string) bool {
		state[id] = visitOpen
		path = append(path, id)
		for _, dep := range known[id].job.DependsOn {
			if _, ok := known[dep]; !ok || state[dep] == visitDone {
				continue
			}
			if state[dep] == visitOpen {
				r.cycle(path, dep, known)
				return true
			}
			if walk(dep) {
				return true
			}
		}
		path = path[:len(path)-1]
		state[id] = visitDone
		return false
	}
	for _, v := range views {
		if _, ok := known[v.job.ID]; !ok || state[v.job.ID] != visitNew {
			continue
		}
		if walk(v.job.ID) {
			for _, id := range path {
				state[id] = visitDone
			}
		}
		path = nil
	}
}

// cycle prints the part of the path that closes on itself, at the job that closes it, or
// where that is one that a pattern makes, at one that the document says something of.
func (r *reader) cycle(path []string, back string, known map[string]jobView) {
	if r.full() {
		return
	}
	start := len(path) - 1
	for path[start] != back {
		start--
	}
	loop := append(append([]string{}, path[start:]...), back)
	at := r.waitsAt(known[loop[len(loop)-2]], back)
	for i := len(loop) - 2; i > 0 && !at.present(); i-- {
		at = r.waitsAt(known[loop[i-1]], loop[i])
	}
	r.failf(at, "cycle", "these jobs wait for each other: %s; remove one of these dependencies", strings.Join(loop, " -> "))
}

// waitsAt is where a job says that it waits for another one.
func (r *reader) waitsAt(v jobView, id string) value {
	places := v.own.field("depends_on").items()
	for _, item := range v.get("inputs").items() {
		places = append(places, item.field("from_job"))
	}
	places = append(places, baseJob(v), v.own.field("continue"))
	for _, at := range places {
		if at.text() == id {
			return at
		}
	}
	for _, ref := range r.references { // of a pattern, which the job has no more
		if strings.HasPrefix(ref.v.path, v.own.path+".") && (ref.v.text() == id || slices.Contains(r.lists[ref.v.text()], id)) {
			return ref.v
		}
	}
	return v.own.field("depends_on").item(-1)
}
