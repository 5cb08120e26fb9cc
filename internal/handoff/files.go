package handoff

import "orchestrate/internal/ledger"

// Files reads JSON documents of a run directory; *ledger.Run is one.
type Files interface {
	ReadJSON(rel string, into any) (there bool, err error)
}

// observes is the effect of a job that changes nothing.
const observes = "observe"

// Writes reports whether the job may change files.
func (r Request) Writes() bool { return r.Effect != observes }

// ReadRequest reads the request of a job's newest attempt; there is false where it has
// none.
func ReadRequest(f Files, job string) (r Request, there bool, err error) {
	there, err = f.ReadJSON(ledger.JobPath(job, ledger.RequestFile), &r)
	return r, there, err
}

// ReadLease reads who has taken an attempt. What is there of another attempt is none.
func ReadLease(f Files, job, attempt string) (l Lease, there bool, err error) {
	there, err = f.ReadJSON(ledger.JobPath(job, ledger.LeaseFile), &l)
	return l, there && l.Attempt == attempt, err
}

// ReadSubmission reads what came back of an attempt. What is there of another attempt is
// none.
func ReadSubmission(f Files, job, attempt string) (s Submission, there bool, err error) {
	there, err = f.ReadJSON(ledger.JobPath(job, ledger.SubmissionFile), &s)
	return s, there && s.Attempt == attempt, err
}
