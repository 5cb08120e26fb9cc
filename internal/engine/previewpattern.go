package engine

import (
	"fmt"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/prompts"
	"orchestrate/internal/report"
	"orchestrate/internal/spec"
)

// PatternPreview is what a job is in its pattern, before anything ran.
type PatternPreview struct {
	report.Pattern
	Item  string `json:"item"`  // what it is for, shortened; "" = no item, or not known before the run
	Most  int    `json:"most"`  // how many of its kind there are at most: items, votes or rounds; 0 = it is not one of several
	Says  string `json:"says"`  // what the pattern asks, in words
	Needs string `json:"needs"` // on what it depends whether the job is needed, "" = it always is
}

// patternPreview is nil for a job that is in no pattern.
func patternPreview(p *Plan, j *spec.Job) *PatternPreview {
	of := report.PatternOf(j)
	if of == nil {
		return nil
	}
	v := &PatternPreview{Pattern: *of, Needs: needed(j.Round)}
	if j.Item != nil {
		v.Item, v.Most = report.Item(ledger.JobStatus{Item: j.Item.Value}), j.Item.Max
		if v.Item != "" {
			v.Item = p.redact.String(v.Item)
		}
	}
	var parts []string
	if j.Item != nil && len(j.Item.From) > 0 {
		parts = append(parts, fmt.Sprintf("an item each of the list that job %s makes (%s), at most %d", some(j.Item.From), j.Item.Path, j.Item.Max))
	}
	if j.Gathers() {
		v.Most = len(j.Gather.Members)
		parts = append(parts, gathers(j.Gather))
	}
	if of.Kind == spec.PatternJoin {
		parts = append(parts, joins(j))
	}
	v.Says = strings.Join(parts, "; ")
	return v
}

// gathers says what comes of a gathering job.
func gathers(g *spec.Gather) string {
	switch {
	case g.Votes != nil:
		return fmt.Sprintf("%d votes, %d must accept (%s = %s)", g.Votes.Of, g.Votes.Require, g.Votes.Verdict.Field, g.Votes.Verdict.Accept)
	case g.Dry != nil:
		return fmt.Sprintf("at most %d rounds, until %d in a row find no new %s", len(g.Members), g.Dry.StopAfter, g.Dry.Key)
	case len(g.Work) > 0 && len(g.Verifies) > 0:
		text := fmt.Sprintf("%s, verified by %s; at most %d repairs, each with what was found and the session of the work, verified anew", g.Work[0], g.Verifies[0], len(g.Work)-1)
		if g.Verdict != nil {
			text += fmt.Sprintf(" (%s = %s)", g.Verdict.Field, g.Verdict.Accept)
		}
		return text
	}
	return ""
}

func joins(j *spec.Job) string {
	text := "the results of " + some(j.DependsOn)
	if j.Require > 0 {
		text += fmt.Sprintf(", of which %d must have succeeded", j.Require)
	}
	return text
}

// needed says on what it depends whether a round is needed.
func needed(r *spec.Round) string {
	if r == nil || len(r.Of) == 0 {
		return ""
	}
	last := r.Of[len(r.Of)-1]
	switch r.Rule {
	case spec.RuleNotDry:
		return "only while the rounds before it find something new"
	case spec.RuleFailed:
		return "only if " + last + " does not accept"
	case spec.RuleMended:
		return "only if " + last + " was needed"
	}
	return ""
}

// mending is the prompt of a round of repair, in which what is found is only named before
// any of it exists; "" of any other job.
func mending(j *spec.Job) string {
	of := findingsFor(j)
	if of == "" {
		return ""
	}
	found := "(what " + of + " finds)\n" // a line of its own, as what is found is
	text, err := prompts.Fill(prompts.FixWorker, map[string]string{"findings": found})
	if err != nil { // the template is the program's own, and a test fills it
		return found
	}
	return text
}
