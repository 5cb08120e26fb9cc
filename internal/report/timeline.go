package report

import (
	"fmt"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report/picture"
)

// attempts are all that a job had, oldest first.
func (j Job) attempts() []ledger.JobStatus {
	all := j.Earlier[:len(j.Earlier):len(j.Earlier)]
	if j.Status.Attempts > 0 {
		all = append(all, j.Status)
	}
	return all
}

// course is when each job waited and worked, the arbiter last. A job waits from the
// moment all that it depends on had ended.
func (r Report) course(path map[string]bool) []picture.Row {
	byID := r.byID()
	var rows []picture.Row
	for _, j := range alike(r.needed()) {
		if j.gathers() {
			continue // it takes no time
		}
		ready, known := r.StartedAt, true
		for _, id := range worked(byID, j.After) {
			ready, known = latest(ready, endOf(byID[id]), known)
		}
		rows = append(rows, row(j, ready, known, path[j.Status.ID]))
	}
	if r.Arbiter != nil {
		ready, known := r.StartedAt, true
		for _, j := range r.needed() {
			ready, known = latest(ready, j.Status.EndedAt, known)
		}
		rows = append(rows, row(*r.Arbiter, ready, known, false))
	}
	return rows
}

func (r Report) byID() map[string]*Job {
	all := make(map[string]*Job, len(r.Jobs))
	for i := range r.Jobs {
		all[r.Jobs[i].Status.ID] = &r.Jobs[i]
	}
	return all
}

// endOf is when a job ended, nil = it has not, or is none of the run.
func endOf(j *Job) *time.Time {
	if j == nil {
		return nil
	}
	return j.Status.EndedAt
}

// latest moves the moment on; one that has not come makes it unknown.
func latest(t time.Time, end *time.Time, known bool) (time.Time, bool) {
	if end == nil {
		return t, false
	}
	if end.After(t) {
		t = *end
	}
	return t, known
}

func row(j Job, ready time.Time, known, onPath bool) picture.Row {
	w := picture.Row{ID: j.Status.ID, Href: "#" + jobAnchor(j.Status.ID), OnPath: onPath}
	for n, a := range j.attempts() {
		if a.StartedAt == nil {
			continue
		}
		if known && ready.Before(*a.StartedAt) {
			w.Spans = append(w.Spans, waited(ready, *a.StartedAt))
		}
		span := picture.Span{From: *a.StartedAt, Class: string(a.Status), Title: attemptTitle(n+1, a)}
		if known = a.EndedAt != nil; known {
			span.To, ready = *a.EndedAt, *a.EndedAt
		}
		w.Spans = append(w.Spans, span)
	}
	switch {
	case j.Status.Status == ledger.Queued && known:
		w.Spans = append(w.Spans, waited(ready, time.Time{}))
	case len(w.Spans) == 0: // nothing to draw, only to say
		w.Spans = []picture.Span{{Class: string(j.Status.Status)}}
	}
	return w
}

func waited(from, to time.Time) picture.Span {
	title := "waits"
	if !to.IsZero() {
		title = "waited " + took(to.Sub(from).Milliseconds())
	}
	return picture.Span{From: from, To: to, Class: string(ledger.Queued), Title: title}
}

func attemptTitle(n int, a ledger.JobStatus) string {
	title := fmt.Sprintf("attempt %d on %s: %s", n, a.Runtime, a.Status)
	if a.Reason != "" {
		title += ", " + string(a.Reason)
	}
	return title + ", " + took(a.DurationMs)
}

// criticalPath is what the run's length came from: the job that ended last, and back
// over the dependency that ended last.
func (r Report) criticalPath() map[string]bool {
	byID, path := r.byID(), map[string]bool{}
	var all []string
	for i := range r.Jobs {
		all = append(all, r.Jobs[i].Status.ID)
	}
	next := lastEnded(byID, all)
	for next != "" && !path[next] {
		path[next] = true
		next = lastEnded(byID, worked(byID, byID[next].After))
	}
	return path
}

// worked are these jobs without those that were not needed, and with those whose results
// the engine gathered in place of what gathers them.
func worked(byID map[string]*Job, ids []string) (all []string) {
	for _, id := range ids {
		switch j := byID[id]; {
		case j != nil && j.skipped():
		case j != nil && j.gathers():
			all = append(all, worked(byID, j.After)...)
		default:
			all = append(all, id)
		}
	}
	return all
}

// lastEnded is the job of these that worked and ended last; "" when none did.
func lastEnded(byID map[string]*Job, ids []string) (last string) {
	var at time.Time
	for _, id := range ids {
		j := byID[id]
		if end := endOf(j); end != nil && j.Status.Attempts > 0 && (last == "" || end.After(at)) {
			last, at = id, *end
		}
	}
	return last
}
