package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"orchestrate/internal/check"
	"orchestrate/internal/figure"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// What is shown of one job before its file is named for the rest.
const (
	patchLines  = 200 // of its patch
	patchColumn = 500 // characters of one line
	filesNamed  = 50
	tableJobs   = 8 // more do not fit a terminal's width
)

// integrateView shows an integration to a person. Names of files and patches are
// whatever the jobs made them.
type integrateView struct {
	w   io.Writer
	run *ledger.Run
}

// work shows what would be integrated, before anything is done.
func (v integrateView) work(in integrate.Integration) {
	fmt.Fprintf(v.w, "run %s, verdict %s: onto %s, by %s\n", in.RunID, in.Verdict, targetName(in.Target), in.Strategy)
	for _, w := range in.Jobs {
		v.job(w)
	}
	v.matrix(in)
}

func targetName(t integrate.Target) string {
	name := shortName(t)
	switch {
	case t.From == "":
		return name
	case t.New:
		return fmt.Sprintf("%s, from %.12s", name, t.From)
	}
	return fmt.Sprintf("%s, now at %.12s", name, t.From)
}

func shortName(t integrate.Target) string {
	switch {
	case t.New:
		return "the new branch " + fileName(t.Branch)
	case t.Branch == "":
		return "the checkout, on no branch"
	}
	return "branch " + fileName(t.Branch)
}

// job is the head line of one job's work, its files, and its patch.
func (v integrateView) job(w integrate.Work) {
	fmt.Fprintf(v.w, "\njob %s (%s): %s, +%d -%d, commit %.12s on %s%s\n", w.Job, w.Runtime,
		figure.Count(len(w.Files), "file"), w.Insertions, w.Deletions, w.Commit, basis(w), standingOf(w))
	v.diffstat(w.Files)
	if !w.Chosen || w.Done != "" {
		return
	}
	if err := v.patch(w); err != nil {
		fmt.Fprintf(v.w, "  its patch cannot be shown: %v; `git show %.12s` does\n", err, w.Commit)
	}
}

func basis(w integrate.Work) string {
	if w.BuildsOn != "" {
		return "what " + w.BuildsOn + " left"
	}
	return fmt.Sprintf("%.12s", w.Base)
}

func standingOf(w integrate.Work) string {
	switch {
	case w.Done != "":
		return fmt.Sprintf("; it is there already (%.12s)", w.Done)
	case !w.Chosen:
		return "; not chosen"
	}
	return ""
}

func (v integrateView) diffstat(files []integrate.FileStat) {
	t := tabwriter.NewWriter(v.w, 0, 4, 2, ' ', 0)
	for _, f := range files[:min(len(files), filesNamed)] {
		lines := "binary"
		if f.Insertions >= 0 {
			lines = fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", f.Status, lines, fileName(f.Path))
	}
	_ = t.Flush() // the outlet under it remembers what could not be printed
	if n := len(files) - filesNamed; n > 0 {
		fmt.Fprintf(v.w, "  and %d more\n", n)
	}
}

// patch shows the beginning of a job's patch and says where the rest is.
func (v integrateView) patch(w integrate.Work) (err error) {
	dir, err := v.run.OpenDir(filepath.ToSlash(filepath.Dir(filepath.FromSlash(w.Patch))))
	if err != nil {
		return err
	}
	defer func() { err = joined(err, dir.Close()) }()
	f, err := dir.Open(filepath.Base(filepath.FromSlash(w.Patch)))
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.Close()) }()
	whole := "all of it"
	if w.Masked {
		fmt.Fprintf(v.w, "  its patch, with what looks like a secret left out; the commit is integrated, which has it: `git show %.12s`\n", w.Commit)
		whole = "all of this copy"
	}
	lines := bufio.NewReaderSize(f, 4*patchColumn+1)
	for range patchLines {
		line, more, err := lines.ReadLine()
		for cut := more; cut && err == nil; {
			_, cut, err = lines.ReadLine() // the rest of a line too long to show
		}
		if err == io.EOF && line == nil {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		fmt.Fprintf(v.w, "  | %s\n", patchLine(line, more))
	}
	if _, err := lines.Peek(1); err == nil {
		fmt.Fprintf(v.w, "  (cut after %d lines; %s: %s)\n", patchLines, whole, v.run.Path(w.Patch))
	}
	return nil
}

// patchLine is one line with its tabs, bounded, and nothing in it that acts.
func patchLine(line []byte, more bool) string {
	text := []rune(untrusted.From(string(line)).Block())
	if len(text) > patchColumn {
		text, more = text[:patchColumn], true
	}
	if more {
		return string(text) + "…"
	}
	return string(text)
}

// fileName is a name as it is, or quoted where it would not be shown as it is.
func fileName(name string) string {
	if untrusted.From(name).Line(0) == name && !strings.HasPrefix(name, `"`) {
		return name
	}
	return untrusted.From(strconv.Quote(name)).Block()
}

// matrix says which of the chosen works go together.
func (v integrateView) matrix(in integrate.Integration) {
	var jobs []integrate.Work
	for _, w := range in.Jobs {
		if w.Chosen && w.Done == "" {
			jobs = append(jobs, w)
		}
	}
	clashes := append(append([]integrate.Clash{}, in.Matrix.Target...), in.Matrix.Pairs...)
	switch {
	case len(jobs) == 0:
		return
	case len(clashes) == 0:
		fmt.Fprintf(v.w, "\nNo conflict: each job's work can be merged with the target%s.\n", others(len(jobs)))
		return
	}
	fmt.Fprintln(v.w, "\nConflicts:")
	if len(jobs) <= tableJobs {
		v.table(jobs, clashes)
	}
	for _, c := range clashes {
		fmt.Fprintf(v.w, "  %s and %s cannot be merged:\n", c.A, cmp.Or(c.B, shortName(in.Target)))
		for _, f := range c.Files[:min(len(c.Files), filesNamed)] {
			fmt.Fprintf(v.w, "    %s\n", fileName(f))
		}
		if n := len(c.Files) - filesNamed; n > 0 {
			fmt.Fprintf(v.w, "    and %d more\n", n)
		}
	}
}

func others(jobs int) string {
	if jobs == 1 {
		return ""
	}
	return ", and with that of each other"
}

// table has a cell for each job with the target and with each other job: the number of
// files in which they conflict.
func (v integrateView) table(jobs []integrate.Work, clashes []integrate.Clash) {
	files := map[[2]string]int{}
	for _, c := range clashes {
		files[[2]string{c.A, c.B}], files[[2]string{c.B, c.A}] = len(c.Files), len(c.Files)
	}
	t := tabwriter.NewWriter(v.w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t\ttarget\t")
	for i := range jobs {
		fmt.Fprintf(t, "%d\t", i+1)
	}
	for i, row := range jobs {
		fmt.Fprintf(t, "\n%s\t%d\t%s\t", row.Job, i+1, cell(files, row.Job, ""))
		for _, column := range jobs {
			fmt.Fprintf(t, "%s\t", cell(files, row.Job, column.Job))
		}
	}
	fmt.Fprintln(t)
	_ = t.Flush() // as above
	fmt.Fprintln(v.w, "  (files that conflict; - = none)")
}

func cell(files map[[2]string]int, a, b string) string {
	if n := files[[2]string{a, b}]; n > 0 {
		return strconv.Itoa(n)
	}
	if a == b {
		return ""
	}
	return "-"
}

// outcome says what was done, and what a person can do now.
func (v integrateView) outcome(in integrate.Integration) error {
	if len(in.Checks) > 0 {
		fmt.Fprintln(v.w, "\nChecks on the result:")
		t := tabwriter.NewWriter(v.w, 0, 4, 2, ' ', 0)
		for _, c := range in.Checks {
			v.check(t, c)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(v.w, "\n%s\n", cameTo(in))
	for _, why := range in.Why {
		fmt.Fprintf(v.w, "  %s\n", untrusted.From(why).Line(0))
	}
	if len(in.Next) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(v.w, "Next:")
	for _, next := range in.Next {
		_, err = fmt.Fprintf(v.w, "  %s\n", untrusted.From(next).Line(0))
	}
	return err
}

func (v integrateView) check(w io.Writer, c ledger.Check) {
	output := ""
	if c.Output != "" && !check.OK(c) {
		output = "\t" + v.run.Path(c.Output)
	}
	fmt.Fprintf(w, "  %s\t%s\t%s%s\n", c.Status, untrusted.From(cmp.Or(c.Name, c.Command)).Line(200), figure.TookMs(c.DurationMs), output)
}

// cameTo is the outcome in a sentence.
func cameTo(in integrate.Integration) string {
	switch in.Outcome {
	case integrate.Integrated:
		return fmt.Sprintf("Integrated: %s is at %.12s now.", shortName(in.Target), in.Target.To)
	case integrate.Ready:
		return "Ready: nothing stands against it. This was a dry run: no check was run and nothing was changed."
	case integrate.Nothing:
		return "Nothing to integrate."
	}
	return "Refused: nothing was changed."
}
