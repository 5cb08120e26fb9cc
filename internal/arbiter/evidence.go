package arbiter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// Budget bounds the texts of the evidence in bytes, all jobs together. A reader
// of files for it needs no more than this of any one of them.
const Budget = 200 << 10

// maxItem bounds one item of a list, in runes.
const maxItem = 2000

// Bundle is what the arbiter is shown. All texts are redacted already.
type Bundle struct {
	RunID       string
	Base        string // commit, "" = no repository
	Outcome     string
	Constraints []string
	NonGoals    []string
	Acceptance  []string
	Findings    []ledger.Finding // layer 1's
	Notes       []string         // the engine's own: outside changes, approvals, budget
	Jobs        []JobEvidence
	MaxBytes    int // of the texts; 0 = Budget
}

// JobEvidence is what is shown of one job.
type JobEvidence struct {
	Job    *spec.Job
	Status ledger.JobStatus
	Probed bool     // its route's runtime was probed in this run
	Commit string   // snapshot, or the base that an observer saw; "" = none
	Judges []string // changed files that judge the work
	Word   string   // how a person approved it: flag, tty; "" = nobody did
	Texts  []Text   // prompt, answer, patch, outputs, check output: in this order
}

// Text is one text from a job.
type Text struct {
	Label string         // what it is, in a few words
	Ref   string         // where it is: a path in the run directory
	Cite  string         // how to cite it as an artifact, without the job; "" = it cannot be
	Text  untrusted.Text // may be only its beginning
	Bytes int64          // of the whole; 0 = Text is the whole
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

// Evidence writes evidence.md. What came from a job stands in fences that it
// cannot close. Texts that are together over the budget are cut in the middle:
// each job has an equal share, and what one leaves goes to the others.
func Evidence(b Bundle) []byte {
	most := b.MaxBytes
	if most <= 0 {
		most = Budget
	}
	sizes := make([]int, len(b.Jobs))
	for i, j := range b.Jobs {
		for _, t := range j.Texts {
			sizes[i] += t.Text.Len()
		}
	}
	var w writer
	w.intent(b)
	for i, share := range shares(sizes, most) {
		w.job(b.Jobs[i], share)
	}
	return []byte(w.String())
}

// writer builds the document.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// list writes a titled list of one-line items, or nothing.
func (w *writer) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	w.line("\n%s:", title)
	for _, s := range items {
		w.line("- %s", untrusted.From(s).Line(maxItem))
	}
}

// data writes a titled list of items that hold words of a job: names that it
// chose, what it said of itself. They stand in a fence like all else it wrote.
func (w *writer) data(title string, items []string) {
	if len(items) == 0 {
		return
	}
	var b strings.Builder
	for _, s := range items {
		b.WriteString("- " + untrusted.From(s).Line(maxItem) + "\n")
	}
	w.line("\n%s:\n", title)
	w.WriteString(untrusted.From(b.String()).Fence("data"))
}

func (w *writer) intent(b Bundle) {
	w.line("# Evidence of run %s", b.RunID)
	if b.Base != "" {
		w.line("\nBase commit: %s", b.Base)
	}
	w.line("\n## Intent")
	if b.Outcome == "" {
		w.line("\nNo outcome is stated: judge each job by its prompt and its expected output.")
	} else {
		w.line("\nOutcome:\n")
		w.WriteString(untrusted.From(b.Outcome).Fence("outcome"))
	}
	w.list("Constraints", b.Constraints)
	w.list("Not asked for", b.NonGoals)
	w.list("Acceptance", b.Acceptance)
	var rules []string
	for _, f := range b.Findings {
		rules = append(rules, broken(f))
	}
	w.line("\n## What the engine itself found")
	if len(rules)+len(b.Notes) == 0 {
		w.line("\nNo rule is broken.")
	}
	w.data("Broken rules", rules)
	w.data("Notes", b.Notes)
}

func (w *writer) job(e JobEvidence, share int) {
	w.line("\n## Job %s", e.Job.ID)
	w.line("\nExpected output:\n")
	w.WriteString(untrusted.From(e.Job.ExpectedOutput).Fence("expected output"))
	w.facts(e)
	w.route(e)
	w.checks(e)
	w.data("Changed files that judge the work (tests, build, check scripts): look at the change itself", e.Judges)
	var cites []string
	for _, c := range e.Citable() {
		cites = append(cites, fmt.Sprintf("%s: %s", c.Kind, c.Ref))
	}
	if e.Commit != "" {
		cites = append(cites, fmt.Sprintf("file: %s:PATH:LINE, a line of a file as it is in commit %s", e.Job.ID, e.Commit))
	}
	w.list("May be cited", cites)
	sizes := make([]int, len(e.Texts))
	for i, t := range e.Texts {
		sizes[i] = t.Text.Len()
	}
	for i, part := range shares(sizes, share) {
		w.text(e.Texts[i], part)
	}
}

// approvals say how a person approved a job.
var approvals = map[string]string{
	"flag": "the person who started the run, by a flag, as it stands in the spec",
	"tty":  "the person at the terminal, who was shown exactly this",
}

func (w *writer) facts(e JobEvidence) {
	s := e.Status
	facts := []string{
		fmt.Sprintf("task %s, effect %s, capability %s, risk %s", s.Task, e.Job.Effect, tier(s.CapabilityTier), s.RiskTier),
		fmt.Sprintf("status %s after %d attempts in %d ms, exit status %s", s.Status, s.Attempts, s.DurationMs, exitCode(s.ExitCode)),
	}
	if s.Reason != "" {
		facts = append(facts, fmt.Sprintf("reason %s", s.Reason))
	}
	if s.Rehearsal {
		facts = append(facts, "REHEARSAL: the stand-in did this, no agent worked")
	}
	if p := s.Proof; p != nil {
		facts = append(facts, fmt.Sprintf("all its processes ended: %v (%s)", p.Gone, p.Level))
	}
	if e.Word != "" || e.Job.Effect == "external-destructive" || e.Job.Destructive {
		facts = append(facts, "approved by: "+cmp.Or(approvals[e.Word], "nobody"))
	}
	if t := s.Truncated; t.Stdout+t.Stderr > 0 {
		facts = append(facts, fmt.Sprintf("bytes dropped from its streams: %d out, %d err", t.Stdout, t.Stderr))
	}
	w.list("Status, as the engine recorded it", facts)
	if !s.ReasonEvidence.Empty() {
		w.data("What the reason rests on", []string{s.ReasonEvidence.Line(maxItem)})
	}
}

func exitCode(code *int) string {
	if code == nil {
		return "none"
	}
	return fmt.Sprint(*code)
}

func (w *writer) route(e JobEvidence) {
	r := e.Status.Route
	if r == nil {
		w.list("Route", []string{"none"})
		return
	}
	facts := []string{
		fmt.Sprintf("runtime %s, model asked for %s", r.Runtime, cmp.Or(r.Model, "the runtime's default")),
		fmt.Sprintf("capability %s (floor %s, source: %s), risk %s (%s)", tier(r.Capability), cmp.Or(r.CapabilityFloor, "none"), cmp.Or(r.CapabilitySource, "none"), r.Risk, r.RiskWhy),
		fmt.Sprintf("isolation %s, access %s, controls: %s", r.Isolation, r.Access, cmp.Or(strings.Join(r.Controls, ", "), "none")),
		fmt.Sprintf("its availability was probed in this run: %v", e.Probed),
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
	w.list("Route", facts)
	if e.Status.ObservedModel != "" {
		w.data("The model that answered, as it said", []string{e.Status.ObservedModel})
	}
}

func (w *writer) checks(e JobEvidence) {
	var ran, asserts []string
	for _, c := range e.Status.Checks {
		if c.Kind == "assert" {
			asserts = append(asserts, c.Command)
			continue
		}
		ran = append(ran, fmt.Sprintf("%s: %s, exit status %s: %s", c.Name, c.Status, exitCode(c.ExitCode), c.Command))
	}
	w.list("Checks, run by the engine", ran)
	w.list("Assertions for you to check", asserts)
}

// text writes one text, cut in the middle to its share. Escape sequences and
// hidden characters show as such, to people and to the arbiter.
func (w *writer) text(t Text, share int) {
	whole := max(t.Bytes, int64(t.Text.Len()))
	ref := untrusted.From(t.Ref).Line(0) // an output's path is the job's own
	w.line("\n%s (%d bytes, %s):\n", untrusted.From(t.Label).Line(0), whole, ref)
	if whole == 0 {
		w.line("(empty)")
		return
	}
	shown := t.Text.Through(func(s string) string { return strings.ReplaceAll(cut(s, whole, share, ref), "\r\n", "␍\n") })
	w.WriteString(untrusted.From(shown.Block()).Fence("data"))
}

// cut keeps the beginning and the end of a text and says what is left out.
func cut(s string, whole int64, share int, ref string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= share && int64(len(s)) >= whole {
		return s
	}
	head, tail := s, ""
	if len(s) > share {
		head = wholeRunes(s[:share-share/3], true)
		if int64(len(s)) >= whole { // the end is known
			tail = wholeRunes(s[len(s)-share/3:], false)
		}
	}
	left := whole - int64(len(head)+len(tail))
	return fmt.Sprintf("%s\n[… %d bytes left out, the whole is in %s …]\n%s", head, left, ref, tail)
}

// wholeRunes drops a rune that was cut at the end (or at the beginning).
func wholeRunes(s string, end bool) string {
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if end {
			r, n = utf8.DecodeLastRuneInString(s)
		}
		if r != utf8.RuneError || n != 1 {
			return s
		}
		if end {
			s = s[:len(s)-1]
		} else {
			s = s[1:]
		}
	}
	return s
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
