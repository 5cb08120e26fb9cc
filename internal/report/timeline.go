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
func (r Report) course() []picture.Row {
	byID, path := r.byID(), r.criticalPath()
	var rows []picture.Row
	for _, j := range r.Jobs {
		ready, known := r.StartedAt, true
		for _, id := range j.After {
			ready, known = latest(ready, byID[id].Status.EndedAt, known)
		}
		rows = append(rows, row(j, ready, known, path[j.Status.ID]))
	}
	if r.Arbiter != nil {
		ready, known := r.StartedAt, true
		for _, j := range r.Jobs {
			ready, known = latest(ready, j.Status.EndedAt, known)
		}
		rows = append(rows, row(*r.Arbiter, ready, known, false))
	}
	return rows
}

func (r Report) byID() map[string]Job {
	all := make(map[string]Job, len(r.Jobs))
	for _, j := range r.Jobs {
		all[j.Status.ID] = j
	}
	return all
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
	next := lastEnded(r.Jobs)
	for next != "" && !path[next] {
		path[next] = true
		var before []Job
		for _, id := range byID[next].After {
			before = append(before, byID[id])
		}
		next = lastEnded(before)
	}
	return path
}

// lastEnded is the job of these that worked and ended last; "" when none did.
func lastEnded(jobs []Job) string {
	id, last := "", time.Time{}
	for _, j := range jobs {
		if end := j.Status.EndedAt; end != nil && j.Status.Attempts > 0 && (id == "" || end.After(last)) {
			id, last = j.Status.ID, *end
		}
	}
	return id
}
