package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"iter"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report/picture"
)

// Files is the run directory as far as the page shows parts of it. What it gives is
// redacted.
type Files interface {
	// Size is a file's length; ok is false where there is none, or no regular file.
	Size(rel string) (bytes int64, ok bool)
	// Read gives at most so many bytes of a file, from its beginning and its end.
	Read(rel string, most int) Excerpt
}

// Excerpt is what was read of a file.
type Excerpt struct {
	Head string
	Tail string // "" where Head goes to the end
	Left int64  // bytes between them
}

// pageBudget bounds, in bytes, what of the run directory's files is in the page. With
// 200 jobs it stays below 5 MB.
const pageBudget = 2 << 20

// mostOfFile bounds one file's part of that.
const mostOfFile = 256 << 10

// mostListed bounds lists whose length is in the hands of agents.
const mostListed = 100

// What is seen at once on the first screen; the rest is a step away.
const (
	mostReasons = 5
	mostNeeds   = 10
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

// pageTemplate is parsed when the first page is made: most commands make none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"took": took, "bytes": byteText, "symbol": symbol,
		"style": func() template.CSS { return picture.Style() + template.CSS(pageCSS) }, //nolint:gosec // our own
		"when":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	}).Parse(pageHTML))
})

// HTML is what WriteHTML writes.
func (r Report) HTML(files Files) ([]byte, error) {
	var buf bytes.Buffer
	if err := r.WriteHTML(&buf, files); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// WriteHTML writes report.html's content: one document that needs no script, no network
// and no other file, and links only within itself and to files of the run directory, where
// it lies. Of a run of many jobs no more than one's part is held at a time.
func (r Report) WriteHTML(w io.Writer, files Files) error {
	p := htmlPage{r: r, longest: r.criticalPath(), files: files, anchors: map[string]bool{}, places: map[string]string{}}
	out := &visible{to: w}
	if err := errors.Join(pageTemplate().Execute(out, p.view()), out.rest()); err != nil {
		return fmt.Errorf("report.html: %w", err)
	}
	return nil
}

// htmlPage is a page being made.
type htmlPage struct {
	r       Report
	longest map[string]bool // the critical path
	files   Files
	anchors map[string]bool   // fragments that are there to be linked to
	places  map[string]string // what may be cited, as JOB:PATH or command JOB:CHECK -> its fragment
}

// pageView is what the template shows.
type pageView struct {
	Report
	Word             string // the verdict
	JudgedBy         string
	BaseShort        string
	Mark             string
	Lasted           string
	Standing         string // what the reader of an interim report must know first
	Exit             string
	CostText         string
	CheckText        string
	BudgetText       string
	Reasons          []string // the first of them
	MoreReasons      int
	Needs, MoreNeeds []string // those that are seen at once, and the others
	MoreFrom         int
	Graph, Timeline  func() template.HTML // drawn when they are shown; nil = there is nothing to draw
	Unneeded         []string             // of patterns
	Rows             iter.Seq[*jobView]   // made when they are shown, like the next
	Details          iter.Seq[*jobView]
	Judged           *verdictView
	Waiting          []patchView
	InPlace          []patchView
	Approved         []approvalView
	Trees            []Tree
	Commands         []commandView
	Block            string
	FileLinks        []link
}

type approvalView struct {
	ledger.Approval
	Job    link
	ByFlag bool
}

type commandView struct {
	Job     link
	Command string
}

// patchView is a patch with where it is.
type patchView struct {
	Patch
	Job      link
	After    link
	File     link
	Command  string
	BaseText string
}

// link is a text and where it leads, "" = nowhere.
type link struct {
	Text string
	Href template.URL
	Note string
}

func (p *htmlPage) view() pageView {
	r := p.r
	v := pageView{
		Report: r, Word: r.block().Arbiter, JudgedBy: judgedBy(r.Judgement), BaseShort: short(r.Base), Mark: r.mark(), Lasted: r.lasted(), Exit: strings.TrimPrefix(exitText(r.ExitStatus), ", "), CostText: r.Usage.String(), CheckText: r.checksSaid(), BudgetText: r.Budget.String(),
		Trees: r.KeptTrees, Block: r.Completion(),
	}
	if nodes := r.nodes(p.longest); len(nodes) > 0 {
		v.Graph = func() template.HTML { return picture.Graph(nodes) }
	}
	if rows := r.course(p.longest); len(rows) > 0 {
		v.Timeline = func() template.HTML { return picture.Timeline(rows, r.StartedAt, r.drawnTo()) }
	}
	v.Unneeded = r.unneeded()
	v.Rows, v.Details = p.details() // before all that links to them
	v.Judged = p.verdict()
	seen := min(len(r.NeedsPerson), mostNeeds)
	v.Needs, v.MoreNeeds, v.MoreFrom = r.NeedsPerson[:seen], r.NeedsPerson[seen:], seen+1
	if r.interim() {
		v.Standing = strings.ReplaceAll(r.standing(), "**", "")
	}
	if r.Judgement != nil {
		v.Reasons = r.Judgement.Why[:min(len(r.Judgement.Why), mostReasons)]
		v.MoreReasons = len(r.Judgement.Why) - len(v.Reasons)
	}
	for _, x := range r.Patches {
		w := patchView{Patch: x, Job: p.job(x.Job), File: p.file(x.Path), Command: x.Apply, BaseText: short(x.Base)}
		if x.After != "" {
			w.After = p.job(x.After)
		}
		if x.Applied {
			w.Command = x.Undo
			v.InPlace = append(v.InPlace, w)
		} else {
			v.Waiting = append(v.Waiting, w)
		}
	}
	v.Approved = append(p.approved(true), p.approved(false)...)
	v.Commands = p.commands()
	v.FileLinks = p.existing("", ledger.ReportFile, ledger.SpecFile, ledger.JobsFile, ledger.RuntimesFile, ledger.ApprovalsFile, ledger.JournalFile, ledger.StateFile)
	return v
}

// approved are the approvals that were given by a flag, or all others.
func (p *htmlPage) approved(byFlag bool) (all []approvalView) {
	for _, a := range p.r.Approvals {
		if (a.By == "flag") == byFlag {
			all = append(all, approvalView{a, p.job(a.Job), byFlag})
		}
	}
	return all
}

// mostCommand bounds a command that is shown: a part of one is of no use.
const mostCommand = 4 << 10

func (p *htmlPage) commands() (all []commandView) {
	for _, c := range p.r.Reproduce {
		if c.Job == "" {
			all = append(all, commandView{Command: c.Command})
		} else if len(c.Command) <= mostCommand {
			all = append(all, commandView{Job: p.job(c.Job), Command: c.Command})
		}
	}
	return all
}

func judgedBy(j *ledger.Judgement) string {
	if j == nil || j.Runtime == "" {
		return "not asked"
	}
	return strings.TrimSpace(j.Runtime+" "+j.Model) + ", " + cmp.Or(j.Independence, "independence not known")
}

func (r Report) nodes(longest map[string]bool) []picture.Node {
	var nodes []picture.Node
	for _, j := range alike(r.needed()) {
		s := j.Status
		detail := strings.Trim(s.Runtime+" "+s.Model, " ")
		switch {
		case j.gathers():
			detail = cmp.Or(j.decided(), j.Pattern.String())
		case s.Attempts > 0:
			detail += ", " + took(s.DurationMs)
		case len(j.Alike) > 0:
			detail = fmt.Sprintf("and %d more", len(j.Alike))
		}
		nodes = append(nodes, picture.Node{
			ID: s.ID, Status: string(s.Status), Detail: strings.TrimPrefix(detail, ", "), Href: "#" + jobAnchor(s.ID), After: j.After, OnPath: longest[s.ID],
		})
	}
	return nodes
}

// drawnTo is where the timeline ends.
func (r Report) drawnTo() time.Time {
	if r.EndedAt != nil {
		return *r.EndedAt
	}
	return r.StartedAt.Add(time.Duration(r.DurationMs) * time.Millisecond)
}

// jobAnchor is the fragment of a job's part; no id has a colon, so that none of the
// other fragments can be one.
func jobAnchor(id string) string { return "job-" + id }

// job links to a job's part.
func (p *htmlPage) job(id string) link {
	return link{Text: id, Href: p.fragment(jobAnchor(id))}
}

// fragment is a link to a place in the page, "" if it is not there.
func (p *htmlPage) fragment(anchor string) template.URL {
	if !p.anchors[anchor] {
		return ""
	}
	return template.URL("#" + escaped(anchor)) //nolint:gosec // a fragment, escaped
}

// file links to a file of the run directory, if it is there.
func (p *htmlPage) file(rel string) link {
	l := link{Text: rel}
	if n, ok := p.files.Size(rel); ok {
		l.Href, l.Note = relative(rel), byteText(n)
	}
	return l
}

// existing are links to those of these files that are there.
func (p *htmlPage) existing(dir string, names ...string) (all []link) {
	for _, name := range names {
		if l := p.file(path.Join(dir, name)); l.Href != "" {
			l.Text = name
			all = append(all, l)
		}
	}
	return all
}

// relative is the URL of a file beside the page. The dot keeps a name with a colon from
// being read as a scheme.
func relative(rel string) template.URL {
	return template.URL("./" + escaped(rel)) //nolint:gosec // relative, escaped
}

// escaped is a path or fragment as a URL has it. net/url would do it, and this room knows
// no network.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/:", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// level is the most that each may have so that together they stay within a budget:
// whoever needs less leaves the rest to the others.
func level(needs []int64, budget int64) int64 {
	for i, n := range slices.Sorted(slices.Values(needs)) {
		share := budget / int64(len(needs)-i)
		if n > share {
			return share
		}
		budget -= n
	}
	return math.MaxInt64
}

// first are as many of a list as are shown.
func first[T any](all []T) []T { return all[:min(len(all), mostListed)] }

// short is a commit's or digest's beginning.
func short(id string) string { return id[:min(len(id), 12)] }

func byteText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// symbol says a status without colour.
func symbol(status string) string {
	switch status {
	case "success", "passed", "pass", "yes":
		return "✓"
	case "failed", "fail", "no", "timeout":
		return "✗"
	case "blocked", "unreviewed":
		return "■"
	case "running":
		return "▶"
	case "awaiting":
		return "?"
	}
	return "○"
}
