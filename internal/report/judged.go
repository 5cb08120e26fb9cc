package report

import (
	"strings"

	"orchestrate/internal/ledger"
)

// independence is what is known of how independent the arbiter was.
func independence(j *ledger.Judgement) string {
	switch {
	case j.Independence == "":
		return "not known"
	case j.RequireIndependent:
		return prose(j.Independence) + " (required by the spec)"
	}
	return prose(j.Independence)
}

// findings are the rules of the engine that were broken, with what shows it.
func findings(p *page, all []ledger.Finding) {
	if len(all) == 0 {
		return
	}
	p.say("\nRules that the engine found broken:\n")
	for _, f := range all {
		whose := ", the run: "
		if f.Job != "" {
			whose = ", job " + code(f.Job) + ": "
		}
		p.say("- %s%s%s%s", code(f.Rule), whose, prose(f.Detail), evidence(f.Evidence))
	}
}

// evidence names files that show something.
func evidence(files []string) string {
	var shown []string
	for _, f := range files {
		shown = append(shown, code(f))
	}
	if shown == nil {
		return ""
	}
	return " (" + strings.Join(shown, ", ") + ")"
}

// changedJudges says whose work changed what judges it.
func changedJudges(p *page, all []ledger.ChangedJudge) {
	if len(all) == 0 {
		return
	}
	p.say("\nThe worker changed what judges it, such as tests, checks or what they call:\n")
	for _, c := range all {
		p.say("- job %s: %s", code(c.Job), step(strings.Join(c.Paths, ", ")))
	}
}

// assertions are the checks that only the arbiter could answer.
func assertions(p *page, jobs []ledger.JobVerdict) {
	var rows [][]string
	for _, v := range jobs {
		for _, a := range v.Assertions {
			holds := cell(a.Holds)
			if a.Holds != "yes" {
				holds = "**" + prose(a.Holds) + "**"
			}
			rows = append(rows, []string{cell(v.Job), prose(a.Name), holds, prose(a.Why.Line(maxText))})
		}
	}
	if rows == nil {
		return
	}
	p.say("\nAssertions that the arbiter was to judge:\n")
	p.table([]string{"job", "assertion", "holds", "why"}, rows)
}
