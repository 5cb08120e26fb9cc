package engine

import (
	"fmt"

	"orchestrate/internal/untrusted"
)

// perReason puts jobs together of which the same is said.
type perReason struct {
	texts []string
	ids   map[string][]string
}

func (a *perReason) add(id, text string) {
	if a.ids == nil {
		a.ids = map[string][]string{}
	}
	if a.ids[text] == nil {
		a.texts = append(a.texts, text)
	}
	a.ids[text] = append(a.ids[text], id)
}

// lines are one for each text, with the jobs that it is about.
func (a *perReason) lines(format string) (all []string) {
	for _, text := range a.texts {
		who := a.ids[text][0]
		if n := len(a.ids[text]); n > 1 {
			who = fmt.Sprintf("%d jobs (%s)", n, someOf(a.ids[text]))
		}
		all = append(all, fmt.Sprintf(format, who, text))
	}
	return all
}

// LiveBlocks says of a rehearsal what would be blocked live and why, a line for each
// reason.
func (p *Plan) LiveBlocks() []string {
	var a perReason
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.Live != "" {
			a.add(j.Job.ID, untrusted.From(j.Live).Line(0))
		}
	}
	all := a.lines("live, %s would be blocked: %s")
	if p.Arbiter.Live != "" {
		all = append(all, "live, the arbiter would be blocked: "+untrusted.From(p.Arbiter.Live).Line(0))
	}
	return all
}

// Blocks says what is blocked before anything starts and why, with its next step: a
// line for each reason.
func (p *Plan) Blocks() []string {
	var a perReason
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.Block != nil {
			a.add(j.Job.ID, fmt.Sprintf("%s: %s\n  next: %s", j.Block.Reason, untrusted.From(j.Block.Detail).Line(0), j.Block.NextStep))
		}
	}
	return a.lines("blocked: %s: %s")
}
