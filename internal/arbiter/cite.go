package arbiter

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
)

// Citation is one piece of evidence that the arbiter names.
type Citation struct {
	Kind string `json:"kind"` // file | artifact | command | commit
	Ref  string `json:"ref"`  // job:path:line, job:path, job:check name, job:sha
}

// citable are the kinds of citations.
var citable = []string{"file", "artifact", "command", "commit"}

// Reader looks up what is cited. Paths have slashes and no "." or ".." in them; one
// that begins with a slash is as the arbiter said it.
type Reader interface {
	// Line is a line, counted from 1, of a file in the job's snapshot commit (an
	// observer's: the commit that it saw).
	Line(job, path string, line int) (string, bool)
	// Artifact reports whether the job left this file in the run directory.
	Artifact(job, path string) bool
	// Check reports whether a check of this name ran for the job.
	Check(job, name string) bool
	// Commit reports whether sha is the job's snapshot or base.
	Commit(job, sha string) bool
	// Laid parts a path at which the arbiter read what a job left: the folder for that in
	// its tree, the job, and the file there. The folder is "" when it is no such path.
	Laid(path string) (folder, job, file string)
}

// Verify looks up every citation and returns the job verdicts for the record. What is
// found is recorded in its plain form, what is not as it was cited.
func Verify(v Verdict, r Reader) []ledger.JobVerdict {
	out := make([]ledger.JobVerdict, 0, len(v.Jobs))
	for _, j := range v.Jobs {
		jv := ledger.JobVerdict{
			Job: j.Job, Verdict: j.Verdict, Why: j.Why,
			Citations: make([]ledger.Citation, 0, len(j.Citations)), Assertions: make([]ledger.Assertion, 0, len(j.Assertions)),
		}
		for _, c := range j.Citations {
			ref, found := c.lookUp(r)
			jv.Citations = append(jv.Citations, ledger.Citation{Kind: c.Kind, Ref: ref, Found: found})
		}
		for _, a := range j.Assertions {
			jv.Assertions = append(jv.Assertions, ledger.Assertion{Name: a.Name, Holds: a.Holds, Why: a.Why})
		}
		out = append(out, jv)
	}
	return out
}

// lookUp asks for what is cited as a path at which the arbiter read it, then as it
// stands, then without the quotes and dots that people put around paths. Only the
// spelling is forgiven: it must be there.
func (c Citation) lookUp(r Reader) (ref string, found bool) {
	for _, ref := range []string{c.readAt(r), c.Ref, bare(c.Ref)} {
		job, what, ok := strings.Cut(ref, ":")
		if !ok || job == "" {
			continue
		}
		for _, form := range c.forms(what) {
			if form != "" && c.there(job, form, r) {
				return job + ":" + form, true
			}
		}
	}
	return c.Ref, false
}

// readAt is the citation of what lies at a path of the arbiter's own tree, in its plain
// form; "" when it is none, or is said to be another job's. A line of what is no file of
// the job's tree is cited by that path.
func (c Citation) readAt(r Reader) string {
	ref, said := bare(c.Ref), ""
	folder, job, file := r.Laid(ref)
	if folder == "" {
		before, behind, _ := strings.Cut(ref, ":")
		said = before
		folder, job, file = r.Laid(bare(behind))
	}
	if folder == "" || said != "" && said != job {
		return ""
	}
	if name, ok := strings.CutPrefix(file, filesIn[c.Kind]); ok {
		return job + ":" + name
	}
	if c.Kind == "file" {
		file = path.Join(folder, job, file)
	}
	return job + ":" + file
}

// filesIn are the folders for what is cited without it.
var filesIn = map[string]string{"file": "files/", "artifact": "artifacts/"}

// forms are the ways in which what stands behind the job can be meant.
func (c Citation) forms(what string) []string {
	switch c.Kind {
	case "file":
		name, lines := CutLines(what)
		if lines == "" {
			return nil
		}
		return []string{name + ":" + lines, cleanPath(name) + ":" + lines}
	case "artifact":
		return []string{what, cleanPath(what)}
	}
	return []string{what, bare(what)}
}

func (c Citation) there(job, what string, r Reader) bool {
	switch c.Kind {
	case "file":
		return linesThere(job, what, r)
	case "artifact":
		return r.Artifact(job, what)
	case "command":
		return r.Check(job, what)
	case "commit":
		return r.Commit(job, what)
	}
	return false
}

// bare takes off the spaces and one pair of quotes around what is cited.
func bare(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) > 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// cleanPath is a path without quotes and dots, "" when it leads out of the tree.
func cleanPath(name string) string {
	name = path.Clean(bare(name))
	if name == "." || name == ".." || strings.HasPrefix(name, "../") {
		return ""
	}
	return name
}

// lineRange is what stands behind a path: 3, 3-5, L3, L3-L5.
var lineRange = regexp.MustCompile(`^L?([1-9][0-9]{0,8})(?:[-–]L?([1-9][0-9]{0,8}))?$`)

// CutLines parts path:line or path:first-last; lines is "" when there are none.
func CutLines(what string) (name, lines string) {
	i := strings.LastIndexByte(what, ':')
	if i < 1 {
		return what, ""
	}
	m := lineRange.FindStringSubmatch(what[i+1:])
	switch {
	case m == nil:
		return what, ""
	case m[2] == "":
		return what[:i], m[1]
	}
	return what[:i], m[1] + "-" + m[2]
}

// linesThere reports whether a file has the first and the last line that are cited.
func linesThere(job, what string, r Reader) bool {
	name, lines := CutLines(what)
	if name == "" {
		return false
	}
	from, to, isRange := strings.Cut(lines, "-")
	first, err := strconv.Atoi(from)
	if err != nil {
		return false
	}
	if _, ok := r.Line(job, name, first); !ok || !isRange {
		return ok
	}
	last, err := strconv.Atoi(to)
	if err != nil || last < first {
		return false
	}
	_, ok := r.Line(job, name, last)
	return ok
}
