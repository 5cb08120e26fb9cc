package gate

import (
	"fmt"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// Word is what is known of a person's word on a job. The zero Word says that nobody
// was asked.
type Word struct {
	Given   Scope // what was approved, for this engine; nil = nothing
	Now     Scope // what would be dispatched
	Refused bool  // a person was asked and did not say yes
}

// AskUser is what can be done about a job that nobody approved. It names neither a
// command that would nor a way round the person: whether to approve is for the person to say, not for who carries a run out
// for them.
const AskUser = "ask the user: who starts or resumes the run at a terminal is shown the job and asked there"

// NeedsApproval reports whether a job is dispatched only with a person's approval of
// exactly its scope: work at R3, and work whose spec asks for it.
func NeedsApproval(j *spec.Job, r ledger.Route) bool {
	return !policy.Risk(r.Risk).Less(policy.R3) || j.Approval == "require"
}

// approve says why a job has not the approval that it needs; nil when it has, or needs
// none.
func approve(j *spec.Job, r ledger.Route, w Word) *route.Block {
	if !NeedsApproval(j, r) || w.covers() {
		return nil
	}
	why := r.Risk + " (" + r.RiskWhy + ")"
	if j.Approval == "require" {
		why = "approval: require"
	}
	block := &route.Block{
		Reason: runtime.BlockedApproval, NextStep: AskUser,
		Detail: why + ": " + w.missing() + ". They would be approving " + approved(j, r),
	}
	if j.Item.Unknown() {
		block.Detail = why + ": " + askLater + ". It is " + approved(j, r)
		block.NextStep = "let it be begun all the same: once the item is known, who resumes the run at a terminal is shown the job with it and asked there"
	}
	return block
}

func (w Word) covers() bool {
	return w.Given != nil && w.Now != nil && w.Given.Digest() == w.Now.Digest()
}

// askLater: what an item says is part of what is approved.
const askLater = "the user can be asked only when its item is known, which another job makes"

// missing says what is wrong with the word.
func (w Word) missing() string {
	switch {
	case w.Refused:
		return "the user was asked and did not approve it"
	case w.Given != nil:
		return "what was approved is not what would run now (" + strings.Join(w.Given.Changes(w.Now), "; ") + "), so ask the user anew"
	}
	return "ask the user"
}

// opening is how much of a prompt an approval's text repeats, in characters.
const opening = 120

// approved says what a person would be approving.
func approved(j *spec.Job, r ledger.Route) string {
	text := fmt.Sprintf("the command %q", j.Command)
	if !j.Exec() {
		text = fmt.Sprintf("a prompt of %d characters, which begins %q", len([]rune(j.Prompt)), first(j.Prompt, opening))
	}
	if item := itemOf(j); item != nil {
		text += fmt.Sprintf(", for the item %q", first(item[0], opening))
	}
	text += fmt.Sprintf(", effect %s, in %s, on %s", j.Effect, j.Cwd, r.Runtime)
	if j.Preview != "" {
		text += "; preview: " + j.Preview
	}
	if j.Rollback != "" {
		text += "; rollback: " + j.Rollback
	}
	return text
}

func first(s string, n int) string {
	r := []rune(strings.TrimSpace(s))
	return string(r[:min(n, len(r))])
}
