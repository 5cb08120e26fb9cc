package engine

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/spec"
)

// noteArbiter says what a person should know of the review before the run.
func (p *Plan) noteArbiter() {
	note := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	switch a := p.Arbiter; {
	case p.Spec.Worker:
		note("worker form: nobody reviews these results; the verdict will be `unreviewed`")
		return
	case !a.Needed:
		note("nobody reviews this run: arbiter mode checks-only; its verdict will be `unreviewed`")
		if p.Spec.Arbiter.RequireIndependent {
			note("arbiter require_independent has no effect with mode checks-only; leave the mode out, and an independent arbiter reviews the work")
		}
		if ids := p.asserting(); len(ids) > 0 {
			note("nobody looks at the assertions of %s: they are for an arbiter, and mode checks-only asks none", some(ids))
		}
		return
	case a.Block != nil:
		note("no arbiter can be asked, so the verdict will be `blocked`: %s. %s", a.Block.Detail, a.Block.NextStep)
		return
	case p.dependent(a.Route):
		note("the arbiter is %s", judging(a.Route))
	}
	if least, most := arbiter.Least(p.shortest()), cmp.Or(p.Spec.Arbiter.MaxEvidenceBytes, arbiter.Budget); least > most {
		note("the evidence will have about %d bytes, more than the %d of max_evidence_bytes: so many it takes to name %d jobs and their assertions, and little else will be in it; raise `arbiter: {max_evidence_bytes: …}`, or do the work in several runs", least, most, len(p.Jobs))
	}
}

// asserting are the jobs with a check that only an arbiter can look at.
func (p *Plan) asserting() (ids []string) {
	for _, j := range p.Jobs {
		if slices.ContainsFunc(j.Job.Checks, func(c spec.Check) bool { return c.Assert != "" }) {
			ids = append(ids, "job "+j.Job.ID)
		}
	}
	return ids
}

// shortest is the evidence with nothing but the names of the jobs and their assertions.
func (p *Plan) shortest() arbiter.Bundle {
	b := arbiter.Bundle{RunID: "20060102-150405", Base: p.Base, Outcome: p.Spec.Outcome}
	for _, j := range p.Jobs {
		e := arbiter.JobEvidence{Job: j.Job}
		if p.treeless() == "" {
			e.Folder = path.Join(reviewFolder, j.Job.ID)
		}
		b.Jobs = append(b.Jobs, e)
	}
	return b
}
