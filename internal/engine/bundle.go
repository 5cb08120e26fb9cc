package engine

import (
	"fmt"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// What the arbiter is shown of the jobs, and what of it may be cited.

// citable is all that the evidence offers for citation beside lines of files.
func citable(b arbiter.Bundle) map[arbiter.Citation]bool {
	all := map[arbiter.Citation]bool{}
	for _, e := range b.Jobs {
		for _, c := range e.Citable() {
			all[c] = true
		}
	}
	return all
}

// cites names, for each job, something that is there to be cited.
func cites(b arbiter.Bundle) (all []string) {
	for _, e := range b.Jobs {
		cite := e.Job.ID
		if c := e.Citable(); len(c) > 0 {
			cite += "=" + c[0].Kind + ":" + c[0].Ref
		}
		all = append(all, cite)
	}
	return all
}

// bundle collects what the arbiter is shown.
func (r *run) bundle(findings []ledger.Finding) arbiter.Bundle {
	s := r.plan.Spec
	b := arbiter.Bundle{
		RunID: r.led.ID, Base: r.plan.Base, Outcome: s.Outcome, Constraints: s.Constraints,
		NonGoals: s.NonGoals, Acceptance: s.Acceptance, Findings: findings, Notes: r.outside, Gathered: r.gathered(),
		MaxBytes: s.Arbiter.MaxEvidenceBytes,
	}
	before := r.redone()
	for _, id := range r.current(before) {
		e := r.evidenceOf(r.jobs[id])
		r.buildsOn(&e, before[id])
		b.Jobs = append(b.Jobs, e)
	}
	return b
}

func (r *run) evidenceOf(j *jobRun) arbiter.JobEvidence {
	id := j.planned.Job.ID
	e := arbiter.JobEvidence{
		Job: j.planned.Job, Status: *j.status, Probed: j.facts.Probed, Commit: r.saw(j), Judges: j.judges,
		Word: r.approvedBy(id),
	}
	add := func(label, name, cite string) {
		if t, ok := r.text(label, ledger.JobPath(id, name), cite); ok {
			e.Texts = append(e.Texts, t)
		}
	}
	if !j.planned.Job.Exec() {
		add("Prompt", ledger.PromptFile, "")
	}
	add("Final answer", ledger.OutputFile, ledger.OutputFile)
	if t, ok := r.text("Patch", ledger.JobPath(id, ledger.PatchFile), ledger.PatchFile); ok {
		if sum, ok := r.text("", ledger.JobPath(id, ledger.DiffstatFile), ""); ok {
			t.Summary = sum.Text
		}
		e.Texts = append(e.Texts, t)
	}
	for _, a := range j.status.Artifacts {
		if a.Source != "tree" { // what is in the tree is in the patch
			add("Output "+a.Path, ledger.ArtifactsDir+"/"+a.Path, a.Path)
		}
	}
	for i, c := range j.status.Checks {
		if c.Kind == "run" && c.Output != "" {
			name := fmt.Sprintf("%s/%d.out", ledger.ChecksDir, i+1)
			add("Output of check "+c.Name, name, name)
		}
	}
	return e
}

// text reads the beginning of a file of the run directory.
func (r *run) text(label, rel, cite string) (arbiter.Text, bool) {
	data, err := r.led.ReadFile(rel)
	if err != nil {
		return arbiter.Text{}, false
	}
	t := arbiter.Text{Label: label, Ref: rel, Cite: cite, Bytes: int64(len(data))}
	t.Text = untrusted.From(string(data[:min(len(data), max(arbiter.Budget, r.plan.Spec.Arbiter.MaxEvidenceBytes))]))
	return t, true
}
