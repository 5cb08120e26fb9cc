package worker

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Task is what came of a task in its newest call.
type Task struct {
	ID     string
	Call   string // id of the call
	Dir    string // absolute; it is there once the task began or was blocked
	Status Status

	call      Call
	requested string // model, as it went on the command line
}

// Well reports whether nothing is amiss with the task.
func (t Task) Well() bool { return t.Status.State.Well() }

func (t Task) settled() bool { return t.Status.State.Settled() }

// jobDir is the task's own directory in the call, with the newest attempt.
func (t Task) jobDir() string { return filepath.Join(t.call.Dir, t.ID) }

// sessionless says why a task has no session.
func (t Task) sessionless() string {
	if t.Status.Adapter == nil {
		return "no runtime had it"
	}
	return *t.Status.Adapter + " has none or did not say which"
}

// Preview is the beginning of the task's answer; empty where there is none.
func (t Task) Preview() untrusted.Text {
	const enough = 2 << 10
	if !t.settled() { // it would be that of an attempt before this one
		return untrusted.Text{}
	}
	f, err := os.Open(filepath.Join(t.jobDir(), ledger.OutputFile))
	if err != nil {
		return untrusted.Text{}
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return untrusted.Text{}
	}
	return untrusted.From(string(data))
}

// Tasks are all tasks of the run as they stand, each in its newest call, in the order of
// the calls. Nothing is written.
func (r Run) Tasks() ([]Task, error) {
	each, err := r.everyTask()
	return newestOf(each), err
}

// Written are the tasks of each call, by its id, that succeeded and whose work is in a
// worktree of their own.
func (r Run) Written() (map[string][]string, error) {
	each, err := r.everyTask()
	of := map[string][]string{}
	for _, t := range each {
		if t.Status.State == ledger.Success && t.Status.Worktree != nil && t.Status.Patch != nil {
			of[t.Call] = append(of[t.Call], t.ID)
		}
	}
	return of, err
}

// newestOf leaves of each task only that of its newest call.
func newestOf(each []Task) (all []Task) {
	last := map[string]int{}
	for i, t := range each {
		last[t.ID] = i
	}
	for i, t := range each {
		if last[t.ID] == i {
			all = append(all, t)
		}
	}
	return all
}

// TaskDir is the folder of a task, which is there once the task began or was blocked.
func (r Run) TaskDir(id string) string { return filepath.Join(r.tasksDir(), id) }

// everyTask are the tasks of all calls, those of an older call first. What a pattern turned
// out not to need is none.
func (r Run) everyTask() (all []Task, err error) {
	stands := map[int]map[string]*progress{}
	calls, err := r.calls(func(c Call, rec ledger.Record) error {
		if stands[c.N] == nil {
			stands[c.N] = map[string]*progress{}
		}
		if !told(rec.Kind) || rec.Job == ledger.ArbiterJob {
			return nil
		}
		if stands[c.N][rec.Job] == nil {
			stands[c.N][rec.Job] = &progress{}
		}
		stands[c.N][rec.Job].record(rec)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		lineage := lineages{dir: c.Dir}
		for _, id := range c.Info.Jobs {
			p := cmp.Or(stands[c.N][id], &progress{state: ledger.Queued})
			if p.state == ledger.Skipped {
				continue
			}
			t, err := r.taskOf(c, id, p, &lineage)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	return all, nil
}

func (r Run) taskOf(c Call, id string, p *progress, l *lineages) (Task, error) {
	resumeOf, err := l.of(id, p.last)
	if err != nil {
		return Task{}, err
	}
	t := Task{ID: id, Call: c.ID, Dir: r.TaskDir(id), Status: p.status(c, id, resumeOf), call: c}
	if p.last != nil {
		t.requested = p.last.RequestedModel
	}
	if !t.settled() && !c.Live {
		t.abandon()
	}
	return t, t.find()
}

// abandon tells of a task whose engine is gone. Its worker may still run: then it is running,
// and costs, though nobody looks after it.
func (t *Task) abandon() {
	reason, next := runtime.ReasonCutOff, "orchestrate resume "+t.call.ID+" goes on with it"
	t.Status.Next = &next
	switch t.Status.State {
	case ledger.Queued:
		return
	case ledger.Awaiting: // nobody needs to be there for it
		next = "orchestrate next " + t.call.ID + " gives it to the hosting session"
		return
	}
	if slices.Contains(t.call.Left, t.ID) {
		text := untrusted.From("its engine is gone, and its worker still runs")
		t.Status.Evidence = &text
		return
	}
	text, code := untrusted.From("its engine is gone"), ExitInterrupted
	t.Status.State, t.Status.Reason, t.Status.Evidence, t.Status.ExitCode = ledger.Interrupted, &reason, &text, &code
}

// lineages finds whose session tasks went on with. Most went on with none, so the jobs of
// the call are only read when one did.
type lineages struct {
	dir  string
	jobs map[string]written
}

func (l *lineages) of(id string, last *ledger.JobStatus) (string, error) {
	if last == nil || last.ResumedFrom == "" {
		return "", nil
	}
	if l.jobs == nil {
		jobs, err := writtenJobs(l.dir)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s has lost its %s", l.dir, ledger.JobsFile)
		}
		if err != nil {
			return "", err
		}
		l.jobs = jobs
	}
	j := l.jobs[id]
	if j.Worker.Resumes != nil {
		return j.Worker.Resumes.Job, nil
	}
	return j.Continue, nil
}
