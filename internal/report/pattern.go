package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// Pattern is what a job is in the pattern of the spec that it was expanded from. Its jobs
// are jobs like others, but that some turn out not to be needed, and that the engine itself
// makes the result of those which gather others'. Neither are work that somebody did, so
// they count for nothing.
type Pattern struct {
	Kind    string `json:"kind"`    // foreach | votes | until_dry | repair | join
	Of      string `json:"of"`      // the job that was expanded
	Number  int    `json:"number"`  // from 1: of the item, the vote or the round; 0 = it gathers those
	Gathers bool   `json:"gathers"` // the engine made its result of other jobs'
	List    string `json:"list"`    // the job whose foreach has the item that it is for, "" = none
}

// PatternOf is what a job of a spec is in a pattern, nil = it is in none.
func PatternOf(j *spec.Job) *Pattern {
	if j.Part == nil && j.Item == nil {
		return nil
	}
	p := &Pattern{Gathers: j.Gathers()}
	if j.Part != nil {
		p.Kind, p.Of, p.Number = j.Part.Kind, j.Part.Of, j.Part.Number
	}
	if j.Item != nil {
		p.List = j.Item.Of
	}
	return p
}

// gathered is what is gathered by a job of each kind.
var gathered = map[string]string{spec.PatternVotes: "the votes", spec.PatternUntilDry: "what the rounds found", spec.PatternRepair: "the rounds"}

// String says in a few words what the job is in its pattern.
func (p Pattern) String() string {
	member := map[string]string{
		spec.PatternForeach: "item", spec.PatternVotes: "vote", spec.PatternUntilDry: "round", spec.PatternRepair: "round",
	}[p.Kind]
	switch {
	case p.Gathers:
		return "gathers " + gathered[p.Kind]
	case member == "" || p.Number == 0:
		return p.Kind
	}
	return fmt.Sprintf("%s %d of %s", member, p.Number, p.Of)
}

// mostOfItem bounds an item where it is shown, in characters.
const mostOfItem = 60

// Item is what a job is for, in a short line; "" = no item of a list, or not known.
func Item(s ledger.JobStatus) string {
	if len(s.Item) == 0 {
		return ""
	}
	var text string
	if json.Unmarshal(s.Item, &text) != nil {
		text = string(s.Item) // no text, but another value
	}
	return untrusted.From(text).Line(mostOfItem)
}

// gathers reports whether the engine made the job's result of other jobs'.
func (j Job) gathers() bool { return j.Pattern != nil && j.Pattern.Gathers }

// skipped reports whether the job turned out not to be needed.
func (j Job) skipped() bool { return j.Status.Status == ledger.Skipped }

// place says what the job is in its pattern and whose session it goes on with, "" = it is
// a job of its own.
func (j Job) place() string {
	var parts []string
	if more := j.withOthers(); more != "" {
		parts = append(parts, more)
	}
	if j.Pattern != nil {
		parts = append(parts, j.Pattern.String())
	}
	if text := Item(j.Status); text != "" {
		parts = append(parts, "for "+text)
	}
	if j.gathers() && j.Status.Decided != "" {
		parts = append(parts, j.decided())
	}
	if j.Continues != "" {
		parts = append(parts, "goes on with the session of "+j.Continues)
	}
	return strings.Join(parts, "; ")
}

// needed are the jobs but for those that turned out not to be.
func (r Report) needed() []Job {
	if r.Totals.Skipped == 0 {
		return r.Jobs
	}
	return slices.DeleteFunc(slices.Clone(r.Jobs), Job.skipped)
}

// unneeded says of each pattern how many of its jobs were not needed, and why.
func (r Report) unneeded() (all []string) {
	type count struct{ skipped, all int }
	counts, why := map[string]count{}, map[string]string{}
	var order []string
	for _, j := range r.Jobs {
		of := j.Status.ID
		if j.Pattern != nil {
			of = cmp.Or(j.Pattern.List, j.Pattern.Of, of)
		}
		c := counts[of]
		if !j.gathers() {
			c.all++
		}
		if j.skipped() {
			if c.skipped++; c.skipped == 1 {
				order, why[of] = append(order, of), j.Status.ReasonEvidence.Line(maxStep)
			}
		}
		counts[of] = c
	}
	for _, of := range order {
		line := fmt.Sprintf("%s: %d of %s not needed", of, counts[of].skipped, figure.Count(counts[of].all, "job"))
		if why[of] != "" {
			line += " (" + why[of] + ")"
		}
		all = append(all, line)
	}
	return all
}

// patterns tells what each pattern came to.
func (r Report) patterns(p *page) {
	var rows [][]string
	for _, j := range r.needed() {
		if j.gathers() {
			rows = append(rows, []string{cell(j.Status.ID), string(j.Status.Status), cell(j.Pattern.Kind), prose(j.decided()), cmp.Or(cell(j.Answer), nothing)})
		}
	}
	unneeded := r.unneeded()
	if rows == nil && unneeded == nil {
		return
	}
	p.heading("Patterns" + r.mark())
	if rows != nil {
		p.say("The engine made these results of other jobs', so they count as nobody's work:\n")
		p.table([]string{"job", "status", "pattern", "what it came to", "result"}, rows)
	}
	p.bullets("Jobs that were not needed:", unneeded)
}

// decided is what a gathering job came to, or why it came to nothing.
func (j Job) decided() string {
	if d := j.Status.Decided; d != "" {
		return untrusted.From(d).Line(maxStep)
	}
	return problem(j.Status)
}
