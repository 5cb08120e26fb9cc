package spec

import "strings"

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
				r.cycle(known[id], path, dep)
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

// cycle prints the part of the path that closes on itself, at the job that
// closes it.
func (r *reader) cycle(last jobView, path []string, back string) {
	start := len(path) - 1
	for path[start] != back {
		start--
	}
	loop := strings.Join(append(append([]string{}, path[start:]...), back), " -> ")
	at := last.own.field("depends_on")
	for _, item := range at.items() {
		if item.text() == back {
			at = item
		}
	}
	for _, item := range last.get("inputs").items() {
		if from := item.field("from_job"); from.text() == back && !at.present() {
			at = from
		}
	}
	if base := baseJob(last); base.text() == back && !at.present() {
		at = base
	}
	if on := last.own.field("continue"); on.text() == back && !at.present() {
		at = on
	}
	r.failf(at, "cycle", "%s", "these jobs wait for each other: "+loop+"; remove one of these dependencies")
}
