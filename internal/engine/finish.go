package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/history"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
)

// finish ends the run in the ledger and leaves report and history.
func (r *run) finish(ctx context.Context, j ledger.Judgement) (Result, error) {
	ending := EndedWhole
	switch {
	case ctx.Err() != nil:
		ending = EndedInterrupted
	case r.overWall():
		ending = EndedWall
	}
	if text := r.spent.text(r.plan.Spec.Budget); text != "" {
		r.note(ledger.Noted("", text))
	}
	if why := r.budgetStop(); why != "" && ending != EndedInterrupted {
		r.note(ledger.Told(ledger.AboutBudget, "the run stops: "+why))
	}
	status := exitStatus(ending, r.led.State(), j.Verdict)
	end := ledger.RunEnded(j.Verdict, status)
	end.At = r.eng.Now().UTC()
	r.clearAway() // what the jobs left
	rep, earlier, step := r.report(j, end)
	r.fail(r.publish(rep, earlier, j))
	if r.broken != nil {
		return Result{}, r.broken
	}
	r.fail(r.led.Append(end)) // the last of all: who reads it finds everything else
	failpoint.Hit(failpoint.EndAfter)
	return Result{
		Dir: r.led.Dir, Completion: r.redact.String(rep.Completion()), Exit: status,
		NextSteps: cleaned(r, append(r.nextSteps(step), takeOver(rep)...)),
	}, r.broken
}

// report is what is told of the run, as it will be once its last record is there; with it
// the attempts before the newest, per job, and what the verdict asks for. The rest of what
// it is made from is not held while it is written.
func (r *run) report(j ledger.Judgement, end ledger.Record) (rep report.Report, earlier map[string][]ledger.JobStatus, step string) {
	in := r.reportInput(j)
	in.State = ended(in.State, end)
	return report.Build(in), in.Earlier, in.VerdictStep
}

// ended is the state as it will be once the run's last record is there.
func ended(st ledger.State, end ledger.Record) ledger.State {
	st.Phase, st.EndedAt = ledger.PhaseEnded, &end.At
	st.Verdict, st.ExitStatus = end.Verdict, end.ExitStatus
	return st
}

// publish leaves report and history.
func (r *run) publish(rep report.Report, earlier map[string][]ledger.JobStatus, j ledger.Judgement) error {
	rep, err := r.reportFiles(rep)
	err = errors.Join(err, r.page(rep)) // last, since it links to the others
	failpoint.Hit(failpoint.ReportThere)
	if err != nil || j.Rehearsal || r.plan.draft != nil { // what planned a request is no work to compare others with
		return err
	}
	r.chronicle(history.Lines(r.led.ID, j.Verdict, r.statuses(), earlier, r.eng.Now()))
	return nil
}

// reportFiles leaves the report as JSON and as text, and gives it back as it is when every
// string of it is redacted.
func (r *run) reportFiles(rep report.Report) (report.Report, error) {
	isClean := true
	err := r.led.WriteJSONParts(ledger.ReportJSONFile, func(hand func([]byte) error) error {
		return rep.JSONParts(func(part []byte) error {
			clean := r.redact.JSON(part)
			isClean = isClean && bytes.Equal(clean, part)
			return hand(clean)
		})
	})
	if !isClean {
		rep = cleaned(r, rep)
	}
	return rep, errors.Join(err, r.led.WriteFrom(ledger.ReportFile, rep.WriteMarkdown))
}

// chronicle adds to the history. Where that cannot be done it is said, and the run ends as
// it would have: nothing depends on the history.
func (r *run) chronicle(lines []history.Line) {
	add := history.Append
	if r.resumed { // an engine before may have come this far
		add = history.AppendOnce
	}
	if err := add(r.plan.Root, lines); err != nil {
		r.note(ledger.Noted("", r.redact.String(fmt.Sprintf("this run is not in the history: %v", err))))
	}
	failpoint.Hit(failpoint.HistoryThere)
}

// statuses are those of the jobs that ran or were blocked, in the spec's order.
func (r *run) statuses() (all []ledger.JobStatus) {
	for i := range r.plan.Jobs {
		if s := r.jobs[r.plan.Jobs[i].Job.ID].status; s != nil {
			all = append(all, *s)
		}
	}
	return all
}

func (r *run) reportInput(j ledger.Judgement) report.Input {
	in := report.Input{
		RunDir: relTo(r.plan.Root, r.led.Dir), SpecPath: relTo(r.plan.Root, r.plan.Spec.Path),
		State: r.led.State(), Approvals: r.led.State().Approvals, Jobs: map[string]ledger.JobStatus{}, Earlier: map[string][]ledger.JobStatus{},
		Judgement: &j, Notes: append(append([]string{}, r.plan.Notes...), r.outside...), Checkout: slices.Clone(r.checkout),
		NextSteps: map[string]string{}, Commands: map[string]string{}, After: map[string][]string{}, Dirs: map[string]string{},
		Patterns: map[string]report.Pattern{}, Continues: map[string]string{},
		Arbiter: r.arbiters, VerdictStep: r.verdictStep(j), Exists: r.there, Planned: NoFurther(r.led) != nil, Rehearse: r.plan.Request.Rehearse, Agents: r.plan.Request.Agents != nil, Internal: r.plan.Request.Internal,
	}
	if in.Worker = r.plan.Spec.Worker; in.Worker {
		in.Given = r.redact.String(ledger.CallGiven(r.plan.Spec.Path))
	}
	in.Budget, in.Suggestions = r.reportBudget(), r.suggestions(j)
	if script := r.plan.Request.Script; script != "" {
		in.Script = relTo(r.plan.Root, script)
	}
	if r.plan.Repo != nil {
		in.GitTop = relTo(r.plan.Root, r.plan.Repo.Top())
	}
	if text := r.spent.text(r.plan.Spec.Budget); text != "" {
		in.Notes = append(in.Notes, text)
	}
	for _, w := range r.plan.Spec.Warning {
		in.Notes = append(in.Notes, fmt.Sprintf("%s: %s", w.Field, w.Message))
	}
	for i := range r.plan.Jobs {
		r.reportJob(&in, r.jobs[r.plan.Jobs[i].Job.ID])
	}
	in.Notes = append(in.Notes, r.plan.LiveBlocks()...)
	var err error
	if in.Sessions, err = sessionsOf(r.led); err != nil {
		in.Notes = append(in.Notes, err.Error())
	}
	in.Patches = r.reportPatches()
	return in
}

// there reports whether a file of the run directory has something to show. An
// answer is left empty by a job that gave none.
func (r *run) there(rel string) bool { return shows(r.led.Path(rel)) }

func shows(file string) bool {
	info, err := os.Stat(file)
	return err == nil && (filepath.Base(file) != ledger.OutputFile || info.Size() > 0)
}

// orEmpty is what a nullable text of a status says.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (r *run) reportJob(in *report.Input, j *jobRun) {
	id := j.planned.Job.ID
	in.NextSteps[id], in.After[id] = r.nextStepOf(j), j.planned.Job.DependsOn
	inPattern(in, j.planned.Job)
	if j.status == nil {
		return
	}
	in.Jobs[id] = *j.status
	if j.status.Attempts == 0 {
		return
	}
	for _, s := range j.ended {
		if s.Attempts < j.status.Attempts {
			in.Earlier[id] = append(in.Earlier[id], s)
		}
	}
	if data, err := r.led.ReadFile(ledger.JobPath(id, ledger.CommandFile)); err == nil {
		in.Commands[id] = string(data)
	}
	if in.Dirs[id] = r.shown(j.dir); j.status.Worktree == nil {
		in.Dirs[id] = relTo(r.plan.Root, j.dir)
	}
	for _, s := range append(slices.Clone(in.Earlier[id]), *j.status) {
		if s.Worktree != nil && s.Status != ledger.Success {
			in.KeptTrees = append(in.KeptTrees, keptTree(in.RunDir, s))
		}
	}
	for _, text := range r.leftBehind(j, in.Earlier[id]) {
		in.Notes, in.Checkout = append(in.Notes, text), append(in.Checkout, text)
	}
}

// reportPatches lists the patches so that each comes after those it builds on.
func (r *run) reportPatches() (all []report.Patch) {
	of := map[string]string{} // snapshot commit -> the job whose patch it holds
	for _, id := range r.plan.Graph.Order() {
		j := r.jobs[id]
		p := j.patch
		if p == nil || len(p.Files) == 0 || j.status == nil || !offered(*j.status) {
			continue
		}
		added, deleted, binary := linesOf(p.Files)
		all = append(all, report.Patch{
			Job: id, Path: ledger.JobPath(id, ledger.PatchFile), Files: len(p.Files), Bytes: p.Bytes, Base: p.Base, After: of[p.Base],
			Added: added, Deleted: deleted, Binary: binary, Diffstat: ledger.JobPath(id, ledger.DiffstatFile), Stat: diffstat(p.Files),
			Commit: p.Commit, Branch: orEmpty(j.status.Branch), Applied: j.status.Worktree == nil, DisplayOnly: j.masked,
		})
		of[p.Commit] = id
	}
	return all
}

// leftBehind is what failed attempts changed in the person's own checkout, as far
// as no patch that is offered holds it.
func (r *run) leftBehind(j *jobRun, earlier []ledger.JobStatus) (all []string) {
	id := j.planned.Job.ID
	for _, s := range earlier {
		rel := ledger.JobPath(id, ledger.AttemptDir(s.Attempts), ledger.PatchFile)
		if info, err := os.Stat(r.led.Path(rel)); err == nil && info.Size() > 0 && s.Worktree == nil {
			all = append(all, fmt.Sprintf("attempt %d of job %s failed in your own checkout%s, and what it changed is still there: see %s, which `git apply -R` takes back",
				s.Attempts, id, worked(s), rel))
		}
	}
	if p, s := j.patch, *j.status; p != nil && len(p.Files) > 0 && s.Worktree == nil && !offered(s) {
		all = append(all, fmt.Sprintf("job %s failed in your own checkout%s, and what it changed is still there: %s", id, worked(s), some(paths(p.Files))))
	}
	return all
}

// worked says when an attempt did.
func worked(s ledger.JobStatus) string {
	if s.StartedAt == nil || s.EndedAt == nil {
		return ""
	}
	return " " + between(*s.StartedAt, *s.EndedAt)
}

// offered reports whether a patch is something to apply or undo: the work of a job
// that succeeded, and whatever a writer left in the person's own checkout. The copy
// of a patch with a secret is only there to be read.
func offered(s ledger.JobStatus) bool {
	return s.Status == ledger.Success || s.Worktree == nil && s.Reason != runtime.ReasonInjectedSecret
}

func keptTree(runDir string, s ledger.JobStatus) report.Tree {
	dir := *s.Worktree
	if !filepath.IsAbs(dir) {
		dir = path.Join(runDir, filepath.ToSlash(dir))
	}
	return report.Tree{Job: s.ID, Attempt: s.Attempts, Path: dir, Branch: orEmpty(s.Branch)}
}
