package report

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// jobView is a job as the page shows it.
type jobView struct {
	Job
	Anchor          string
	Word            string // the status
	Self            link
	IsArbiter       bool
	OnPath          bool
	Tiers           string
	Who             string
	Took            string
	CostText        string
	Problem         string
	After           []link
	Parts           []partView
	Checks          []checkView
	Attempts        []attemptView
	Several         bool // attempts, or one that is not where the job was routed first
	Artifacts       []artifactView
	MoreArtifacts   int
	ArtifactsAnchor string
	Route           *ledger.Route
	Candidates      []ledger.Candidate
	FileLinks       []link
}

// partView is a file of the job, or as much of it as there is room for.
type partView struct {
	Kind   string // text, output, patch or events
	Open   bool
	Anchor string
	Title  string
	File   link
	Head   string
	Tail   string
	Left   string // what is left out between them, "" = nothing
	Diff   []diffView
}

type checkView struct {
	ledger.Check
	Anchor string
	Exit   string
	Took   string
	Output link
}

type attemptView struct {
	ledger.JobStatus
	N        int
	Took     string
	CostText string
	Problem  string
	Links    []link
}

type artifactView struct {
	ledger.Artifact
	Place link
	Size  string
}

// source is a file that a job's part shows.
type source struct {
	kind, anchor, title string
	name                string // in the job's directory
	size                int64
	open                bool // it tells what went wrong
}

// details makes the jobs' parts, each with its share of the page.
func (p *htmlPage) details() (all []jobView) {
	rows := p.r.rows()
	sources, needs := make([][]source, len(rows)), make([]int64, len(rows))
	for i, j := range rows {
		sources[i] = p.sources(j)
		for _, n := range sizes(sources[i]) {
			needs[i] += n
		}
		p.anchors[jobAnchor(j.Status.ID)] = true
	}
	most, longest := level(needs, pageBudget), p.r.criticalPath()
	for i, j := range rows {
		v := p.jobView(j, sources[i], most)
		v.OnPath, v.IsArbiter = longest[j.Status.ID], i == len(p.r.Jobs)
		all = append(all, v)
	}
	return all
}

// sources are the files of a job that are there, in the order in which a reader wants
// them.
func (p *htmlPage) sources(j Job) (all []source) {
	id := j.Status.ID
	add := func(kind, anchor, title, name string, open bool) {
		if n, ok := p.files.Size(ledger.JobPath(id, name)); ok && n > 0 {
			all = append(all, source{kind, anchor + ":" + id, title, name, n, open})
		}
	}
	add("text", "answer", "Answer", ledger.OutputFile, false)
	add("output", "stat", "What changed, file by file", ledger.DiffstatFile, false)
	add("patch", "patch", "Patch", ledger.PatchFile, false)
	for i, c := range j.Status.Checks {
		n := strconv.Itoa(i + 1)
		add("output", "out"+n, "Output of check "+c.Name, ledger.ChecksDir+"/"+n+".out", !check.OK(c))
		add("output", "err"+n, "Errors of check "+c.Name, ledger.ChecksDir+"/"+n+".err", !check.OK(c))
	}
	if j.Status.Status != ledger.Success {
		add("output", "stderr", "Standard error", ledger.StderrFile, false)
	}
	add("text", "prompt", "Prompt", ledger.PromptFile, false)
	add("events", "events", "Events", ledger.EventsFile, false)
	return all
}

// sizes are what each would take if there were room for all.
func sizes(sources []source) []int64 {
	all := make([]int64, len(sources))
	for i, s := range sources {
		all[i] = min(s.size, mostOfFile)
	}
	return all
}

func (p *htmlPage) jobView(j Job, sources []source, most int64) jobView {
	s, id := j.Status, j.Status.ID
	v := jobView{
		Job: j, Anchor: jobAnchor(id), Word: string(s.Status), Several: len(j.Earlier) > 0 || s.FallbackReason != "", Self: p.job(id), Who: who(s), Tiers: strings.Trim(s.CapabilityTier+"/"+s.RiskTier, "/"),
		Took: took(s.DurationMs), CostText: costOf(s), Problem: problem(s), Route: s.Route, ArtifactsAnchor: "artifacts:" + id,
	}
	for _, dep := range j.After {
		v.After = append(v.After, p.job(dep))
	}
	each := level(sizes(sources), most)
	for _, src := range sources {
		v.Parts = append(v.Parts, p.part(id, src, int(min(each, mostOfFile))))
	}
	v.Checks = p.checks(s)
	v.Attempts = p.attempts(j)
	v.Artifacts, v.MoreArtifacts = p.artifacts(s), max(0, len(s.Artifacts)-mostListed)
	if s.Route != nil {
		v.Candidates = first(s.Route.Candidates)
	}
	v.FileLinks = p.existing(id, ledger.CommandFile, ledger.PromptFile, ledger.StdoutFile, ledger.StderrFile, ledger.OutputFile, ledger.PatchFile, ledger.DiffstatFile,
		ledger.EventsFile, ledger.ExitFile, ledger.StatusFile, ledger.SessionFile, ledger.EnvironmentFile, ledger.EvidenceFile, ledger.VerdictFile)
	return v
}

// part shows a file, as much of it as its share allows.
func (p *htmlPage) part(job string, src source, most int) partView {
	rel := ledger.JobPath(job, src.name)
	v := partView{Kind: src.kind, Anchor: src.anchor, Title: src.title, File: p.file(rel), Open: src.open}
	p.anchors[src.anchor] = true
	p.places[job+":"+src.name] = src.anchor
	x := p.read(rel, src.kind, most)
	if x.Left > 0 {
		v.Left = fmt.Sprintf("%s left out; the whole is in", byteText(x.Left))
	}
	switch src.kind {
	case "patch":
		v.Diff = diff(x.Head)
		if x.Tail != "" {
			v.Diff = append(v.Diff, diffView{Note: v.Left, Groups: grouped(x.Tail)})
		}
		p.place(job, v.Diff)
	case "events":
		v.Head, v.Tail = told(x.Head, x.Tail)
	default:
		v.Head, v.Tail = x.Head, x.Tail
	}
	return v
}

// read takes so much of a file that what the page needs for it, too, stays within twice
// the share: characters that have to be made visible take more room than they had.
func (p *htmlPage) read(rel, kind string, most int) Excerpt {
	for {
		x := p.files.Read(rel, most)
		room, weight := 2*most+1024, weight(kind, x)
		if weight <= room || most < 64 {
			return x
		}
		most = most * room / weight
	}
}

// weight is about how many bytes of the page an excerpt takes.
func weight(kind string, x Excerpt) int {
	size := func(s string) int {
		return len(template.HTMLEscapeString(untrusted.From(s).Block())) + 4*strings.Count(s, "+") // which templates escape too
	}
	switch kind {
	case "events": // shown shorter than they are
		head, tail := told(x.Head, x.Tail)
		return size(head) + size(tail)
	case "patch":
		n := size(x.Head) + size(x.Tail)
		for _, f := range append(diff(x.Head), diffView{Groups: grouped(x.Tail)}) {
			n += diffFrame + groupFrame*len(f.Groups)
		}
		return n
	}
	return size(x.Head) + size(x.Tail)
}

// What the markup around a file's part of a patch, and around a group of its lines,
// takes of the page, in bytes.
const (
	diffFrame  = 200
	groupFrame = 16
)

// place remembers where a patch shows each file.
func (p *htmlPage) place(job string, files []diffView) {
	for i := range files {
		if files[i].Name == "" {
			continue
		}
		files[i].Anchor = fmt.Sprintf("file%d:%s", i+1, job)
		p.anchors[files[i].Anchor] = true
		p.places[job+":"+files[i].Name] = files[i].Anchor
	}
}

func (p *htmlPage) checks(s ledger.JobStatus) (all []checkView) {
	for i, c := range s.Checks {
		n := strconv.Itoa(i + 1)
		v := checkView{Check: c, Anchor: "check" + n + ":" + s.ID, Exit: nothing, Took: took(c.DurationMs)}
		if c.ExitCode != nil {
			v.Exit = strconv.Itoa(*c.ExitCode)
		}
		p.anchors[v.Anchor] = true
		p.places["command "+s.ID+":"+c.Name] = v.Anchor
		v.Output = link{Text: nothing}
		if href := p.fragment("out" + n + ":" + s.ID); href != "" {
			v.Output = link{Text: "output", Href: href}
		} else if l := p.file(c.Output); c.Output != "" && l.Href != "" {
			v.Output = link{Text: "empty", Href: l.Href}
		}
		all = append(all, v)
	}
	return all
}

func (p *htmlPage) attempts(j Job) (all []attemptView) {
	for n, a := range j.attempts() {
		v := attemptView{JobStatus: a, N: n + 1, Took: took(a.DurationMs), CostText: costOf(a), Problem: problem(a)}
		if n < len(j.Earlier) {
			v.N = a.Attempts
			v.Links = p.existing(ledger.JobPath(a.ID, ledger.AttemptDir(a.Attempts)),
				ledger.OutputFile, ledger.PatchFile, ledger.StdoutFile, ledger.StderrFile, ledger.EventsFile, ledger.StatusFile)
		}
		all = append(all, v)
	}
	return all
}

func (p *htmlPage) artifacts(s ledger.JobStatus) (all []artifactView) {
	if len(s.Artifacts) > 0 {
		p.anchors["artifacts:"+s.ID] = true
	}
	for _, a := range first(s.Artifacts) {
		v := artifactView{Artifact: a, Place: link{Text: a.Path}, Size: byteText(a.Bytes)}
		key := s.ID + ":" + a.Path
		switch a.Source {
		case "artifacts":
			v.Place.Href = p.file(ledger.JobPath(s.ID, ledger.ArtifactsDir, a.Path)).Href
		case "answer":
			v.Place.Href = p.fragment("answer:" + s.ID)
		default:
			v.Place.Href = p.fragment(p.places[key])
		}
		if p.places[key] == "" {
			p.places[key] = "artifacts:" + s.ID
		}
		all = append(all, v)
	}
	return all
}

// costOf is what an attempt cost; a plain program uses no model.
func costOf(s ledger.JobStatus) string {
	if s.Runtime == "exec" || s.Attempts == 0 {
		return nothing
	}
	return cost(s.Usage)
}

// problem is why an attempt did not succeed, "" when nothing is wrong.
func problem(s ledger.JobStatus) string {
	return strings.Trim(string(s.Reason)+": "+s.ReasonEvidence.Line(maxStep), ": ")
}
