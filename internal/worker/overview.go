package worker

import (
	"fmt"
	"strings"
	"time"

	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// Overview is where a worker run stands, over all its calls: what `status --json` prints.
type Overview struct {
	SchemaVersion int         `json:"schema_version"`
	RunID         string      `json:"run_id"`
	RunDir        string      `json:"run_dir"`  // absolute
	Reviewed      bool        `json:"reviewed"` // always false: nobody checks what comes of the worker form
	Counts        Counts      `json:"counts"`
	Calls         []CallState `json:"calls"`      // oldest first
	Paused        []Paused    `json:"paused"`     // in calls that have not ended, or left something for a quota
	Tasks         []Status    `json:"tasks"`      // the newest of each
	NotNeeded     []string    `json:"not_needed"` // ids of members of patterns that were skipped: they are no tasks
}

// Counts are how many tasks are in which state.
type Counts struct {
	Total       int `json:"total"`
	Success     int `json:"success"`
	Failed      int `json:"failed"`
	Blocked     int `json:"blocked"`
	Interrupted int `json:"interrupted"`
	Running     int `json:"running"` // or with the hosting session
	Queued      int `json:"queued"`
}

// How a call stands.
const (
	CallRunning  = "running"
	CallAwaiting = "awaiting" // the hosting session has something to do
	CallCutOff   = "cut-off"  // its engine is gone: resume goes on with it
	CallEnded    = "ended"
)

// CallState is how one call stands.
type CallState struct {
	ID         string `json:"id"`  // a RUN argument
	Dir        string `json:"dir"` // absolute run directory
	State      string `json:"state"`
	ExitStatus *int   `json:"exit_status"` // null until it has ended
}

// Paused is an adapter that gets no tasks for a time.
type Paused struct {
	Call    string         `json:"call"`
	Adapter string         `json:"adapter"`
	Reason  runtime.Reason `json:"reason"`
	Until   *time.Time     `json:"until"`  // null = for the rest of the call
	Resets  *time.Time     `json:"resets"` // when its quota is back, as it said; null = it did not
}

// Look brings the tasks' folders up to date and says where the run and its tasks stand; unkept
// is as in Project.
func (r Run) Look() (o Overview, tasks []Task, unkept, err error) {
	o = Overview{SchemaVersion: schemaVersion, RunID: r.ID, RunDir: r.Dir, Calls: []CallState{}, Paused: []Paused{}, Tasks: []Status{}, NotNeeded: []string{}}
	tasks, unkept, err = r.Project()
	if err != nil {
		return o, nil, nil, err
	}
	calls, err := r.Calls()
	if err != nil {
		return o, nil, nil, err
	}
	for _, c := range calls {
		o.Calls = append(o.Calls, CallState{ID: c.ID, Dir: c.Dir, State: c.standing(), ExitStatus: c.State.ExitStatus})
		o.Paused = append(o.Paused, c.paused()...)
	}
	for _, t := range tasks {
		o.Tasks = append(o.Tasks, t.Status)
		o.Counts.add(t.Status.State)
	}
	o.NotNeeded = append(o.NotNeeded, skipped(calls, tasks)...)
	return o, tasks, unkept, nil
}

// skipped are the jobs that a pattern turned out not to need, in the order of the calls.
func skipped(calls []Call, tasks []Task) (ids []string) {
	seen := map[string]bool{}
	for _, t := range tasks {
		seen[t.ID] = true // in another call
	}
	for _, c := range calls {
		for _, j := range c.State.Jobs {
			if j.Status == ledger.Skipped && !seen[j.ID] {
				seen[j.ID] = true
				ids = append(ids, j.ID)
			}
		}
	}
	return ids
}

// standing is how the call stands, in a word.
func (c Call) standing() string {
	switch {
	case c.Ended():
		return CallEnded
	case c.Live:
		return CallRunning
	case c.State.Phase == ledger.PhaseAwaiting:
		return CallAwaiting
	}
	return CallCutOff
}

// paused are the adapters for which something of the call waits.
func (c Call) paused() (all []Paused) {
	waits := false
	for _, j := range c.State.Jobs {
		waits = waits || j.Status == ledger.Queued
	}
	for _, p := range c.State.Paused {
		if waits {
			all = append(all, Paused{Call: c.ID, Adapter: p.Runtime, Reason: p.Reason, Until: p.Until, Resets: p.Resets})
		}
	}
	return all
}

// Place says of what was found wrong in the spec of a call where it is in the manifest.
func (m *Manifest) Place(diags []spec.Diagnostic) []spec.Diagnostic { return m.place(diags) }

func (n *Counts) add(s ledger.Status) {
	n.Total++
	switch s {
	case ledger.Success:
		n.Success++
	case ledger.Failed:
		n.Failed++
	case ledger.Blocked:
		n.Blocked++
	case ledger.Interrupted:
		n.Interrupted++
	case ledger.Running, ledger.Awaiting:
		n.Running++
	default:
		n.Queued++
	}
}

// String says it in a line.
func (n Counts) String() string {
	parts := []string{figure.Count(n.Total, "task")}
	for _, p := range []struct {
		n    int
		word string
	}{{n.Success, "succeeded"}, {n.Failed, "failed"}, {n.Blocked, "blocked"}, {n.Interrupted, "interrupted"}, {n.Running, "running"}, {n.Queued, "queued"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return strings.Join(parts, ", ")
}
