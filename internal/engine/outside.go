package engine

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/workspace"
)

// A change of the shared checkout is held against a job only if it alone could
// have made it: it ran while nothing else did, and nothing that was shown to
// hold kept it from that. Whatever else changed is told, with when.

// comparedPrograms is the number of jobs up to which plain programs, too, are
// compared one by one. In runs of more, each of which may take a millisecond, the
// checkout is compared as a whole.
const comparedPrograms = 20

// comparison is what one attempt's changes of the shared checkout are told by.
type comparison struct {
	on     bool                  // nothing else ran when the attempt began
	number int                   // of the attempt among those begun
	before workspace.Fingerprint // of the checkout, if that was recorded
	since  time.Time
}

// enter counts the attempt in and records the checkout, if nothing else runs or what
// changes there may point at the attempt.
// leave counts it out, after its checks.
func (r *run) enter(ctx context.Context, a *attempt) comparison {
	r.mu.Lock()
	r.begun++
	r.active++
	mine := comparison{on: r.active == 1 && r.compared(a), number: r.begun, since: r.eng.Now()}
	r.mu.Unlock()
	if !mine.on && !r.traceable(a) {
		return mine
	}
	if _, there := r.otherWriter(mine.since); there {
		mine.on = false // what another run's writer is at would be taken for this attempt's
		return mine
	}
	var err error
	if mine.before, err = r.fingerprint(ctx); err != nil {
		mine.on = false
		return mine
	}
	a.found = &mine.before
	return mine
}

func (r *run) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active--
}

// compared reports whether the attempt has no business in the shared checkout and
// is worth a comparison of its own.
func (r *run) compared(a *attempt) bool {
	if a.job.Writes() && !a.at.isolated {
		return false
	}
	return a.route.Runtime != runtimeExec || len(r.plan.Jobs) <= comparedPrograms
}

// changedBy lists what changed in the shared checkout while the attempt's program
// alone was running. Behind a proven sandbox it cannot have been the program: then
// the change is told and held against nobody.
func (r *run) changedBy(ctx context.Context, a *attempt, mine comparison) []string {
	if a.taken {
		return r.changedUnwatched(ctx, a)
	}
	r.mu.Lock()
	still := mine.on && r.begun == mine.number
	a.lone = still
	r.mu.Unlock()
	if !still {
		return nil
	}
	after, err := r.fingerprint(context.WithoutCancel(ctx))
	if err != nil {
		r.tell(fmt.Sprintf("the checkout could not be compared after job %s: %v", a.job.ID, err))
		return nil
	}
	changed := mine.before.Diff(after)
	if len(changed) == 0 {
		return nil
	}
	r.accept(changed, after)
	r.fail(r.writeCheckout())
	changed = wasAt(mine.before, after, changed)
	if who, there := r.otherWriter(mine.since); there {
		r.tellChange(fmt.Sprintf("changed in the shared checkout while job %s ran, and so did a writer there (%s): %s", a.job.ID, who, some(changed)), a.begun)
		return nil
	}
	if by := heldBy(a.route); by != "" {
		r.tellChange(fmt.Sprintf("changed in the shared checkout while job %s ran, but not by this job, which %s held: %s", a.job.ID, by, some(changed)), a.begun)
		return nil
	}
	if a.job.Writes() { // its next step speaks of its patch, which does not hold this
		r.tellChange(fmt.Sprintf("changed in the shared checkout while job %s, which had a tree of its own, alone ran, by it or by somebody else: %s", a.job.ID, some(changed)), a.begun)
	}
	return changed
}

// heldBy names what keeps the program of a route from changing the shared checkout, ""
// where nothing was shown to: a kernel's sandbox, or the verified mode of an agent that
// has no tool to change anything. What the hosting session says of its own agents holds
// none of them.
func heldBy(r ledger.Route) string {
	switch {
	case r.Runtime == runtime.Internal:
		return ""
	case sandboxed(r):
		return "a sandbox"
	case slices.Contains(r.Controls, string(runtime.ControlReadOnly)):
		return "the read-only mode of " + r.Runtime
	}
	return ""
}

// fingerprint is the state of the shared checkout, without our own files. What is
// beside those, in the folders that they are in, counts as the checkout: a job that
// climbs out of its tree lands there.
func (r *run) fingerprint(ctx context.Context) (fp workspace.Fingerprint, err error) {
	if r.plan.Repo != nil {
		var kept []string
		for _, dir := range r.plan.keptRuns() {
			kept = append(kept, relTo(r.plan.Repo.Top(), dir))
		}
		fp, err = r.plan.Repo.Fingerprint(ctx, kept...)
	} else {
		fp, err = workspace.FolderFingerprint(ctx, r.plan.Root, ledger.ReportsDir, ledger.WorkerRunsDir)
	}
	if err == nil {
		err = r.addRefs(ctx, fp)
	}
	if err != nil {
		return fp, err
	}
	own := append(slices.Collect(maps.Keys(r.jobs)), ledger.ArbiterJob)
	if r.plan.draft != nil {
		own = append(own, ledger.DraftDir)
	}
	strays, err := r.led.Strays(r.treeRoot, own)
	if err != nil {
		return fp, err
	}
	for _, stray := range strays {
		found, err := workspace.FolderFingerprint(ctx, stray)
		if err != nil {
			return fp, err
		}
		name := relTo(r.plan.top(), stray)
		for rel, state := range found.Entries {
			fp.Entries[path.Join(name, rel)] = state
		}
		fp.Partial = fp.Partial || found.Partial
	}
	return fp, nil
}

// accept takes changes that were told into what the end of the run is compared
// with, and leaves all others to be found then.
func (r *run) accept(changed []string, after workspace.Fingerprint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.before.With(changed, after)
	r.before = &before
}

// outsideChanges looks once more when all have ended, and tells what changed that
// neither a writer in the shared checkout is known to have changed nor was told
// before.
func (r *run) outsideChanges(ctx context.Context) {
	if r.before == nil {
		return
	}
	after, err := r.fingerprint(ctx)
	if err != nil {
		r.tell(fmt.Sprintf("the checkout could not be compared after the run: %v", err))
		return
	}
	_, known := r.watched()
	var ran []string
	for i := range r.plan.Jobs {
		if j := r.jobs[r.plan.Jobs[i].Job.ID]; j.couldReach() {
			ran = append(ran, j.planned.Job.ID)
		}
	}
	changed := slices.DeleteFunc(r.before.Diff(after), func(name string) bool { return known[name] })
	if len(changed) > 0 {
		said := wasAt(*r.before, after, changed)
		r.accept(changed, after)
		r.fail(r.writeCheckout())
		who := fmt.Sprintf("by one of the jobs (%s), their checks or somebody else", some(ran))
		switch {
		case r.allHeld():
			who = "by none of the jobs and checks, which a sandbox held"
		case len(ran) == 0:
			who = "by the jobs' checks or somebody else"
		}
		r.tellChange(fmt.Sprintf("changed in the shared checkout during the run, %s: %s", who, some(said)), r.led.State().StartedAt)
	}
}

// couldReach reports whether an attempt of the job ran and nothing held it.
func (j *jobRun) couldReach() bool {
	return slices.ContainsFunc(j.ended, func(s ledger.JobStatus) bool { return s.Route == nil || heldBy(*s.Route) == "" })
}

// allHeld reports whether a sandbox held every attempt of the run and its checks, none of
// which had the shared checkout to write in.
func (r *run) allHeld() bool {
	if !r.plan.Sandbox.Holds() {
		return false
	}
	for _, j := range r.jobs {
		for _, s := range j.ended {
			if s.Route == nil || s.Route.Sandbox == "" || j.inCheckout() {
				return false
			}
		}
	}
	return true
}

// tell notes what happened to the run, for journal, arbiter and report.
func (r *run) tell(text string) {
	text = r.redact.String(text)
	r.mu.Lock()
	known := slices.Contains(r.outside, text) // what is done again after a crash is not told again
	if !known {
		r.outside = append(r.outside, text)
	}
	r.mu.Unlock()
	if known {
		return
	}
	r.note(ledger.Told(ledger.AboutRun, text))
}

// tellChange tells a change of the shared checkout that was made between since and
// now: it is there for a person to look at.
func (r *run) tellChange(text string, since time.Time) {
	text = r.redact.String(text + " (" + between(since, r.eng.Now()) + ")")
	r.mu.Lock()
	r.checkout, r.outside = append(r.checkout, text), append(r.outside, text)
	r.mu.Unlock()
	r.note(ledger.Told(ledger.AboutCheckout, text))
}

// between says when something happened that nobody saw.
func between(from, to time.Time) string {
	return "between " + from.UTC().Format(time.TimeOnly) + " and " + to.UTC().Format(time.TimeOnly) + " UTC"
}

// some names the first of a list.
func some(list []string) string {
	const most = 20
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// probedHere reports whether a runtime's profile is from this run.
func (r *run) probedHere(name string) bool {
	p, ok := r.profiles[name]
	return ok && p.State != "" && !p.ProbedAt.IsZero()
}
