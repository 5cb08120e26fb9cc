package arbiter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// Budget bounds the evidence in bytes where a spec says nothing. A reader of files for
// it needs no more than the budget of any one of them.
const Budget = spec.DefaultEvidenceBytes

// maxItem bounds one item of a list, in runes; maxName the name of an assertion.
const (
	maxItem = 2000
	maxName = 200
)

// Bundle is what the arbiter is shown. All texts are redacted before they get here,
// and the engine redacts the whole document once more: nothing in this package looks
// for secrets.
type Bundle struct {
	RunID       string
	Base        string // commit, "" = no repository
	Outcome     string
	Constraints []string
	NonGoals    []string
	Acceptance  []string
	Findings    []ledger.Finding // layer 1's
	Notes       []string         // the engine's own: outside changes, approvals, budget
	Gathered    []string         // what patterns of jobs came to, as the engine found
	Jobs        []JobEvidence
	MaxBytes    int // of the whole document; 0 = Budget
}

// JobEvidence is what is shown of one job.
type JobEvidence struct {
	Job    *spec.Job
	Status ledger.JobStatus
	Probed bool     // its route's runtime was probed in this run
	Commit string   // snapshot, or the base that an observer saw; "" = none
	Judges []string // changed files that judge the work
	Word   string   // how a person approved it: flag, tty; "" = nobody did
	// Earlier are the rounds of the same work that this one took the place of, oldest first.
	Earlier []string
	Folder  string // where its files are in the tree that the arbiter reads; "" = nowhere
	Texts   []Text // prompt, answer, patch, outputs, check output: in this order
}

// Text is one text from a job.
type Text struct {
	Label     string         // what it is, in a few words
	Ref       string         // where it is: a path in the run directory
	Elsewhere string         // where the whole is for one who has a folder of the job that it is not in
	Cite      string         // how to cite it as an artifact, without the job; "" = it cannot be
	Text      untrusted.Text // may be only its beginning
	Bytes     int64          // of the whole; 0 = Text is the whole
	Summary   untrusted.Text // of a patch, its diffstat: shown first when the patch does not fit
}

// Asked are the jobs that the arbiter is asked about, with their assertions.
func (b Bundle) Asked() []Asked {
	asked := make([]Asked, 0, len(b.Jobs))
	for _, e := range b.Jobs {
		a := Asked{Job: e.Job.ID}
		for _, s := range e.asserts() {
			a.Asserts = append(a.Asserts, s.name)
		}
		asked = append(asked, a)
	}
	return asked
}

// assert is an assertion as it is shown; statement is "" when the name says it all.
type assert struct{ name, statement string }

func (e JobEvidence) asserts() (all []assert) {
	for i, c := range e.Job.Checks {
		if c.Assert == "" {
			continue
		}
		a := assert{untrusted.From(check.Name(i+1, c)).Line(maxName), untrusted.From(c.Assert).Line(maxItem)}
		if a.statement == a.name {
			a.statement = ""
		}
		all = append(all, a)
	}
	return all
}

// Citable lists what an arbiter may cite of the job beside lines of files.
func (e JobEvidence) Citable() []Citation {
	id := e.Job.ID
	var cites []Citation
	for _, t := range e.Texts {
		if t.Cite != "" {
			cites = append(cites, Citation{"artifact", id + ":" + t.Cite})
		}
	}
	for _, a := range e.Status.Artifacts {
		if c := (Citation{"artifact", id + ":" + a.Path}); !slices.Contains(cites, c) {
			cites = append(cites, c)
		}
	}
	for _, c := range e.Status.Checks {
		if c.Kind == "run" && c.Status != check.NotRun {
			cites = append(cites, Citation{"command", id + ":" + c.Name})
		}
	}
	if e.Commit != "" {
		cites = append(cites, Citation{"commit", id + ":" + e.Commit})
	}
	return cites
}

// Evidence writes evidence.md, within its budget as a whole. What came from a job
// stands in fences that it cannot close. Of what does not fit each job has an equal
// share, and what one leaves goes to the others. Only what Least counts is there even where
// the budget is less.
func Evidence(b Bundle) []byte {
	most := b.MaxBytes
	if most <= 0 {
		most = Budget
	}
	run := b.section()
	sections, needs := make([]section, len(b.Jobs)), make([]int, len(b.Jobs))
	left, wanted := most-run.floor(), 0
	for i, e := range b.Jobs {
		sections[i] = e.section()
		left -= sections[i].floor()
		needs[i] = sections[i].need() - sections[i].floor()
		wanted += needs[i]
	}
	left = max(left, 0)
	first := run.fit(run.floor() + max(left/3, left-wanted))
	left = min(left, left-(len(first)-run.floor()))
	var w strings.Builder
	w.WriteString(first)
	for i, share := range shares(needs, left) {
		w.WriteString(sections[i].fit(sections[i].floor() + share))
	}
	return []byte(w.String())
}

// Least is how long the evidence is at the least, whatever its budget: every job and the
// names of its assertions are always there.
func Least(b Bundle) int {
	least := b.section().floor()
	for _, e := range b.Jobs {
		least += e.section().floor()
	}
	return least
}

// section is what is said of the run.
func (b Bundle) section() section {
	s := section{head: fmt.Sprintf("# Evidence of run %s\n", b.RunID)}
	if b.Base != "" {
		s.head += fmt.Sprintf("\nBase commit: %s\n", b.Base)
	}
	s.head += "\n## Intent\n"
	if b.Outcome == "" {
		s.head += "\nNo outcome is stated: judge each job by its prompt and its expected output.\n"
	}
	s.where = ledger.JobsFile
	var rules []string
	for _, f := range b.Findings {
		rules = append(rules, broken(f))
	}
	s.parts = []part{
		block("Outcome", "outcome", b.Outcome, s.where),
		list("Constraints", b.Constraints), list("Not asked for", b.NonGoals), list("Acceptance", b.Acceptance),
	}
	found := "\n## What the engine itself found\n"
	if len(rules)+len(b.Notes) == 0 {
		found += "\nNo rule is broken.\n"
	}
	s.parts = append(s.parts, words(found), data("Broken rules", rules), data("Results that it gathered of several jobs", b.Gathered), data("Notes", b.Notes))
	return s
}

// changedJudges is the heading of what a worker changed of what judges its work.
const changedJudges = "The worker changed what judges it"

// section is what is said of one job.
func (e JobEvidence) section() section {
	s := section{head: fmt.Sprintf("\n## Job %s\n", e.Job.ID), where: e.Job.ID}
	if e.Folder != "" {
		s.where = e.Folder
		s.head += fmt.Sprintf("\nIts files: %s/\n", e.Folder)
	}
	s.must = e.asserts()
	s.parts = []part{
		list("Status", e.facts()),
		data(changedJudges, e.Judges),
		block("Expected output", "expected output", e.Job.ExpectedOutput, ledger.JobsFile),
		list("May be cited", e.mayCite()),
		list("Checks, run by the engine", e.ran()),
		data("What the reason rests on", nonEmpty(e.Status.ReasonEvidence.Line(maxItem))),
		list("Route", e.route()),
		data("The model that answered, as it said", nonEmpty(e.Status.ObservedModel)),
	}
	for _, t := range e.Texts {
		s.texts = append(s.texts, t.part(e.where(t)))
	}
	return s
}

// where is the path at which the arbiter finds the whole of a text.
func (e JobEvidence) where(t Text) string {
	ref := cmp.Or(t.Elsewhere, t.Ref)
	if rest, ok := strings.CutPrefix(ref, e.Job.ID+"/"); ok && e.Folder != "" {
		ref = e.Folder + "/" + rest
	}
	return untrusted.From(ref).Line(0) // an output's path is the job's own
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// mayCite lists what can be cited, and how.
func (e JobEvidence) mayCite() (all []string) {
	for _, c := range e.Citable() {
		all = append(all, fmt.Sprintf("%s: %s", c.Kind, c.Ref))
	}
	if e.Commit != "" {
		all = append(all, fmt.Sprintf("file: %s:PATH:LINE, a line of a file as it is in commit %s", e.Job.ID, e.Commit))
	}
	return all
}

// approvals say how a person approved a job.
var approvals = map[string]string{
	"flag": "the person who started the run, by a flag, as it stands in the spec",
	"tty":  "the person at the terminal, who was shown exactly this",
}

// facts are what the engine recorded, the outcome first.
func (e JobEvidence) facts() []string {
	s := e.Status
	facts := []string{
		fmt.Sprintf("status %s after %d attempts in %d ms, exit status %s", s.Status, s.Attempts, s.DurationMs, exitCode(s.ExitCode)),
		fmt.Sprintf("task %s, effect %s, capability %s, risk %s", s.Task, e.Job.Effect, tier(s.CapabilityTier), s.RiskTier),
	}
	if len(e.Earlier) > 0 {
		facts = append(facts, "it takes the place of earlier rounds, which are not judged by themselves: "+strings.Join(e.Earlier, ", "))
	}
	if s.ResumedFrom != "" {
		facts = append(facts, "its agent went on with the session of an earlier job")
	}
	if s.Reason != "" {
		facts = append(facts, fmt.Sprintf("reason %s", s.Reason))
	}
	if s.Rehearsal {
		facts = append(facts, "REHEARSAL: the stand-in did this, no agent worked")
	}
	switch p := s.Proof; {
	case stated(s):
		facts = append(facts, fmt.Sprintf("carried out by an agent of the hosting session: who did it, with which model, at what cost and that it has ended (%v) is what that session states; nothing of it is proven, no sandbox held it", p.Gone))
	case p != nil:
		facts = append(facts, fmt.Sprintf("all its processes ended: %v (%s)", p.Gone, p.Level))
	}
	if stated(s) && s.TimedOut {
		facts = append(facts, "it was handed in after its timeout, which is for the account only")
	}
	if e.Word != "" || e.Job.Effect == "external-destructive" || e.Job.Destructive {
		facts = append(facts, "approved by: "+cmp.Or(approvals[e.Word], "nobody"))
	}
	if t := s.Truncated; t.Stdout+t.Stderr > 0 {
		facts = append(facts, fmt.Sprintf("bytes dropped from its streams: %d out, %d err", t.Stdout, t.Stderr))
	}
	return facts
}

func exitCode(code *int) string {
	if code == nil {
		return "none"
	}
	return fmt.Sprint(*code)
}

func (e JobEvidence) route() []string {
	r := e.Status.Route
	if r == nil {
		return []string{"none"}
	}
	probed := fmt.Sprintf("its availability was probed in this run: %v", e.Probed)
	if stated(e.Status) {
		probed = "its agents are as the hosting session told of them; nobody probed them"
	}
	facts := []string{
		fmt.Sprintf("runtime %s, model asked for %s", r.Runtime, cmp.Or(r.Model, "the runtime's default")),
		fmt.Sprintf("capability %s (floor %s, source: %s), risk %s (%s)", tier(r.Capability), cmp.Or(r.CapabilityFloor, "none"), cmp.Or(r.CapabilitySource, "none"), r.Risk, r.RiskWhy),
		fmt.Sprintf("isolation %s, access %s, controls: %s", r.Isolation, r.Access, cmp.Or(strings.Join(r.Controls, ", "), "none")),
		probed,
	}
	if len(r.Constrained) > 0 {
		facts = append(facts, "constrained: "+strings.Join(r.Constrained, "; "))
	}
	if r.Independence != "" {
		facts = append(facts, "independence: "+r.Independence)
	}
	if e.Status.FallbackReason != "" {
		facts = append(facts, "fallback, because: "+e.Status.FallbackReason)
	}
	return facts
}

// ran are the results of the checks that are commands.
func (e JobEvidence) ran() (all []string) {
	for _, c := range e.Status.Checks {
		if c.Kind != "assert" {
			all = append(all, fmt.Sprintf("%s: %s, exit status %s: %s", c.Name, c.Status, exitCode(c.ExitCode), c.Command))
		}
	}
	return all
}

// part shows one text, cut to its room; where is the path of the whole. Escape
// sequences and hidden characters show as such, to people and to the arbiter.
func (t Text) part(where string) part {
	whole := max(t.Bytes, int64(t.Text.Len()))
	title := fmt.Sprintf("%s (%d bytes, %s", untrusted.From(t.Label).Line(0), whole, where)
	if whole == 0 {
		return words("\n" + title + "): (empty)\n")
	}
	shown := t.Text.Through(func(s string) string { return strings.ReplaceAll(s, "\r\n", "␍\n") }).Block()
	missing := whole - int64(t.Text.Len())
	return fitted(func(room int) string {
		if missing == 0 {
			if all := fenced(title+")", "data", shown); len(all) <= room {
				return all
			}
		}
		return shrunk(room, len(shown)+shortest, func(n int) string {
			return fenced(title+"; shown in part)", "data", t.short(shown, missing, n, where))
		})
	})
}

// short is a text in about n bytes.
func (t Text) short(shown string, missing int64, n int, where string) string {
	if t.Summary.Empty() {
		return cut(shown, missing, n, where)
	}
	return summary(t.Summary.Block(), shown, missing, n, where)
}

// shares divides a budget: nobody gets more than it needs, what is not needed
// goes to the others in equal parts.
func shares(needs []int, budget int) []int {
	order := make([]int, len(needs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return needs[a] - needs[b] })
	out := make([]int, len(needs))
	for k, i := range order {
		out[i] = min(needs[i], budget/(len(needs)-k))
		budget -= out[i]
	}
	return out
}
