package engine

import (
	"orchestrate/internal/history"
	"orchestrate/internal/ledger"
)

// historyBound is how much of the history a report looks at, from its end, in bytes.
const historyBound = 8 << 20

// suggestions is what earlier runs show of the tasks and runtimes of this one, in words
// for a person: nothing chooses by it. A rehearsal shows nothing of any runtime. A history
// that cannot be read is only said.
func (r *run) suggestions(j ledger.Judgement) []string {
	if j.Rehearsal {
		return nil
	}
	tasks, declared := r.taken()
	all := history.NewTally(history.Filter{}, history.ByRuntime, history.ByModel, history.ByTask)
	if _, err := history.Scan(r.plan.Root, historyBound, func(l history.Line) {
		if tasks[l.Task] != nil {
			all.Add(l)
		}
	}); err != nil {
		r.note(ledger.Noted("", r.redact.String("nothing is suggested: "+err.Error())))
		return nil
	}
	return history.Suggest(all.Groups(), declared, func(g history.Group) bool { return tasks[*g.Task][*g.Runtime] })
}

// taken are the runtimes that took jobs of each task in this run, and the timeouts that
// they were given.
func (r *run) taken() (tasks map[string]map[string]bool, declared []history.Declared) {
	tasks = map[string]map[string]bool{}
	for _, s := range r.statuses() {
		pl, ok := r.plan.Planned(s.ID)
		if !ok || s.Attempts == 0 || pl.Job.Exec() {
			continue
		}
		task := pl.Job.Task
		if tasks[task] == nil {
			tasks[task] = map[string]bool{}
		}
		tasks[task][s.Runtime] = true
		declared = append(declared, history.Declared{Runtime: s.Runtime, Model: s.Model, Task: task, Timeout: pl.Job.Timeout})
	}
	return tasks, declared
}
