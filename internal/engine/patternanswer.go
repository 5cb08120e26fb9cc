package engine

import (
	"fmt"
	"path/filepath"

	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/policy"
	"orchestrate/internal/prompts"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// What is held of the answers of jobs of a pattern, and what a round of mending is told.

// searches reports whether a job is a round of a search that goes on until it is dry.
func searches(j *spec.Job) bool { return j.Round != nil && j.Round.Dry != nil }

// judgeAnswer fails a job whose answer the engine cannot read and must.
func (r *run) judgeAnswer(a *attempt, how policy.Settlement) policy.Settlement {
	if how.Status != ledger.Success || a.job.Verdict == nil && !searches(a.job) {
		return how
	}
	answer, err := r.answerOf(a.job.ID)
	switch {
	case err != nil:
	case a.job.Verdict != nil:
		_, _, err = pattern.VerdictOf(answer, a.job.Verdict.Field, a.job.Verdict.Accept)
	default:
		_, err = pattern.Keys(answer, a.job.Round.Dry.Key)
	}
	if err == nil {
		return how
	}
	if a.cmd.Answer == runtime.AnswerFromStdout && a.exit.Truncated.Stdout > 0 {
		err = notKept(a.job, a.exit.Truncated.Stdout)
	}
	text := fmt.Sprintf("%v; it begins: %s", err, untrusted.From(answer).Line(200))
	return policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonBadAnswer, Evidence: untrusted.From(text)}
}

// notKept says of an answer that cannot be read that it was cut before anybody looked at it.
func notKept(j *spec.Job, dropped int64) error {
	return fmt.Errorf("the answer is longer than what is kept of it, %d bytes of its beginning and its end, without %d between them; where it is to be read it must be no longer, or max_output_bytes larger",
		j.MaxOutputBytes, dropped)
}

// orCut is an error about the answers of these jobs; where one of them was cut, that it was.
func (r *run) orCut(err error, from []string) error {
	for _, id := range from {
		j := r.jobs[id]
		if s := j.status; s != nil && j.planned.Job.Exec() && s.Truncated.Stdout > 0 {
			return notKept(j.planned.Job, s.Truncated.Stdout)
		}
	}
	return err
}

// findingsFor is the verification whose findings are all that a round of work gets: it goes
// on in the session that did the work. "" = the job is no such round.
func findingsFor(j *spec.Job) string {
	if j.Round == nil || j.Round.Rule != spec.RuleFailed {
		return ""
	}
	return j.Round.Of[len(j.Round.Of)-1]
}

// promptOf is the whole prompt of an attempt.
func (r *run) promptOf(a *attempt, got []handed, before *earlier) (string, error) {
	if findingsFor(a.job) != "" {
		return r.mendingPrompt(a.job)
	}
	at := placingOf(a.job, a.route, a.at.dir, filepath.Join(a.dir, a.outName()))
	at.Lists = r.plan.lists[a.job.ID]
	return assemble(a.job, got, before, at), nil
}

// mendingPrompt is the whole prompt of a round of work after the first.
func (r *run) mendingPrompt(j *spec.Job) (string, error) {
	found, err := r.answerOf(findingsFor(j))
	if err != nil {
		return "", err
	}
	return prompts.Fill(prompts.FixWorker, map[string]string{"findings": untrusted.From(found).Fence("findings of " + findingsFor(j))})
}
