package handoff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"orchestrate/internal/ledger"
)

// RefusedError says why something that was handed in is not taken.
type RefusedError struct {
	Why  Refusal
	Text string // for whoever hands it in
}

func (e *RefusedError) Error() string { return e.Text }

// Refusal is a cause for which something that is handed in is refused.
type Refusal string

// The causes.
const (
	Stale  Refusal = "stale"  // the attempt is over, or never was
	Double Refusal = "double" // something else came back of the attempt before
	Closed Refusal = "closed" // the job does not await anything
)

func refused(why Refusal, format string, args ...any) error {
	return &RefusedError{Why: why, Text: fmt.Sprintf(format, args...)}
}

// Taken says how something that was handed in was taken.
type Taken struct {
	Repeated bool // exactly this was handed in before
	// EndStated says that the attempt had been cut off before, and that this only says
	// that whoever did it has ended.
	EndStated bool
	N         int // number of the attempt, from 1
}

// Accept keeps what came back of an attempt of a job, unless there is a reason not to: a
// RefusedError. Both parts are redacted. Whoever calls it holds the run's hand-off lock,
// under which run was read.
func Accept(run *ledger.Run, job ledger.JobState, s Submission, result []byte) (Taken, error) {
	if !s.Failed {
		s.ResultSHA256 = sum(result)
	}
	a, there, err := lookAt(run, job.ID)
	if err != nil {
		return Taken{}, err
	}
	switch {
	case !there && job.Attempt <= 1:
		return Taken{}, notOfSession(job)
	case !there || a.Request.Attempt != s.Attempt:
		return earlier(run, job, s)
	}
	taken := Taken{N: a.Request.N}
	switch {
	case a.Submission != nil:
		taken.EndStated = s.Failed && unproven(run, a, job)
		return again(job.ID, *a.Submission, s, taken)
	case s.Failed && unproven(run, a, job):
		taken.EndStated = true
	case unproven(run, a, job):
		return taken, unwanted(run, a, job)
	case job.Status.Settled():
		return taken, closed(job)
	case a.Lease != nil && a.Lease.Lapsed:
		return taken, refused(Stale, "attempt %s of job %s is over: its lease ended or it was stopped, and nobody waits for it any more; nothing was taken", s.Attempt, job.ID)
	case job.Status != ledger.Awaiting || job.Attempt != a.Request.N:
		return taken, closed(job)
	}
	if !s.Failed {
		if err := run.WriteHandoff(job.ID, ledger.ResultFile, result); err != nil {
			return taken, fmt.Errorf("the result of job %s cannot be kept: %w", job.ID, err)
		}
	}
	return taken, write(run, job.ID, ledger.SubmissionFile, s)
}

// earlier finds what the job's earlier attempts have of this one.
func earlier(run *ledger.Run, job ledger.JobState, s Submission) (Taken, error) {
	for n := 1; n < job.Attempt; n++ {
		var then Submission
		there, err := run.ReadJSON(ledger.JobPath(job.ID, ledger.AttemptDir(n), ledger.SubmissionFile), &then)
		if err != nil {
			return Taken{}, err
		}
		if there && then.Attempt == s.Attempt {
			return again(job.ID, then, s, Taken{N: n})
		}
	}
	return Taken{}, refused(Stale, "attempt %s is not the newest of job %s, so nothing was taken: what it did counts for nothing, and `%s` gives out what is to be done",
		s.Attempt, job.ID, NextCommand(run.ID))
}

func again(job string, then, now Submission, taken Taken) (Taken, error) {
	if then.Failed == now.Failed && then.Reason == now.Reason && then.ResultSHA256 == now.ResultSHA256 {
		taken.Repeated = true
		return taken, nil
	}
	return Taken{}, refused(Double, "something else was handed in for attempt %s of job %s at %s; that one counts, and this was not taken",
		now.Attempt, job, then.At.Format("2006-01-02 15:04:05 MST"))
}

// unproven reports whether an attempt that was cut off may still be writing, so that
// the session's word on its end is wanted.
func unproven(run *ledger.Run, a Away, job ledger.JobState) bool {
	all, err := run.Attempts(job.ID)
	if err != nil || len(all) == 0 || !a.Request.Writes() {
		return false // it is told that the job is closed
	}
	last := all[len(all)-1]
	return last.Attempts == a.Request.N && last.Proof != nil && !last.Proof.Gone
}

func closed(job ledger.JobState) error {
	return refused(Closed, "job %s awaits no result: it is %s; nothing was taken", job.ID, standing(job))
}

// notOfSession says of a job that was never handed out who has it.
func notOfSession(job ledger.JobState) error {
	who := "nobody has begun it"
	if job.Runtime != "" && job.Runtime != Runtime {
		who = "it went to " + job.Runtime
	}
	return refused(Closed, "job %s was not given to the hosting session: %s; nothing was taken", job.ID, who)
}

// unwanted says of a result of an attempt that was cut off that only its end is wanted.
func unwanted(run *ledger.Run, a Away, job ledger.JobState) error {
	kept := ""
	if a.Request.Worktree != nil {
		kept = "; what it changed is kept in " + *a.Request.Worktree
	}
	return refused(Closed, "job %s awaits no result: it is %s; nothing was taken%s. Say that its agent has ended: orchestrate submit %s %s --attempt %s --failed \"it has ended\"; after that orchestrate resume %s gives the job out again",
		job.ID, standing(job), kept, run.ID, job.ID, a.Request.Attempt, run.ID)
}

func standing(job ledger.JobState) string {
	if job.Reason == "" {
		return string(job.Status)
	}
	return string(job.Status) + " (" + string(job.Reason) + ")"
}

func sum(data []byte) string {
	d := sha256.Sum256(data)
	return hex.EncodeToString(d[:])
}
