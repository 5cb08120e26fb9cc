package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// A success is kept by a resumed run if what the job was given, what it started from
// and what it left are still what they were. All of that is recorded with it.

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// givenTo is the digest of all that a job works from: its own words, the files that
// it names, and what other jobs left for it. Files of the checkout that are copied for it
// do not count: settings of a person or machine change, and what was done with the old
// ones is done.
func givenTo(j *spec.Job, got []handed) string {
	given := struct {
		Command, Instructions, Outputs []string
		Task, Prompt, Expected, Skill  string
		Handed                         [][3]string
		Worktree                       *spec.Worktree  `json:",omitempty"`
		Item                           json.RawMessage `json:",omitempty"`
	}{Command: j.Command, Task: j.Task, Prompt: j.Prompt, Expected: j.ExpectedOutput, Skill: j.SkillName}
	if j.Skill != nil {
		given.Skill = j.Skill.SHA256
	}
	for _, f := range j.Instructions {
		given.Instructions = append(given.Instructions, f.SHA256)
	}
	for _, o := range j.Outputs {
		given.Outputs = append(given.Outputs, o.Path)
	}
	for _, h := range got {
		if h.base { // patchStale compares the commits
			continue
		}
		given.Handed = append(given.Handed, [3]string{h.From, h.Label, h.SHA256})
	}
	if j.Item != nil {
		given.Item = j.Item.Value
	}
	if !j.Worktree.Empty() {
		given.Worktree = &j.Worktree
	}
	data, err := json.Marshal(given)
	if err != nil {
		panic(err) // strings only
	}
	return digest(data)
}

// workOf is what is recorded of a settled attempt for a later resume.
func (r *run) workOf(a *attempt, s *settlement) *ledger.Work {
	w := &ledger.Work{Inputs: a.given, Output: s.facts.Answer.Digest(), Masked: s.displayOnly}
	if a.at.isolated && a.at.tree != nil {
		w.Base = a.at.tree.Base
	}
	if s.patch == nil {
		return w
	}
	w.Base, w.Commit = s.patch.Base, s.patch.Commit
	if data, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.PatchFile)); err == nil {
		w.Patch = digest(data)
	}
	if !a.at.isolated {
		w.Shared = paths(s.patch.Files)
	}
	return w
}

// recall gives the run the memory of the engine before: statuses, snapshots, what is
// known of patches, and for each success whether it still holds.
func (r *run) recall(ctx context.Context, old *past, req ResumeRequest) error {
	r.outside, r.checkout, r.spent = old.told, old.checkout, spentBy(old.payments, r.plan.Spec.Budget)
	r.recallBudget(old)
	for id, pj := range old.jobs {
		r.attempts[id] = len(pj.routes)
	}
	for of, x := range old.lists {
		r.lists[of] = &listed{recorded: &x}
	}
	r.recallProfiles()
	if err := r.recallCheckout(); err != nil {
		r.warn = append(r.warn, err.Error()+"; a change may go unseen")
	}
	for _, id := range r.plan.Graph.Order() {
		j, pj := r.jobs[id], old.job(id)
		j.ran, j.ended = pj.families(j.planned.Job.Exec()), pj.all
		for _, n := range pj.masked {
			j.noteMasked(n)
		}
		if pj.status == nil || pj.open {
			continue
		}
		if err := r.recallJob(ctx, j, pj); err != nil {
			return err
		}
		switch {
		case r.takesUp(pj, req):
			j.redone = true
		case made(j.planned.Job, pj):
			j.stale = r.whyMadeAgain(j, pj)
		case pj.status.Status == ledger.Success:
			j.stale = r.whyStale(ctx, j, pj)
		}
	}
	return r.recallArbiter(old)
}

// recallBudget goes on with the budget as it was used before a crash. A run that had
// ended gets it anew where it was used up: who resumes that knows it.
func (r *run) recallBudget(old *past) {
	b := r.plan.Spec.Budget
	over := r.led.State().Phase == ledger.PhaseEnded
	if text := r.spent.text(b); over && r.spent.usedUp(b) {
		r.spent = r.spent.anew(b)
		r.plan.Notes = append(r.plan.Notes, text+": it was used up, and counts anew from this resume on")
	}
	if b.Wall > 0 && !over {
		r.worked = old.worked()
	}
}

// recallProfiles takes the profiles of the engine before for as long as nobody has
// asked again: what still runs was started by them.
func (r *run) recallProfiles() {
	r.profiles = map[string]runtime.Profile{}
	data, err := r.led.ReadFile(ledger.RuntimesFile)
	var all ledger.Runtimes
	if err != nil || json.Unmarshal(data, &all) != nil {
		return // that engine died before it had asked
	}
	for _, p := range all.Profiles {
		r.profiles[p.Runtime] = p
	}
}

func (r *run) recallJob(ctx context.Context, j *jobRun, pj *pastJob) error {
	id, s := j.planned.Job.ID, *pj.status
	if s.Route != nil {
		j.route = *s.Route
	}
	j.stands(arbiter.JobFacts{
		Job: j.planned.Job, ID: id, Exec: j.planned.Job.Exec(), Status: s, Probed: s.Attempts > 0,
		CapabilityFloor: string(j.planned.Tiers.Capability), RiskFloor: string(j.planned.Tiers.Risk),
	})
	if s.Attempts == 0 || pj.work == nil {
		return nil
	}
	j.recalled, j.findings = true, pj.work.Findings
	j.dir = r.workedIn(j.planned.Job, s)
	return r.recallPatch(ctx, j, pj.work)
}

// workedIn is the folder in which a settled attempt worked.
func (r *run) workedIn(job *spec.Job, s ledger.JobStatus) string {
	if s.Worktree == nil || r.plan.Repo == nil {
		return job.Cwd
	}
	tree := *s.Worktree
	if !filepath.IsAbs(tree) {
		tree = r.led.Path(tree)
	}
	return filepath.Join(tree, filepath.FromSlash(relTo(r.plan.Repo.Top(), job.Cwd)))
}

func (r *run) recallPatch(ctx context.Context, j *jobRun, w *ledger.Work) error {
	j.commit, j.masked, j.shared = w.Commit, w.Masked, w.Shared
	if s := j.status; s.Worktree != nil {
		j.base = w.Base
	}
	if w.Commit == "" || r.plan.Repo == nil {
		return nil
	}
	if ok, err := r.plan.Repo.Has(ctx, w.Commit); err != nil || !ok {
		return err // whyStale says so
	}
	files, err := r.plan.Repo.Compare(ctx, w.Base, w.Commit)
	if err != nil {
		return err
	}
	j.patch = &workspace.Patch{Files: files, Base: w.Base, Commit: w.Commit}
	if info, err := os.Stat(r.led.Path(j.planned.Job.ID, ledger.PatchFile)); err == nil {
		j.patch.Bytes = info.Size()
	}
	if r.plan.odd.links == nil { // the survey comes later
		if r.plan.odd.links, err = r.plan.Repo.LinksAt(ctx, r.plan.Base); err != nil {
			return err
		}
	}
	cwd := relTo(r.plan.Repo.Top(), j.planned.Job.Cwd)
	j.judges = check.JudgesChanged(paths(files), j.planned.Job.Checks, cwd, r.plan.odd.links)
	return nil
}

// whyStale says why a success does not hold any more, "" when it does.
func (r *run) whyStale(ctx context.Context, j *jobRun, pj *pastJob) string {
	job, w := j.planned.Job, pj.work
	if w == nil {
		return "what it was given and left is not on record"
	}
	if why := r.underStale(job); why != "" {
		return why
	}
	if data, err := r.led.ReadFile(ledger.JobPath(job.ID, ledger.OutputFile)); err != nil || digest(data) != w.Output {
		return ledger.JobPath(job.ID, ledger.OutputFile) + " is not what it was"
	}
	if why := r.patchStale(ctx, job, w); why != "" {
		return why
	}
	for _, a := range pj.status.Artifacts {
		if why := r.artifactStale(ctx, job, a); why != "" {
			return why
		}
	}
	got, err := r.readHanded(ctx, job)
	if err != nil {
		return "what it was given cannot be read any more: " + err.Error()
	}
	if givenTo(job, got) != w.Inputs {
		return "what it is given (its prompt, the files that it names, or what other jobs left) is not what it was"
	}
	return ""
}

func (r *run) patchStale(ctx context.Context, job *spec.Job, w *ledger.Work) string {
	if w.Patch != "" {
		data, err := r.led.ReadFile(ledger.JobPath(job.ID, ledger.PatchFile))
		if err != nil || digest(data) != w.Patch {
			return ledger.JobPath(job.ID, ledger.PatchFile) + " is not what it was"
		}
	}
	if r.plan.Repo == nil {
		return ""
	}
	if w.Commit != "" {
		if ok, err := r.plan.Repo.Has(ctx, w.Commit); err != nil || !ok {
			return fmt.Sprintf("its snapshot, commit %.12s, is not in the repository any more", w.Commit)
		}
	}
	if base, own := r.baseOf(job, r.jobs[job.ID].route); own && w.Base != "" && base != w.Base {
		return fmt.Sprintf("it started from commit %.12s, and would start from %.12s now", w.Base, base)
	}
	return ""
}

// artifactStale says whether a declared output is still what was recorded.
func (r *run) artifactStale(ctx context.Context, job *spec.Job, a ledger.Artifact) string {
	data, err := r.fileOf(ctx, want{from: job.ID, kind: anOutput, file: a.Path})
	if err != nil || digest(data) != a.SHA256 {
		return "its output " + a.Path + " is not what it was"
	}
	return ""
}

// earlierAnswer is what an arbiter before was shown and said.
type earlierAnswer struct {
	evidence []byte
	answer   string
	status   ledger.JobStatus
}

func (r *run) recallArbiter(old *past) error {
	pj := old.jobs[ledger.ArbiterJob]
	if pj == nil {
		return nil
	}
	r.askedWith = old.shown
	r.arbiters, r.arbiterFailed = pj.all, pj.unanswered()
	formOnly := func(r ledger.Record) bool { return r.Reason == runtime.BlockedNoAnswer }
	if pj.open || pj.status == nil || pj.status.Status != ledger.Success || pj.work == nil ||
		len(pj.work.Shared) > 0 || slices.ContainsFunc(pj.ended, formOnly) {
		return nil // what it changed, or how a repair changed it, is to be looked at as it happens
	}
	evidence, err := r.led.ReadFile(ledger.JobPath(ledger.ArbiterJob, ledger.EvidenceFile))
	answer, errAnswer := r.led.ReadFile(ledger.JobPath(ledger.ArbiterJob, ledger.OutputFile))
	if errors.Join(err, errAnswer) == nil && digest(answer) == pj.work.Output {
		r.kept = &earlierAnswer{evidence, string(answer), *pj.status}
	}
	return nil
}

// judgementHolds reports whether the verdict of an ended run, in which nothing is to
// be done again, still stands: nothing that was reviewed has changed, and it was not
// left open for want of an arbiter.
func (r *run) judgementHolds(st ledger.State) bool {
	if !r.plan.Arbiter.Needed {
		return true
	}
	if st.Verdict == arbiter.Blocked || r.kept == nil {
		return false
	}
	data, err := r.led.ReadFile(ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile))
	var j ledger.Judgement
	return err == nil && json.Unmarshal(data, &j) == nil && j.Verdict == st.Verdict
}
