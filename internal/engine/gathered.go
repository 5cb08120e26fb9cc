package engine

import (
	"fmt"
	"path/filepath"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/spec"
)

// What the arbiter is told of patterns: their results are the engine's own and not judged
// as somebody's work; of work that was repaired the last round is judged, which builds on
// those before.

// redone are the rounds of a repair that a later one took the place of, by that last one.
func (r *run) redone() map[string][]string {
	before := map[string][]string{}
	for i := range r.plan.Jobs {
		g := r.plan.Jobs[i].Job.Gather
		if g == nil || g.Kind != spec.PatternRepair {
			continue
		}
		for _, rounds := range [][]string{g.Work, g.Verifies} { // both gathering jobs have both
			if ran := r.carriedOut(rounds); len(ran) > 1 {
				last := len(ran) - 1
				before[ran[last]] = ran[:last]
			}
		}
	}
	return before
}

// carriedOut are those of these jobs that were carried out.
func (r *run) carriedOut(ids []string) (all []string) {
	for _, id := range ids {
		if s := r.jobs[id].status; s != nil && s.Attempts > 0 {
			all = append(all, id)
		}
	}
	return all
}

// current are the jobs that ran, without those rounds of a repair that others took the
// place of.
func (r *run) current(before map[string][]string) (ids []string) {
	over := map[string]bool{}
	for _, rounds := range before {
		for _, id := range rounds {
			over[id] = true
		}
	}
	for _, id := range r.judged() {
		if !over[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// buildsOn adds to the evidence of a last round what the rounds before it changed, which
// its own patch does not show.
func (r *run) buildsOn(e *arbiter.JobEvidence, before []string) {
	e.Earlier = before
	for _, id := range before {
		if t, ok := r.text("Patch of "+id+", on which this one builds", ledger.JobPath(id, ledger.PatchFile), ""); ok && t.Bytes > 0 {
			e.Texts = append(e.Texts, t)
		}
	}
}

// gathered says what each pattern came to, for the arbiter.
func (r *run) gathered() (all []string) {
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if g := j.planned.Job.Gather; g != nil && j.status != nil && j.status.Status.Settled() {
			line := fmt.Sprintf("%s (%s): %s", j.status.ID, g.Kind, j.status.Status)
			if j.status.Decided != "" {
				line += ": " + j.status.Decided
			}
			all = append(all, line)
		}
	}
	return all
}

// inPattern tells a report what a job is in a pattern, and whose session it goes on with.
func inPattern(in *report.Input, j *spec.Job) {
	if p := report.PatternOf(j); p != nil {
		in.Patterns[j.ID] = *p
	}
	if of := goesOnWith(j); of != "" {
		in.Continues[j.ID] = of
	}
}

// goesOnWith is whose session a job goes on with: a job, RUN/JOB of another run, or a
// session's id; "" = it begins one.
func goesOnWith(j *spec.Job) string {
	switch {
	case j.Continue != "":
		return j.Continue
	case j.Worker == nil || j.Worker.Resumes == nil:
		return ""
	case j.Worker.Resumes.Job == "":
		return j.Worker.Resumes.Session
	}
	return filepath.Base(j.Worker.Resumes.Run) + "/" + j.Worker.Resumes.Job
}
