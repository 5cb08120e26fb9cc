package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// page is a Markdown document being written. Whatever goes wrong is said when it is flushed.
type page struct{ *bufio.Writer }

func (p *page) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) heading(text string) { fmt.Fprintf(p, "\n## %s\n\n", text) }

// table writes rows whose cells are already safe.
func (p *page) table(head []string, rows [][]string) {
	p.say("| %s |", strings.Join(head, " | "))
	p.say("|%s", strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		p.say("| %s |", strings.Join(row, " | "))
	}
}

// bullets lists foreign text under a lead, or nothing.
func (p *page) bullets(lead string, items []string) {
	if len(items) == 0 {
		return
	}
	if lead != "" {
		p.say("\n%s\n", lead)
	}
	for _, s := range items {
		p.say("- %s", step(s))
	}
}

// Markdown is what WriteMarkdown writes.
func (r Report) Markdown() []byte {
	var b bytes.Buffer
	_ = r.WriteMarkdown(&b) // which nothing can go wrong with
	return b.Bytes()
}

// WriteMarkdown writes report.md's content. Paths of a job's files count from the run
// directory, where report.md lies; commands from the workspace root.
func (r Report) WriteMarkdown(w io.Writer) error {
	p := page{bufio.NewWriter(w)}
	r.result(&p)
	r.jobs(&p)
	r.patterns(&p)
	r.verdict(&p)
	r.checks(&p)
	r.patches(&p)
	r.trees(&p)
	r.blocked(&p)
	r.sessions(&p)
	r.attempts(&p)
	if len(r.Notes) > 0 {
		p.heading("Also seen during the run")
		p.bullets("", r.Notes)
	}
	r.reproduction(&p)
	r.suggest(&p)
	p.say("\n%s", strings.TrimSuffix(r.Completion(), "\n"))
	return p.Flush()
}

// mark is put where a reader could take a rehearsal for the real thing.
func (r Report) mark() string {
	if r.Rehearsal {
		return " (REHEARSAL)"
	}
	return ""
}

// String is the checks in a few words.
func (c Checks) String() string {
	var parts []string
	for _, n := range []struct {
		n    int
		word string
	}{
		{c.Passed, "passed"},
		{c.Failed, "failed"},
		{c.Timeout, "timed out"},
		{c.NotRun, "not run"},
		{c.Scripted, "scripted"},
		{c.ForArbiter, "for the arbiter"},
	} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.word))
		}
	}
	if parts == nil {
		return "none declared"
	}
	return strings.Join(parts, ", ")
}

// checksSaid is Checks in a few words. A run that has not ended may have had none yet.
func (r Report) checksSaid() string {
	if r.interim() && r.Checks == (Checks{}) {
		return "none run yet"
	}
	return r.Checks.String()
}

// String is what became of the jobs.
func (t Totals) String() string {
	text := fmt.Sprintf("%d of %s succeeded, %d failed, %d blocked, %d interrupted, %d not settled",
		t.Succeeded, figure.Count(t.Total, "job"), t.Failed, t.Blocked, t.Interrupted, t.Queued)
	if t.Unmet > 0 {
		text += ", " + figure.Count(t.Unmet, "pattern") + " not met"
	}
	if t.Skipped > 0 {
		text += fmt.Sprintf("; besides, %d not needed", t.Skipped)
	}
	return text
}

func (r Report) result(p *page) {
	result := r.block().Arbiter
	p.say("# Orchestrate report: %s%s", result, r.mark())
	if r.interim() {
		p.say("\n%s", r.standing())
	}
	if r.Rehearsal {
		p.say("\n**REHEARSAL**: the stand-in did the agents' work. Nothing here says what a real agent would have done.")
	}
	p.say("\n**Result%s: %s.** %s.", r.mark(), result, r.Totals)
	budget := r.Budget.String()
	if budget != "" {
		budget = " Budget: " + budget + "."
	}
	p.say("Run %s of %s, started %s, %s%s. Checks: %s. Cost: %s.%s",
		code(r.RunID), code(r.SpecPath), r.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC"), r.lasted(),
		exitText(r.ExitStatus), r.checksSaid(), r.Usage, budget)
	p.say("\n### What needs a person\n")
	p.bullets("", r.NeedsPerson)
	if len(r.NeedsPerson) == 0 {
		p.say("- Nothing.")
	}
	p.say("\nFiles are named from the folder of this report, %s; commands are for the workspace root.", code(r.RunDir))
}

// lasted is how long the run took, or has taken.
func (r Report) lasted() string {
	if r.interim() {
		return took(r.DurationMs) + " ago"
	}
	return "took " + took(r.DurationMs)
}

// suggest lists what the history of many runs shows.
func (r Report) suggest(p *page) {
	if len(r.Suggestions) == 0 {
		return
	}
	p.heading("Suggestions from the history of runs")
	p.say("For a person to decide about; they change nothing by themselves:\n")
	p.bullets("", r.Suggestions)
}

func exitText(status *int) string {
	if status == nil {
		return ", not ended"
	}
	return fmt.Sprintf(", exit status %d", *status)
}

func took(ms int64) string { return figure.TookMs(ms) }

// String is the cost in a few words; unknown is said, never zero.
func (u Usage) String() string {
	if u.UnknownJobs == 0 && u.Known == (runtime.Usage{}) {
		if u.running > 0 {
			return "none reported so far"
		}
		return "none, no agent ran"
	}
	s := cost(&u.Known)
	if u.UnknownJobs > 0 {
		s += silent(u.UnknownJobs)
	}
	return s
}

// silent counts the attempts that a sum is without.
func silent(attempts int) string {
	return " (" + figure.Count(attempts, "attempt") + " did not say)"
}

func cost(u *runtime.Usage) string {
	if u == nil || u.CostUSD == nil && u.InputTokens == nil && u.OutputTokens == nil {
		return "unknown"
	}
	var parts []string
	if u.CostUSD != nil {
		parts = append(parts, "$"+strconv.FormatFloat(*u.CostUSD, 'f', 4, 64))
	}
	if u.InputTokens != nil {
		parts = append(parts, figure.Count(*u.InputTokens, "token")+" in")
	}
	if u.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d out", *u.OutputTokens))
	}
	return strings.Join(parts, ", ")
}

func (r Report) jobs(p *page) {
	p.heading("Jobs" + r.mark())
	var rows [][]string
	for _, j := range r.rows() {
		rows = append(rows, jobRow(j))
	}
	p.table([]string{"job", "status", "tiers", "runtime", "model", "agent", "time", "cost", "artifacts", "error"}, rows)
}

func jobRow(j Job) []string {
	s := j.Status
	status := string(s.Status)
	if s.Rehearsal {
		status += " (REHEARSAL)"
	}
	problem := nothing
	if s.Reason != "" || !s.ReasonEvidence.Empty() {
		problem = cell(strings.TrimSpace(fmt.Sprintf("%s %s", s.Reason, s.ReasonEvidence)))
	}
	return []string{
		named(j), status, cell(strings.Trim(s.CapabilityTier+"/"+s.RiskTier, "/")), cell(j.who()), cell(s.Model), cell(s.Agent),
		took(s.DurationMs), costOf(s), artifacts(j), problem,
	}
}

// named is a job's id, and what it is for or goes on with.
func named(j Job) string {
	text := cell(j.Status.ID)
	if of := Item(j.Status); of != "" {
		text += " for " + cell(of)
	}
	if more := j.withOthers(); more != "" {
		text += " " + cell(more)
	}
	if j.Continues != "" {
		text += ", goes on with " + cell(j.Continues)
	}
	return text
}

// who did a job.
func (j Job) who() string {
	if j.gathers() {
		return "the engine"
	}
	return who(j.Status)
}

// who did a job; of one that judges the work of others, also how independent it was.
func who(s ledger.JobStatus) string {
	switch {
	case s.Rehearsal || s.Route == nil:
		return s.Runtime
	case s.Route.Independence == "":
		return cmp.Or(s.Route.Adapter(), s.Runtime)
	}
	return s.Runtime + " (" + s.Route.Independence + ")"
}

func artifacts(j Job) string {
	var parts []string
	if j.Answer != "" {
		parts = append(parts, "answer "+cell(j.Answer))
	}
	for _, a := range j.Status.Artifacts {
		parts = append(parts, fmt.Sprintf("%s %d B", located(j, a), a.Bytes))
	}
	if parts == nil {
		return nothing
	}
	return strings.Join(parts, "; ")
}

// located names an output as it is found from the run directory; one in the person's own
// checkout, from the workspace root.
func located(j Job, a ledger.Artifact) string {
	switch {
	case a.Source != "tree":
		return cell(ledger.JobPath(j.Status.ID, ledger.ArtifactsDir, a.Path))
	case j.Dir == "":
		return cell(a.Path) + " in its tree"
	case j.Status.Worktree == nil:
		return cell(path.Join(j.Dir, a.Path)) + " in your checkout"
	}
	return cell(path.Join(j.Dir, a.Path))
}

func (r Report) verdict(p *page) {
	p.heading("Verdict: " + r.block().Arbiter + r.mark())
	j := r.Judgement
	if j == nil {
		p.say("No arbiter judged this run%s.", map[bool]string{true: " yet"}[r.interim()])
		return
	}
	if j.Runtime == "" {
		p.say("No arbiter was asked%s.", unasked(j))
	} else {
		p.say("Arbiter: %s, model %s, which answered %s. Independence: %s.",
			code(j.Runtime), code(j.Model), code(j.Overall), independence(j))
	}
	p.bullets("Reasons:", j.Why)
	findings(p, j.Findings)
	changedJudges(p, j.ChangedJudges)
	jobVerdicts(p, j.Jobs)
	assertions(p, j.Jobs)
	answers(p, j.Questions)
	p.bullets("Contradictions:", lines(j.Contradictions))
	p.bullets("Claims without support:", lines(j.UnsupportedClaims))
	p.bullets("Gaps in safety:", lines(j.SafetyGaps))
}

// unasked says why. In a verdict of fail the reasons are what is wrong with the
// work, and only the mode is left to name.
func unasked(j *ledger.Judgement) string {
	if len(j.Why) == 0 || j.Verdict == arbiter.Fail {
		return " (mode " + code(j.Mode) + ")"
	}
	return ": " + step(strings.TrimPrefix(j.Why[0], "no arbiter: "))
}

func jobVerdicts(p *page, jobs []ledger.JobVerdict) {
	if len(jobs) == 0 {
		return
	}
	var rows [][]string
	for _, v := range jobs {
		var cited []string
		for _, c := range v.Citations {
			text := cell(c.Kind + " " + c.Ref)
			if !c.Found {
				text += " **not there**"
			}
			cited = append(cited, text)
		}
		rows = append(rows, []string{cell(v.Job), cell(v.Verdict), prose(v.Why.Line(maxText)), cmp.Or(strings.Join(cited, "; "), nothing)})
	}
	p.say("")
	p.table([]string{"job", "verdict", "why", "evidence"}, rows)
}

func answers(p *page, all []ledger.Answer) {
	if len(all) == 0 {
		return
	}
	var rows [][]string
	for _, a := range all {
		speaks := "for a pass"
		if !a.Passes {
			speaks = "**against**"
		}
		rows = append(rows, []string{strconv.Itoa(a.N), prose(a.Question), cell(a.Answer), speaks, prose(a.Why.Line(maxText))})
	}
	p.say("")
	p.table([]string{"", "question", "answer", "speaks", "why"}, rows)
}

func (r Report) checks(p *page) {
	var rows [][]string
	for _, j := range r.Jobs {
		for _, c := range j.Status.Checks {
			exit := nothing
			if c.ExitCode != nil {
				exit = strconv.Itoa(*c.ExitCode)
			}
			rows = append(rows, []string{cell(j.Status.ID), cell(c.Name), cell(c.Command), cell(c.Status), exit, took(c.DurationMs), cell(c.Output)})
		}
	}
	if rows == nil {
		return
	}
	p.heading("Checks" + r.mark())
	p.table([]string{"job", "check", "command", "result", "exit", "time", "output"}, rows)
}

func (r Report) trees(p *page) {
	if len(r.KeptTrees) == 0 {
		return
	}
	p.heading("Worktrees of failed attempts, kept")
	for _, t := range r.KeptTrees {
		p.say("- job %s, attempt %d: %s, branch %s", code(t.Job), t.Attempt, code(t.Path), code(t.Branch))
	}
}

func (r Report) blocked(p *page) {
	headed := false
	for _, j := range alike(r.Jobs) {
		if j.Status.Status != ledger.Blocked {
			continue
		}
		if !headed {
			p.heading("Blocked, and why")
			headed = true
		}
		which := code(j.Status.ID)
		if more := j.withOthers(); more != "" {
			which += " " + prose(more)
		}
		p.say("- %s: %s: %s", which, code(string(j.Status.Reason)), prose(j.Status.ReasonEvidence.Line(maxText)))
		if j.NextStep != "" {
			p.say("  - next: %s", step(j.NextStep))
		}
		if j.Status.Route == nil {
			continue
		}
		for _, c := range j.Status.Route.Candidates {
			p.say("  - candidate %s %s: %s", code(c.Runtime), code(c.Model), prose(strings.Join(c.Reasons, "; ")))
		}
	}
}

func (r Report) attempts(p *page) {
	var rows [][]string
	for _, j := range r.rows() {
		if len(j.Earlier) == 0 && j.Status.FallbackReason == "" {
			continue
		}
		for n, a := range append(append([]ledger.JobStatus{}, j.Earlier...), j.Status) {
			rows = append(rows, []string{
				cell(a.ID), strconv.Itoa(n + 1), cell(a.Runtime), cell(a.Model), string(a.Status),
				cell(strings.TrimSpace(fmt.Sprintf("%s %s", a.Reason, a.ReasonEvidence))), cell(a.FallbackReason),
			})
		}
	}
	if rows == nil {
		return
	}
	p.heading("Attempts and fallbacks" + r.mark())
	p.table([]string{"job", "attempt", "runtime", "model", "status", "reason", "why this runtime"}, rows)
}

func (r Report) reproduction(p *page) {
	p.heading("Reproduce")
	p.say("From the workspace root. Secrets are redacted; a job's folder has the prompt that it was given (%s).\n", ledger.PromptFile)
	for _, c := range r.Reproduce {
		if c.Job != "" {
			p.say("Job %s:\n", code(c.Job))
		}
		p.WriteString(block("sh", c.Command))
		p.say("")
	}
}
