package ui

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// What the hosting session does is in no record before it hands its result in: who has a
// job, and until when, stands in files, which are only looked at.

// lease is who of the hosting session has a job.
type lease struct {
	by       string
	until    time.Time // zero = nobody took it
	handedIn bool
}

// awaits says where a job is that the hosting session carries out.
func (j *liveJob) awaits(now time.Time) string {
	text := "awaits the hosting session" + agentNamed(j.agent)
	switch u := j.lease.until; {
	case j.lease.handedIn:
		return "was handed in, is taken in next"
	case u.IsZero():
		return text
	case u.After(now):
		return fmt.Sprintf("with %s until %s", j.holder(), clock(u, now))
	case j.Writes:
		return fmt.Sprintf("lease over since %s: that its writer has ended is not known", clock(u, now))
	default:
		return fmt.Sprintf("%s; %s had it until %s", text, j.holder(), clock(u, now))
	}
}

// holder names who has the job.
func (j *liveJob) holder() string {
	if j.lease.by == "" {
		return "the hosting session"
	}
	return j.lease.by
}

func agentNamed(name string) string {
	if name == "" {
		return ""
	}
	return " (agent " + line(name) + ")"
}

// Away are the attempts that are with the hosting session.
func (l *Live) Away() (all []Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, j := range l.jobs {
		if j.status == ledger.Awaiting {
			all = append(all, Attempt{id, j.attempt})
		}
	}
	return all
}

// Taken takes in who has an attempt that is with the hosting session.
func (l *Live) Taken(a Attempt, by string, until time.Time, handedIn bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j, ok := l.jobs[a.Job]
	now := lease{line(by), until, handedIn}
	if !ok || j.status != ledger.Awaiting || j.attempt != a.N || j.lease == now {
		return
	}
	l.version++
	j.lease = now
}

// Holders calls each with who has these attempts, of which the hosting session has told
// in its files. What cannot be read says nothing: the engine tells how it ended.
func (e *Events) Holders(away []Attempt, each func(a Attempt, by string, until time.Time, handedIn bool)) {
	for _, a := range away {
		var l handoff.Lease
		data, err := fs.ReadFile(e.root.FS(), ledger.JobPath(a.Job, ledger.LeaseFile))
		if err != nil || json.Unmarshal(data, &l) != nil || !strings.HasPrefix(l.Attempt, fmt.Sprintf("%s.a%d.", a.Job, a.N)) {
			continue
		}
		each(a, l.By, l.Until, submitted(e.root, a.Job, l.Attempt))
	}
}

// submitted reports whether the result of an attempt was handed in.
func submitted(root *os.Root, job, attempt string) bool {
	var s handoff.Submission
	data, err := fs.ReadFile(root.FS(), ledger.JobPath(job, ledger.SubmissionFile))
	return err == nil && json.Unmarshal(data, &s) == nil && s.Attempt == attempt
}

// handed is the line for a record of a job that goes to the hosting session; mine = it
// has one of its own, or none.
func (l *Lines) handed(r ledger.Record) (text string, mine bool) {
	switch {
	case r.Kind == ledger.KindIntent && r.Route != nil && r.Route.Runtime == handoff.Runtime:
		if l.away == nil {
			l.away = map[string]string{}
		}
		l.away[r.Job] = r.Route.Agent
		return "", true // it is told when it can be taken
	case r.Kind == ledger.KindAwaiting:
		text = fmt.Sprintf("%-20s awaits the hosting session%s", r.Job, agentNamed(l.away[r.Job]))
		if r.Attempt > 1 {
			text += fmt.Sprintf(", attempt %d", r.Attempt)
		}
		return text, true
	case r.Kind == ledger.KindParked:
		return "nothing else can go on before the hosting session acts", true
	}
	return "", false
}
