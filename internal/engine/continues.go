package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// A run with jobs of the hosting session goes through many engines: each leaves when
// nothing can go on, and the next is started by whoever hands something in. For a person
// that is one run, so it is not asked for everything anew each time.

// lately is how long what was learned of a runtime may be used by the next engine.
const lately = 10 * time.Minute

// LatelyProbed are the profiles that an engine of the run left a moment ago. A program that
// is another file by now is asked all the same.
func LatelyProbed(dir string, now time.Time) []runtime.Profile {
	data, err := os.ReadFile(filepath.Join(dir, ledger.RuntimesFile))
	var all ledger.Runtimes
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil // then each is asked
	}
	return slices.DeleteFunc(all.Profiles, func(p runtime.Profile) bool {
		age := now.Sub(p.ProbedAt)
		return p.Executable == nil || age < 0 || age > lately
	})
}

// noteLately says which runtimes were not asked again.
func (r *run) noteLately(since time.Time) {
	for _, p := range r.plan.Inventory.Profiles {
		if p.Executable != nil && !p.ProbedAt.IsZero() && p.ProbedAt.Before(since) {
			r.plan.Notes = append(r.plan.Notes, fmt.Sprintf("%s is not asked again: what it said at %s still holds, since its program is the same file", p.Runtime, pointInTime(p.ProbedAt)))
		}
	}
}

// noteMissing says what runtimes were passed of the environment before and are not now: this
// engine has that of whoever handed something in or asked for a job.
func (r *run) noteMissing() {
	var before ledger.Runtimes
	if there, err := r.led.ReadJSON(ledger.RuntimesFile, &before); err != nil || !there {
		return // then nobody knows
	}
	now := r.eng.environments(r.plan.Inventory.Profiles)
	lacking := map[string][]string{} // variables with the runtimes
	for _, name := range slices.Sorted(maps.Keys(now)) {
		for _, variable := range before.Environments[name].Passed {
			if !slices.Contains(now[name].Passed, variable) {
				lacking[variable] = append(lacking[variable], name)
			}
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(lacking)) {
		r.plan.Notes = append(r.plan.Notes, fmt.Sprintf("the engine that goes on has the environment of whoever called `next` or `submit`: %s is not in it, which was there before for %s", variable, strings.Join(lacking[variable], ", ")))
	}
}

// stillApproved reports whether an approval holds that was given to an engine before,
// which left the run in order: it was for exactly this.
func (r *run) stillApproved(job string, scope gate.Scope) bool {
	return r.unbroken && slices.ContainsFunc(r.given, func(g ledger.Given) bool {
		return g.Job == job && g.Digest == scope.Digest()
	})
}

// recallApproval gives a job back what it was approved with, in case what is under way of
// it has to be begun anew.
func (r *run) recallApproval(ctx context.Context, j *jobRun) {
	job := j.planned.Job
	if !r.unbroken || !gate.NeedsApproval(job, j.route) {
		return
	}
	scope, err := r.scopeOf(ctx, job, j.route)
	if err == nil && r.stillApproved(job.ID, scope) { // else it is blocked where it is begun
		j.approved = scope
	}
}
