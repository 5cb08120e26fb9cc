package engine

import (
	"fmt"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
)

// SessionOf is what the files of a job's newest attempt say of the hosting session's part
// in it, nil of a job that was not handed to it.
func SessionOf(f handoff.Files, job string) (*report.Session, error) {
	req, there, err := handoff.ReadRequest(f, job)
	if err != nil || !there {
		return nil, err
	}
	s := &report.Session{Attempt: req.Attempt, Writes: req.Writes(), TimeoutMs: req.TimeoutMs}
	lease, taken, err := handoff.ReadLease(f, job, req.Attempt)
	if err != nil {
		return nil, err
	}
	if taken && lease.Given() {
		s.By, s.TakenAt, s.Until = lease.By, &lease.At, &lease.Until
	}
	back, returned, err := handoff.ReadSubmission(f, job, req.Attempt)
	if returned {
		s.HandedInAt = &back.At
	}
	return s, err
}

// sessionsOf is SessionOf of all jobs of a run that it has to do with.
func sessionsOf(run *ledger.Run) (map[string]report.Session, error) {
	all := map[string]report.Session{}
	for _, j := range run.State().Jobs {
		if j.Runtime != handoff.Runtime {
			continue
		}
		s, err := SessionOf(run, j.ID)
		if err != nil {
			return all, fmt.Errorf("what the hosting session has of job %s: %w", j.ID, err)
		}
		if s != nil {
			all[j.ID] = *s
		}
	}
	return all, nil
}
