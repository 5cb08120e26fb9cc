package report

import (
	"fmt"
	"html/template"
	"iter"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// jobView is a job as the page shows it. It embeds nothing, so that a template finds its
// fields at once.
type jobView struct {
	Status   *ledger.JobStatus
	NextStep string
	Word     string // the status
	Self     link
	Tiers    string
	Who      string
	Took     string
	CostText string
	Problem  string

	// What the table does not show.
	Anchor          string
	IsArbiter       bool
	OnPath          bool
	After           template.HTML // links to what it waits for
	Parts           []partView
	Checks          []checkView
	Attempts        []attemptView
	Several         bool // attempts, or one that is not where the job was routed first
	Artifacts       []artifactView
	MoreArtifacts   int
	ArtifactsAnchor string
	Route           *ledger.Route
	Candidates      []ledger.Candidate
	Place           string // in its pattern, and whose session it goes on with
	Session         string // of a job that the hosting session carries out, or has
	Files           template.HTML
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

// planned is what is known of a job's part before it is made.
type planned struct {
	sources []source
	patch   *partView // which is read before, since the names in it can be cited
}

// details lays out the jobs' parts, each with its share of the page, so that all of the
// page can link to them; what they show is made, and read, as they are come by.
func (p *htmlPage) details() (rows, all iter.Seq[*jobView]) {
	jobs := p.r.rows()
	parts, needs := make([]planned, len(jobs)), make([]int64, len(jobs))
	for i := range jobs {
		parts[i].sources = p.sources(&jobs[i])
		for _, n := range sizes(parts[i].sources) {
			needs[i] += n
		}
	}
	most := level(needs, pageBudget)
	for i := range jobs {
		p.lay(&jobs[i], &parts[i], most)
	}
	rows = func(yield func(*jobView) bool) {
		for i := range jobs {
			if !yield(p.row(&jobs[i])) {
				return
			}
		}
	}
	return rows, func(yield func(*jobView) bool) {
		var after afterView
		for i := range jobs {
			v := p.jobView(&jobs[i], &parts[i], most)
			v.IsArbiter, v.After = jobs[i].Status.ID == ledger.ArbiterJob, after.of(p, jobs[i].After)
			if !yield(v) {
				return
			}
		}
	}
}

// lay says where in the page a job's part has what can be linked to.
func (p *htmlPage) lay(j *Job, part *planned, most int64) {
	id := j.Status.ID
	p.anchors[jobAnchor(id)] = true
	for _, src := range part.sources {
		p.anchors[src.anchor] = true
		p.places[id+":"+src.name] = src.anchor
		if src.kind == "patch" {
			v := p.part(id, src, shareOf(part.sources, most))
			p.place(id, v.Diff)
			part.patch = &v
		}
	}
	for i, c := range j.Status.Checks {
		p.anchors[checkAnchor(id, i)] = true
		p.places["command "+id+":"+c.Name] = checkAnchor(id, i)
	}
	if len(j.Status.Artifacts) > 0 {
		p.anchors["artifacts:"+id] = true
	}
	for _, a := range first(j.Status.Artifacts) {
		if key := id + ":" + a.Path; p.places[key] == "" {
			p.places[key] = "artifacts:" + id
		}
	}
}

func checkAnchor(job string, i int) string { return "check" + strconv.Itoa(i+1) + ":" + job }

// shareOf is what each of a job's files has of the job's share.
func shareOf(sources []source, most int64) int {
	return int(min(level(sizes(sources), most), mostOfFile))
}

// afterView is the links to what a job waits for, which many a job has in common with
// the one before.
type afterView struct {
	ids  []string
	html template.HTML
}

func (a *afterView) of(p *htmlPage, ids []string) template.HTML {
	if slices.Equal(ids, a.ids) {
		return a.html
	}
	all := make([]link, len(ids))
	for i, id := range ids {
		all[i] = p.job(id)
	}
	a.ids, a.html = ids, inRow(all)
	return a.html
}

// inRow are links in a row, written here since a template takes many times as long for
// each.
func inRow(all []link) template.HTML {
	var b strings.Builder
	for i, l := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		if l.Href != "" {
			b.WriteString(`<a href="` + template.HTMLEscapeString(string(l.Href)) + `">` + template.HTMLEscapeString(l.Text) + "</a>")
		} else {
			b.WriteString(template.HTMLEscapeString(l.Text))
		}
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// sources are the files of a job that are there, in the order in which a reader wants
// them.
func (p *htmlPage) sources(j *Job) (all []source) {
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

func (p *htmlPage) row(j *Job) *jobView {
	s := &j.Status
	return &jobView{
		Status: s, NextStep: j.NextStep, Word: string(s.Status), Self: p.job(s.ID), Who: j.who(), Tiers: strings.Trim(s.CapabilityTier+"/"+s.RiskTier, "/"),
		Took: took(s.DurationMs), CostText: costOf(*s), Problem: problem(*s),
	}
}

func (p *htmlPage) jobView(j *Job, part *planned, most int64) *jobView {
	v, s, id := p.row(j), j.Status, j.Status.ID
	v.Anchor, v.OnPath, v.Several = jobAnchor(id), p.longest[id], len(j.Earlier) > 0 || s.FallbackReason != ""
	v.Route, v.ArtifactsAnchor = s.Route, "artifacts:"+id
	each := shareOf(part.sources, most)
	for _, src := range part.sources {
		if src.kind == "patch" {
			v.Parts = append(v.Parts, *part.patch)
		} else {
			v.Parts = append(v.Parts, p.part(id, src, each))
		}
	}
	v.Place = j.place()
	if j.Session != nil {
		v.Session = j.Session.Text(p.r.asOf) + "; timeout " + j.Session.late(*j)
	}
	v.Checks = p.checks(s)
	if v.Several {
		v.Attempts = p.attempts(*j)
	}
	v.Artifacts, v.MoreArtifacts = p.artifacts(s), max(0, len(s.Artifacts)-mostListed)
	if s.Route != nil {
		v.Candidates = first(s.Route.Candidates)
	}
	v.Files = inRow(p.existing(id, ledger.CommandFile, ledger.RequestFile, ledger.LeaseFile, ledger.SubmissionFile, ledger.PromptFile, ledger.StdoutFile, ledger.StderrFile, ledger.OutputFile, ledger.PatchFile, ledger.DiffstatFile,
		ledger.EventsFile, ledger.ExitFile, ledger.StatusFile, ledger.SessionFile, ledger.EnvironmentFile, ledger.EvidenceFile, ledger.VerdictFile))
	return v
}

// part shows a file, as much of it as its share allows.
func (p *htmlPage) part(job string, src source, most int) partView {
	rel := ledger.JobPath(job, src.name)
	v := partView{Kind: src.kind, Anchor: src.anchor, Title: src.title, Open: src.open}
	v.File = link{Text: rel, Href: relative(rel), Note: byteText(src.size)}
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
		room := 2*most + 1024
		if (len(x.Head)+len(x.Tail))*heaviest <= room || most < 64 {
			return x
		}
		weight := weight(kind, x)
		if weight <= room {
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

// heaviest is more than any byte of a file takes of the page: a line of a patch that begins
// a file's part is eleven and takes diffFrame.
const heaviest = 20

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
		v := checkView{Check: c, Anchor: checkAnchor(s.ID, i), Exit: nothing, Took: took(c.DurationMs)}
		if c.ExitCode != nil {
			v.Exit = strconv.Itoa(*c.ExitCode)
		}
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
	for _, a := range first(s.Artifacts) {
		v := artifactView{Artifact: a, Place: link{Text: a.Path}, Size: byteText(a.Bytes)}
		key := s.ID + ":" + a.Path
		switch a.Source {
		case "artifacts":
			v.Place.Href = p.file(ledger.JobPath(s.ID, ledger.ArtifactsDir, a.Path)).Href
		case "answer":
			v.Place.Href = p.fragment("answer:" + s.ID)
		default:
			if at := p.places[key]; at != "artifacts:"+s.ID { // where it stands itself
				v.Place.Href = p.fragment(at)
			}
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
	if s.Runtime == handoff.Runtime && s.Usage == nil {
		return "not reported"
	}
	return cost(s.Usage)
}

// problem is why an attempt did not succeed, "" when nothing is wrong.
func problem(s ledger.JobStatus) string {
	return strings.Trim(string(s.Reason)+": "+s.ReasonEvidence.Line(maxStep), ": ")
}
