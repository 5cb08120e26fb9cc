package handoff

import (
	"encoding/json"
	"fmt"
	"time"

	"orchestrate/internal/ledger"
)

// Away is a job that is with the hosting session, as its files tell.
type Away struct {
	Request    Request
	Lease      *Lease      // nil = nobody has taken it
	Submission *Submission // nil = nothing came back
}

// Look finds the jobs of a run that await the session, in the order of the spec. One of
// which the engine is just making another attempt is left out.
func Look(run *ledger.Run) (all []Away, err error) {
	for _, j := range run.State().Jobs {
		if j.Status != ledger.Awaiting {
			continue
		}
		a, there, err := lookAt(run, j.ID)
		switch {
		case err != nil:
			return nil, err
		case there && a.Request.N == j.Attempt:
			all = append(all, a)
		}
	}
	return all, nil
}

func lookAt(f Files, job string) (a Away, there bool, err error) {
	if a.Request, there, err = ReadRequest(f, job); err != nil || !there {
		return a, there, err
	}
	lease, taken, err := ReadLease(f, job, a.Request.Attempt)
	if err != nil {
		return a, false, err
	}
	if taken {
		a.Lease = &lease
	}
	back, returned, err := ReadSubmission(f, job, a.Request.Attempt)
	if returned {
		a.Submission = &back
	}
	return a, true, err
}

// Free reports whether anybody may take the job.
func (a Away) Free() bool { return a.Lease == nil && a.Submission == nil }

// Over reports whether whoever took the job has let its time run out.
func (a Away) Over(now time.Time) bool {
	return a.Lease != nil && a.Submission == nil && a.Lease.Over(now)
}

// Unproven reports whether nothing says that whoever took the job has stopped writing:
// its time is over, and it is not given to anybody else.
func (a Away) Unproven(now time.Time) bool { return a.Over(now) && a.Request.Writes() }

// Back reports whether the engine has something to do: a result is there, or the
// attempt is to be followed by another.
func (a Away) Back() bool { return a.Submission != nil || a.Lease != nil && a.Lease.Lapsed }

// lapses reports whether the attempt can be given up for another one.
func (a Away) lapses(now time.Time) bool {
	return a.Over(now) && !a.Request.Writes() && !a.Lease.Lapsed
}

// Wanted reports whether whoever asks for a job is given this one, or the attempt that
// follows.
func (a Away) Wanted(now time.Time) bool { return a.Free() || a.lapses(now) }

// Until is when the time of whoever took the job runs out, the zero time when nobody did
// or something came back.
func (a Away) Until() time.Time {
	if a.Lease == nil || a.Submission != nil || a.Lease.Lapsed {
		return time.Time{}
	}
	return a.Lease.Until
}

// Term is how long a request stays with who takes it: what they ask for, else the job's
// own timeout.
func (r Request) Term(asked time.Duration) time.Duration {
	switch {
	case asked > 0:
		return asked
	case r.TimeoutMs > 0:
		return time.Duration(r.TimeoutMs) * time.Millisecond
	}
	return DefaultLease
}

// Earliest is when the first of these leases runs out after now, the zero time if none
// does.
func Earliest(all []Away, now time.Time) (at time.Time) {
	for _, a := range all {
		if u := a.Until(); u.After(now) && (at.IsZero() || u.Before(at)) {
			at = u
		}
	}
	return at
}

// Taker is whoever asks for a job.
type Taker struct {
	By    string
	Lease time.Duration // for how long, 0 = for the job's own timeout
	// Waits says that it takes another attempt of a job that somebody let lapse when that
	// is there. Who only looks voids nothing.
	Waits bool
}

// Take gives the first of these jobs that is free to a caller. Only where none is, and
// only for one that waits, it marks one that somebody let lapse, for the engine to make
// another attempt of: what comes late of all others still counts. Whoever calls it holds the
// run's hand-off lock and has looked under it.
func Take(run *ledger.Run, all []Away, who Taker, now time.Time) (taken *Away, err error) {
	for i := range all {
		if a := &all[i]; a.Free() {
			a.Lease = &Lease{
				SchemaVersion: ledger.SchemaVersion, Attempt: a.Request.Attempt, By: who.By,
				At: now.UTC(), Until: now.Add(a.Request.Term(who.Lease)).UTC(),
			}
			return a, writeLease(run, a.Request.Job, *a.Lease)
		}
	}
	if who.Waits {
		return nil, lapse(run, all, now)
	}
	return nil, nil
}

// lapse marks the first of these leases that ran out, unless one is marked already and is
// not followed by another attempt yet.
func lapse(run *ledger.Run, all []Away, now time.Time) error {
	first := -1
	for i, a := range all {
		switch {
		case a.Submission == nil && a.Lease != nil && a.Lease.Lapsed:
			return nil
		case first < 0 && a.lapses(now):
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	all[first].Lease.Lapsed = true
	return writeLease(run, all[first].Request.Job, *all[first].Lease)
}

// Close sees to it that nobody takes a request, and nothing is taken of it, any more. Whoever
// calls it holds the run's hand-off lock, has looked under it, and has found nothing that
// came back; lease is that of whoever has the job, nil = nobody has.
func Close(run *ledger.Run, q Request, lease *Lease, now time.Time) error {
	l := Lease{SchemaVersion: ledger.SchemaVersion, Attempt: q.Attempt, At: now.UTC(), Until: now.UTC()}
	if lease != nil {
		l = *lease
	}
	l.Lapsed = true
	return writeLease(run, q.Job, l)
}

func writeLease(run *ledger.Run, job string, l Lease) error {
	return write(run, job, ledger.LeaseFile, l)
}

func write(run *ledger.Run, job, name string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = run.WriteHandoff(job, name, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%s of job %s: %w", name, job, err)
	}
	return nil
}
