package arbiter

import (
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
)

// Citation is one piece of evidence that the arbiter names.
type Citation struct {
	Kind string `json:"kind"` // file | artifact | command | commit
	Ref  string `json:"ref"`  // job:path:line, job:path, job:check name, job:sha
}

// Reader looks up what is cited.
type Reader interface {
	// Line is a line, counted from 1, of a file in the job's snapshot commit (an
	// observer's: the base).
	Line(job, path string, line int) (string, bool)
	// Artifact reports whether the job left this file in the run directory.
	Artifact(job, path string) bool
	// Check reports whether a check of this name ran for the job.
	Check(job, name string) bool
	// Commit reports whether sha is the job's snapshot or base.
	Commit(job, sha string) bool
}

// Verify looks up every citation and returns the job verdicts for the record.
func Verify(v Verdict, r Reader) []ledger.JobVerdict {
	out := make([]ledger.JobVerdict, 0, len(v.Jobs))
	for _, j := range v.Jobs {
		jv := ledger.JobVerdict{Job: j.Job, Verdict: j.Verdict, Why: j.Why, Citations: []ledger.Citation{}}
		for _, c := range j.Citations {
			jv.Citations = append(jv.Citations, ledger.Citation{Kind: c.Kind, Ref: c.Ref, Found: c.found(r)})
		}
		out = append(out, jv)
	}
	return out
}

func (c Citation) found(r Reader) bool {
	job, what, ok := strings.Cut(c.Ref, ":")
	if !ok || job == "" || what == "" {
		return false
	}
	switch c.Kind {
	case "file":
		return lineFound(job, what, r)
	case "artifact":
		return r.Artifact(job, what)
	case "command":
		return r.Check(job, what)
	case "commit":
		return r.Commit(job, what)
	}
	return false
}

// lineFound reads path:line or path:first-last.
func lineFound(job, what string, r Reader) bool {
	i := strings.LastIndexByte(what, ':')
	if i < 1 {
		return false
	}
	first, last, isRange := strings.Cut(what[i+1:], "-")
	a, err := strconv.Atoi(first)
	if err != nil || a < 1 {
		return false
	}
	if _, ok := r.Line(job, what[:i], a); !ok || !isRange {
		return ok
	}
	b, err := strconv.Atoi(last)
	if err != nil || b < a {
		return false
	}
	_, ok := r.Line(job, what[:i], b)
	return ok
}
