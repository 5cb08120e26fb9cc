package engine

import (
	"slices"

	"orchestrate/internal/prompts"
	"orchestrate/internal/spec"
)

// Some answers the engine itself reads: verdicts, what a search found, lists that other
// jobs go through. Whoever gets a prompt for such an answer is told its form there, in the
// worker form too: nobody can keep to what was not said.

// answerForm is the part of a prompt that says how an answer has to be which the engine
// reads, "" = it reads nothing of this one. lists are the places of lists in it, JSONPaths.
func answerForm(j *spec.Job, lists []string) string {
	switch {
	case j.Verdict != nil:
		form, err := prompts.AnswerForm(j.Verdict.Field, j.Verdict.Accept)
		if err != nil {
			panic(err) // the template's variables are what is filled in
		}
		return form + prompts.AlsoLists(lists)
	case searches(j):
		return prompts.SearchForm(j.Round.Dry.Key) + prompts.AlsoLists(lists)
	case len(lists) > 0:
		return prompts.ListForm(lists)
	}
	return ""
}

// findLists notes in whose answers there are lists that other jobs go through, and where.
func (p *Plan) findLists() {
	p.lists = map[string][]string{}
	for i := range p.Spec.Jobs {
		j := &p.Spec.Jobs[i]
		if !needsItem(j) || j.Item.Number != 1 { // all of a list have it from the same place
			continue
		}
		for _, from := range j.Item.From {
			for _, id := range p.answering(from) {
				if !slices.Contains(p.lists[id], j.Item.Path) {
					p.lists[id] = append(p.lists[id], j.Item.Path)
				}
			}
		}
	}
}

// answering are the jobs one of which answers for a job: the rounds of a repair for the one
// that gathers them, nobody for another that gathers, since the engine makes its answer.
func (p *Plan) answering(id string) []string {
	pl, ok := p.Planned(id)
	switch {
	case !ok:
		return nil
	case pl.Job.Gather == nil:
		return []string{id}
	}
	if own := p.ownRounds(id); own != nil {
		return own
	}
	return pl.Job.Gather.Verifies
}
