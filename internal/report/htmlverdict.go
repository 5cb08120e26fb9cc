package report

import (
	"html/template"
	"regexp"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// verdictView is the judgement with all that it names linked to its place.
type verdictView struct {
	ledger.Judgement
	Asked   bool
	Unasked string
	Reasons []string
	Broken  []findingView
	Judges  []changedView
	Of      []ofJobView
	Answers []answerView
	Lists   []listView
	File    link
}

type findingView struct {
	ledger.Finding
	Job      link
	Evidence []link
}

type changedView struct {
	Job   link
	Paths []link
}

type ofJobView struct {
	Job        link
	Verdict    string
	Why        string
	Citations  []citedView
	Assertions []assertedView
}

type citedView struct {
	ledger.Citation
	Href template.URL
}

type assertedView struct{ Name, Holds, Why string }

type answerView struct {
	ledger.Answer
	Said string
}

type listView struct {
	Title string
	Items []string
}

func (p *htmlPage) verdict() *verdictView {
	j := p.r.Judgement
	if j == nil {
		return nil
	}
	v := &verdictView{Judgement: *j, Asked: j.Runtime != "", Unasked: whyUnasked(j), Reasons: first(j.Why), File: p.file(ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile))}
	for _, f := range first(j.Findings) {
		w := findingView{Finding: f, Job: p.job(f.Job)}
		for _, rel := range first(f.Evidence) {
			w.Evidence = append(w.Evidence, p.evidence(rel))
		}
		v.Broken = append(v.Broken, w)
	}
	for _, c := range j.ChangedJudges {
		w := changedView{Job: p.job(c.Job)}
		for _, name := range first(c.Paths) {
			w.Paths = append(w.Paths, link{Text: name, Href: p.fileOf(c.Job, name)})
		}
		v.Judges = append(v.Judges, w)
	}
	for _, o := range j.Jobs {
		v.Of = append(v.Of, p.ofJob(o))
	}
	for _, a := range j.Questions {
		v.Answers = append(v.Answers, answerView{a, a.Why.Line(maxStep)})
	}
	v.Lists = []listView{
		{"Contradictions", shown(j.Contradictions)},
		{"Claims without support", shown(j.UnsupportedClaims)},
		{"Gaps in safety", shown(j.SafetyGaps)},
		{"Unresolved questions", shown(j.UnresolvedQuestions)},
	}
	return v
}

func shown(texts []untrusted.Text) []string { return lines(first(texts)) }

// whyUnasked says why no arbiter was asked. In a verdict of fail the reasons are what is
// wrong with the work, and only the mode is left to name.
func whyUnasked(j *ledger.Judgement) string {
	if len(j.Why) == 0 || j.Verdict == arbiter.Fail {
		return "mode " + j.Mode
	}
	return strings.TrimPrefix(j.Why[0], "no arbiter: ")
}

// evidence links what shows a finding to its place in the page, or else to the file.
func (p *htmlPage) evidence(rel string) link {
	l := p.file(rel)
	if job, name, ok := strings.Cut(rel, "/"); ok {
		if href := p.fragment(p.places[job+":"+name]); href != "" {
			l.Href = href
		}
	}
	return l
}

func (p *htmlPage) ofJob(o ledger.JobVerdict) ofJobView {
	v := ofJobView{Job: p.job(o.Job), Verdict: o.Verdict, Why: o.Why.Line(maxStep)}
	for _, c := range first(o.Citations) {
		w := citedView{Citation: c}
		if c.Found {
			w.Href = p.cited(c)
		}
		v.Citations = append(v.Citations, w)
	}
	for _, a := range first(o.Assertions) {
		v.Assertions = append(v.Assertions, assertedView{a.Name, a.Holds, a.Why.Line(maxStep)})
	}
	return v
}

// atLine ends a citation of a file: a line, or several.
var atLine = regexp.MustCompile(`:\d+(-\d+)?$`)

// cited is the place of what is cited: as near as the page has it.
func (p *htmlPage) cited(c ledger.Citation) template.URL {
	job, ref, _ := strings.Cut(c.Ref, ":")
	switch c.Kind {
	case "command":
		if href := p.fragment(p.places["command "+c.Ref]); href != "" {
			return href
		}
	case "file":
		return p.fileOf(job, strings.TrimPrefix(atLine.ReplaceAllString(ref, ""), "./"))
	case "artifact":
		if href := p.fragment(p.places[c.Ref]); href != "" {
			return href
		}
	case "commit":
		return p.fileOf(job, "")
	}
	return p.fragment(jobAnchor(job))
}

// fileOf is where the page shows a file as a job left it: its part of the patch, the
// patch, or else the job.
func (p *htmlPage) fileOf(job, name string) template.URL {
	for _, anchor := range []string{p.places[job+":"+name], "patch:" + job} {
		if href := p.fragment(anchor); href != "" {
			return href
		}
	}
	return p.fragment(jobAnchor(job))
}
