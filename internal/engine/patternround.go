package engine

import (
	"fmt"

	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/spec"
)

// unneeded says why a round is not needed, "" = it is.
func (r *run) unneeded(round *spec.Round) (why string, err error) {
	if len(round.Of) == 0 {
		return "", nil
	}
	last := round.Of[len(round.Of)-1]
	switch {
	case round.Rule == spec.RuleNotDry:
		return r.dryBefore(round)
	case r.statusNow(last) == ledger.Skipped:
		return last + " was not needed", nil
	case round.Rule == spec.RuleFailed:
		v, err := r.verdictOf(last)
		if err == nil && v.Accepted {
			why = last + " accepted"
		}
		return why, err
	}
	return "", nil
}

// dryBefore says that the rounds before found nothing new any more, "" = they did.
func (r *run) dryBefore(round *spec.Round) (why string, err error) {
	found, err := r.keysOf(round.Of, round.Dry)
	if err != nil {
		return "", err
	}
	if dry, _ := pattern.Dry(found, round.Dry.StopAfter); dry {
		why = fmt.Sprintf("%s before it found nothing new", rounds(round.Dry.StopAfter))
	}
	return why, nil
}

// rounds is a number of rounds in words.
func rounds(n int) string {
	if n == 1 {
		return "the round"
	}
	return fmt.Sprintf("the %d rounds", n)
}

// keysOf are the keys that each of these rounds found that was done, in their order.
func (r *run) keysOf(ids []string, dry *spec.Dry) (found [][]string, err error) {
	for _, id := range ids {
		if r.statusNow(id) != ledger.Success {
			continue
		}
		answer, err := r.answerOf(id)
		if err != nil {
			return nil, err
		}
		keys, err := pattern.Keys(answer, dry.Key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ledger.JobPath(id, ledger.OutputFile), err)
		}
		found = append(found, keys)
	}
	return found, nil
}

// verdictOf is the verdict that a job gave which must give one.
func (r *run) verdictOf(id string) (pattern.Vote, error) {
	answer, err := r.answerOf(id)
	if err != nil {
		return pattern.Vote{}, err
	}
	v := r.jobs[id].planned.Job.Verdict
	value, accepted, err := pattern.VerdictOf(answer, v.Field, v.Accept)
	if err != nil {
		return pattern.Vote{}, fmt.Errorf("%s: %w", ledger.JobPath(id, ledger.OutputFile), err)
	}
	return pattern.Vote{Verdict: value, Accepted: accepted}, nil
}
