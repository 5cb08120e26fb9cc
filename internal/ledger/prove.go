package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// LossError says that other files of a run know more than its journal, which
// therefore was cut, damaged or put back from an older copy.
type LossError struct {
	Dir         string
	Differences []string
}

// shownDifferences is how many of them a message lists.
const shownDifferences = 10

func (e *LossError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the journal of the run in %s proves less than the files beside it:", e.Dir)
	for i, d := range e.Differences {
		if i == shownDifferences {
			fmt.Fprintf(&b, "\n  - and %d more", len(e.Differences)-i)
			break
		}
		fmt.Fprintf(&b, "\n  - %s", d)
	}
	fmt.Fprintf(&b, "\nit was cut or damaged, so work that was done could be done again: nothing is started or changed. "+
		"Put the whole %s back if you have it; else keep the directory as evidence and start a new run from its %s", JournalFile, SpecFile)
	return b.String()
}

// proof holds a journal against the other files of its run.
type proof struct {
	run      *Run
	place    string // of the run, as its first record says
	snapshot *State // of state.json, nil when it cannot be used
	ended    map[end]bool
	found    map[string]found // by job: what its directory has
	differ   []string
}

// found is what was seen in a job's directory.
type found struct {
	names   []string
	attempt int // as its lock says, 0 = it does not
}

// end is a way in which an attempt ended, or a job that had none (0).
type end struct {
	job     string
	attempt int
	status  Status
}

// newProof reads the snapshot before the journal is read.
func newProof(r *Run) *proof {
	p := &proof{run: r, ended: map[end]bool{}, found: map[string]found{}}
	data, err := r.ReadFile(StateFile)
	if err == nil {
		var s State
		if err = json.Unmarshal(data, &s); err == nil && s.Seq < 1 {
			err = errors.New("it says nothing")
		}
		p.snapshot = &s
	}
	if err != nil {
		p.snapshot = nil
		p.note("%s could not be used and is made again from the journal: %v", StateFile, err)
	}
	return p
}

func (p *proof) note(format string, args ...any) {
	p.run.notes = append(p.run.notes, fmt.Sprintf(format, args...))
}

func (p *proof) miss(format string, args ...any) {
	p.differ = append(p.differ, fmt.Sprintf(format, args...))
}

// see takes a record, and the state after it.
func (p *proof) see(rec Record, s State) {
	switch rec.Kind {
	case KindRunStarted:
		p.place = rec.Run.Dir
	case KindAttemptEnded, KindSettled:
		p.ended[end{rec.Job, rec.Attempt, rec.Status}] = true
	}
	if p.snapshot != nil && rec.Seq == p.snapshot.Seq {
		p.compareSnapshot(s)
	}
}

// compareSnapshot holds state.json against the state that the journal had then.
func (p *proof) compareSnapshot(s State) {
	was := p.snapshot
	if was.RunID != s.RunID || was.Phase != s.Phase || len(was.Jobs) != len(s.Jobs) {
		p.miss("%s at record %d: run %s, %s, %d jobs; the journal: run %s, %s, %d jobs",
			StateFile, s.Seq, was.RunID, was.Phase, len(was.Jobs), s.RunID, s.Phase, len(s.Jobs))
		return
	}
	for i, j := range was.Jobs {
		p.compareJob(s.Seq, j, s.Jobs[i])
	}
	var a, b JobState
	if was.Arbiter != nil {
		a = *was.Arbiter
	}
	if s.Arbiter != nil {
		b = *s.Arbiter
	}
	p.compareJob(s.Seq, a, b)
}

func (p *proof) compareJob(seq int64, a, b JobState) {
	if a.ID != b.ID || a.Status != b.Status || a.Attempt != b.Attempt {
		p.miss("%s at record %d: job %q is %s at attempt %d; the journal: job %q is %s at attempt %d",
			StateFile, seq, a.ID, a.Status, a.Attempt, b.ID, b.Status, b.Attempt)
	}
}

// compare says what the files know that the journal does not.
func (p *proof) compare(f folder) error {
	if p.snapshot != nil && p.snapshot.Seq > f.state.Seq {
		p.miss("%s includes record %d; the journal ends with record %d", StateFile, p.snapshot.Seq, f.state.Seq)
	}
	names, err := p.run.list(".")
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		info, err := p.run.root.Lstat(name)
		if err != nil || !info.IsDir() || name == WorktreesDir || strings.HasPrefix(name, ".") {
			continue
		}
		known := 0
		if j, err := f.job(Record{Job: name}); err == nil {
			known = j.Attempt
		} else if name == IntegrationJob {
			known = math.MaxInt // it comes after the run, of which the journal tells
		}
		if err := p.compareDir(name, known); err != nil {
			return err
		}
	}
	if len(p.differ) > 0 {
		return &LossError{Dir: p.run.Dir, Differences: p.differ}
	}
	return nil
}

// compareDir looks at what a job's directory has of attempts; known is the newest one
// that the journal intended.
func (p *proof) compareDir(job string, known int) error {
	names, err := p.run.list(job)
	if err != nil {
		return err
	}
	saw := found{names: names}
	if slices.Contains(names, AttemptLockFile) {
		l, err := p.run.AttemptLock(job)
		if err != nil {
			p.note("%v", err)
		}
		saw.attempt = l.Attempt
	}
	p.found[job] = saw
	p.compareAttempt(JobPath(job, AttemptLockFile), saw.attempt, known)
	p.compareFiles(job, job, names, known)
	for _, n := range older(names) {
		dir := JobPath(job, AttemptDir(n))
		p.compareAttempt(dir+", which has made room for the next,", n+1, known)
		if names, err = p.run.list(dir); err != nil {
			return err
		}
		p.compareFiles(job, dir, names, known)
	}
	return nil
}

func (p *proof) compareAttempt(what string, n, known int) {
	if n > known {
		p.miss("%s is of attempt %d; the journal knows of %d", what, n, known)
	}
}

// compareFiles looks at exit.json and status.json among the names in a folder of a job.
func (p *proof) compareFiles(job, dir string, names []string, known int) {
	var x struct{ Attempt int }
	if rel := JobPath(dir, ExitFile); slices.Contains(names, ExitFile) && p.load(rel, &x) {
		p.compareAttempt(rel, x.Attempt, known)
	}
	var s JobStatus
	rel := JobPath(dir, StatusFile)
	if !slices.Contains(names, StatusFile) || !p.load(rel, &s) {
		return
	}
	p.compareAttempt(rel, s.Attempts, known)
	if s.Status.Settled() && s.Attempts <= known && !p.ended[end{job, s.Attempts, s.Status}] {
		p.miss("%s says %s at attempt %d; the journal does not", rel, s.Status, s.Attempts)
	}
}

// load reads a document that a power loss may have left empty or torn: then it proves
// nothing.
func (p *proof) load(rel string, into any) bool {
	data, err := p.run.ReadFile(rel)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		p.note("%s cannot be read: %v", rel, err)
	}
	return err == nil
}
