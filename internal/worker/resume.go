package worker

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/spelling"
)

// session says whose session a task goes on with, if it does.
func (r *reading) session(i int, t fields, j *job) {
	key := "session"
	if t.has("resume_from") {
		key = "resume_from"
	}
	if !t.has(key) {
		return
	}
	if t.has("votes") || r.verifiers[strings.ToLower(j.ID)] || (&spec.Job{Task: j.Task}).Fresh() {
		r.fail(i, key, "session", "a judge begins a fresh session, so that nothing that was said before sways it; take "+key+" out")
		return
	}
	switch {
	case t.has("foreach"):
		r.fail(i, key, "session", "the tasks of a list would all go on with one session, and only one can; take "+key+" out")
	case t.has("session") && t.has("resume_from"):
		r.fail(i, "session", "session", "both session and resume_from are given; keep one")
	case key == "session" && j.Runtime == "":
		r.fail(i, key, "session", "a session needs its adapter: say which runtime it is of")
	case key == "session" && r.known(i, t, j):
	case key == "session":
		j.Worker.Resumes = &resumed{Session: t.text(key), Runtime: j.Runtime, Model: j.Model, Cwd: j.Cwd, Writes: j.Effect != "observe"}
		r.alone(i, key, j.Worker.Resumes)
	case r.index(t.text(key)) >= 0 && t.text(key) != j.ID:
		r.goOn(i, t.text(key), j)
	default:
		r.resume(i, t.text(key), j)
	}
}

// goOn lets a task go on with the session of another one of the manifest. What it does not
// say itself is as there.
func (r *reading) goOn(i int, of string, j *job) {
	own := r.tasks[i]
	j.Continue, j.pattern = of, true
	j.Runtime, j.Model = "", own.text("model")
	if own.has("adapter") {
		j.Runtime = r.adapter(own)
	}
	if !own.has("cwd") {
		j.Cwd = ""
	}
	if !own.has("write") {
		j.Effect, j.Overlap = "", ""
	}
	if before := r.defaults.over(r.tasks[r.index(of)]); !own.has("task") {
		j.Task = cmp.Or(before.text("task"), map[bool]string{true: "mechanical", false: "research"}[before["write"] == true])
	}
}

// known lets a task that names a session by its id go on with it as the task does that held it
// last, if that is one of this workspace: nobody gets more by the id than by the task.
func (r *reading) known(i int, t fields, j *job) bool {
	from, cwd, err := heldLast(r.Run.Root, j.Runtime, t.text("session"))
	switch {
	case err != nil:
		r.fail(i, "session", "session", err.Error())
	case from == nil:
		return false
	default:
		if !filepath.IsAbs(cwd) {
			cwd = filepath.Join(r.Run.Root, cwd)
		}
		r.asBefore(i, "session", ledger.RunID(from.Run)+"/"+from.Job, from, cwd, j)
	}
	return true
}

// resume lets a task go on with the session of a task of an earlier call.
func (r *reading) resume(i int, of string, j *job) {
	if r.earlier == nil {
		r.earlier = &sessions{run: r.Run}
	}
	before, job, err := r.earlier.of(of)
	if err != nil {
		r.fail(i, "resume_from", "session", err.Error())
		return
	}
	r.asBefore(i, "resume_from", of, before, job.Cwd, j)
}

// asBefore lets a task go on with the session of another one, of, as that one held it.
func (r *reading) asBefore(i int, key, of string, before *resumed, cwd string, j *job) {
	own := r.tasks[i]
	for _, f := range []struct {
		key       string
		said, was any
	}{
		{"adapter", r.adapter(own), before.Runtime},
		{"model", own.text("model"), before.Model},
		{"cwd", r.cwd(own), cwd},
	} {
		if own.has(f.key) && f.said != f.was {
			r.fail(i, f.key, "session", fmt.Sprintf("a session goes on with what it had: %s is %q in task %s; take %s out", f.key, f.was, of, f.key))
		}
	}
	if own.has("write") && own["write"] != before.Writes {
		r.fail(i, "write", "session", "a session goes on with the access that it had; start a fresh task")
	}
	r.alone(i, key, before)
	j.Runtime, j.Model, j.Cwd, j.Worker.Resumes, j.Worker.Command = before.Runtime, before.Model, cwd, before, ""
	j.write(before.Writes)
	if !own.has("task") {
		j.Task = j.usual(fields{})
	}
}

// alone refuses a task that goes on with the session that another one of the manifest goes on
// with: which of them came first would be luck.
func (r *reading) alone(i int, key string, from *resumed) {
	session := from.Runtime + " " + from.Session
	if first, taken := r.gone[session]; taken {
		r.fail(i, key, "session", fmt.Sprintf("tasks[%d] goes on with the same session; two cannot: let one go on with the other (resume_from names a task of the manifest, too)", first))
		return
	}
	r.gone[session] = i
}

// sessions are those that tasks of earlier calls have left.
type sessions struct {
	run   Run
	tasks []Task
	read  bool
}

// of is the session of a task, with its job as it was written.
func (s *sessions) of(id string) (*resumed, written, error) {
	if !s.read {
		tasks, err := s.run.Tasks()
		if err != nil {
			return nil, written{}, err
		}
		s.tasks, s.read = tasks, true
	}
	i := slices.IndexFunc(s.tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return nil, written{}, s.unknown(id)
	}
	t := s.tasks[i]
	if !t.settled() {
		return nil, written{}, fmt.Errorf("task %s is %s; its session can be gone on with once it has ended", id, t.Status.State)
	}
	data, err := os.ReadFile(filepath.Join(t.jobDir(), ledger.SessionFile))
	var left ledger.Session
	if err == nil {
		err = json.Unmarshal(data, &left)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && left.SessionID == "":
		return nil, written{}, fmt.Errorf("task %s left no session to go on with: %s; start a fresh task, with what it needs to know in its prompt", id, t.sessionless())
	case err != nil:
		return nil, written{}, err
	}
	jobs, err := writtenJobs(t.call.Dir)
	if err != nil {
		return nil, written{}, err
	}
	job := jobs[id] // whose folder and effect are filled in there, whoever's they follow from
	return &resumed{
		Session: left.SessionID, Runtime: left.Runtime, Model: t.requested, Cwd: left.Cwd, Writes: job.Effect != "" && job.Effect != "observe",
		Run: t.call.Dir, Job: id, Attempt: left.Attempt, Tree: left.Worktree, Base: left.Commit,
	}, job, nil
}

func (s *sessions) unknown(id string) error {
	known := map[string]bool{}
	for _, t := range s.tasks {
		known[t.ID] = true
	}
	ids := slices.Sorted(maps.Keys(known))
	text := fmt.Sprintf("there is no task %s in this manifest or in worker run %s", strconv.Quote(id), s.run.ID)
	if near := spelling.Nearest(id, ids); near != "" {
		return fmt.Errorf("%s; did you mean %q?", text, near)
	}
	if len(ids) == 0 {
		return fmt.Errorf("%s, which has none yet", text)
	}
	return fmt.Errorf("%s; it has %s", text, some(ids))
}

// some are the first of many ids.
func some(ids []string) string {
	const most = 20
	text := ""
	for i, id := range ids[:min(most, len(ids))] {
		if i > 0 {
			text += ", "
		}
		text += id
	}
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
