package engine

import (
	"context"
	"slices"

	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// Question is put to a person before a job that needs their approval is dispatched.
type Question struct {
	Job   string
	Shown string // what they would be approving: lines that are safe to show, redacted
}

// Answer is what came of it. The zero Answer says that nobody could be asked.
type Answer struct {
	Asked bool
	Yes   bool
	By    string // how: "" = at a terminal, or ByElicitation
}

// ByElicitation says that the client of a hosting session put the question to its user.
// A client that answers in the user's place cannot be told apart.
const ByElicitation = "elicitation"

// How else an approval was given.
const (
	byFlag     = "flag"
	byTerminal = "tty"
)

// unapproved says what keeps a job of the plan from being dispatched until somebody has
// approved it; nil when nothing does.
func (p *Plan) unapproved(pl *Planned) *route.Block {
	if p.Request.Rehearse {
		return p.unrehearsed(pl.Job, pl.Route)
	}
	return gate.Decide(pl.Job, pl.Route, p.Sandbox, gate.Word{})
}

// unrehearsed blocks a plain program that needs an approval: in a rehearsal nobody is
// asked, and no stand-in takes its place.
func (p *Plan) unrehearsed(j *spec.Job, r ledger.Route) *route.Block {
	block := gate.Decide(j, r, p.Sandbox, gate.Word{})
	if block == nil || block.Reason != runtime.BlockedApproval {
		return block
	}
	if !j.Exec() {
		return nil // the stand-in does it, and reaches nothing
	}
	block.Detail = "a rehearsal does not run it. Live: " + block.Detail
	return block
}

// live says what would block a job of a rehearsal if it were meant, and that it needs an
// approval, whatever else does.
func (p *Plan) live(e *Engine, pl *Planned) string {
	r, block := p.choose(p.liveInput(e, pl))
	needs := gate.NeedsApproval(pl.Job, ledger.Route{Risk: string(pl.Tiers.Risk)})
	switch {
	case block == nil:
		return detail(gate.Decide(pl.Job, r, p.Sandbox, gate.Word{}))
	case needs:
		return detail(block) + "; and it would need an approval"
	}
	return detail(block)
}

// routed reports whether a job has a route; one that waits for an approval has, one whose
// result the engine makes needs none.
func (j *Planned) routed() bool {
	return !j.Job.Gathers() && (j.Block == nil || j.Block.Reason == runtime.BlockedApproval)
}

// seekApprovals asks for each job that needs an approval and could be dispatched, before
// anything is. What an engine before was given counts for nothing.
func (r *run) seekApprovals(ctx context.Context) {
	if r.plan.Request.Rehearse || r.plan.judgeless() {
		return
	}
	lost := map[string]bool{}
	for _, id := range r.plan.Graph.Order() {
		j := r.jobs[id]
		lost[id] = !j.planned.Job.AfterAll && slices.ContainsFunc(j.planned.Job.DependsOn, func(on string) bool { return lost[on] })
		switch {
		case j.status != nil || r.carried[id] != nil:
			j.planned.unasked()
			r.recallApproval(ctx, j)
		case !lost[id]:
			r.seekApproval(ctx, j)
		}
		lost[id] = lost[id] || j.block != nil || j.status != nil && !j.status.Status.Well()
	}
	if len(r.given) > 0 {
		r.fail(r.led.WriteJSON(ledger.ApprovalsFile, ledger.Approvals{SchemaVersion: ledger.SchemaVersion, Approvals: r.given}))
	}
}

// unasked takes back that a job waits for an approval: it is done, or runs.
func (j *Planned) unasked() {
	if j.Block != nil && j.Block.Reason == runtime.BlockedApproval {
		j.Block = nil
	}
}

// judgeless reports whether nothing is started because nobody independent can judge.
func (p *Plan) judgeless() bool {
	return p.Arbiter.Block != nil && p.Arbiter.Block.Reason == runtime.BlockedIndependence
}

// seekApproval asks about one job, unless it needs no approval or cannot be dispatched.
func (r *run) seekApproval(ctx context.Context, j *jobRun) {
	job := j.planned.Job
	if ctx.Err() != nil || !gate.NeedsApproval(job, j.route) || j.block != nil && j.block.Reason != runtime.BlockedApproval {
		return
	}
	if job.Item.Unknown() { // it is held where it is begun: with its item, which nobody has seen
		j.block = nil
		return
	}
	word := gate.Word{}
	scope, err := r.scopeOf(ctx, job, j.route)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.decided(j, &route.Block{Reason: runtime.BlockedApproval, Detail: "what would be approved cannot be read: " + err.Error(), NextStep: gate.AskUser})
		return
	}
	word.Now = scope
	shown := r.redact.String(r.shownScope(job, j.route, scope))
	if r.stillApproved(job.ID, scope) {
		j.approved, word.Given = scope, scope
	} else if by := r.askAbout(ctx, job.ID, shown, j.route.Risk, &word); by != "" {
		r.approve(j, ledger.Given{Approval: ledger.Approval{
			Job: job.ID, Effect: job.Effect, Digest: scope.Digest(), By: by, At: r.eng.Now().UTC().Round(0),
		}, Shown: shown}, scope)
		word.Given = scope
	}
	if ctx.Err() == nil {
		j.refused = word.Refused
		r.decided(j, r.plan.uncovered(gate.Decide(job, j.route, r.plan.Sandbox, word), word))
	}
}

// decided keeps what came of asking about a job; nil = it may be dispatched.
func (r *run) decided(j *jobRun, block *route.Block) {
	if block != nil {
		clean := cleaned(r, *block)
		block = &clean
	}
	j.block, j.planned.Block = block, block
}

// askAbout says how a job was approved, "" = it was not.
func (r *run) askAbout(ctx context.Context, job, shown, risk string, word *gate.Word) string {
	switch {
	case r.plan.Request.Yes && !r.plan.ownWord(risk):
		return byFlag
	case r.person == nil:
		return ""
	}
	a := r.person(ctx, Question{Job: job, Shown: shown})
	word.Refused = a.Asked && !a.Yes
	switch {
	case !a.Asked || !a.Yes || ctx.Err() != nil:
		return ""
	case a.By == ByElicitation:
		return ByElicitation
	}
	return byTerminal
}

// approve records an approval, durably, before anything acts on it.
func (r *run) approve(j *jobRun, g ledger.Given, scope gate.Scope) {
	r.fail(r.led.Append(ledger.Approved(g)))
	r.given = append(r.given, g)
	j.approved = scope
}

// mayDispatch holds what an attempt is about to be against its controls and the approval
// that this engine has: a route or a file may have changed since somebody was asked.
func (r *run) mayDispatch(ctx context.Context, j *jobRun, taken ledger.Route) *route.Block {
	job := j.planned.Job
	if r.plan.Request.Rehearse {
		return r.plan.unrehearsed(job, taken)
	}
	word := gate.Word{Given: j.approved, Refused: j.refused}
	if gate.NeedsApproval(job, taken) && j.approved != nil {
		var err error
		if word.Now, err = r.scopeOf(ctx, job, taken); err != nil {
			return &route.Block{Reason: runtime.BlockedApproval, Detail: "what was approved cannot be compared: " + err.Error(), NextStep: gate.AskUser}
		}
	}
	return gate.Decide(job, taken, r.plan.Sandbox, word)
}

// approvedBy says how a job was approved last, "" = by nobody.
func (r *run) approvedBy(job string) (by string) {
	for _, g := range r.given {
		if g.Job == job {
			by = g.By
		}
	}
	return by
}
