//go:build unix

package worker

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrate/internal/ledger"
)

// obstructed is a run with two tasks that have ended, in the folder of one of which something
// lies that is not ours.
func obstructed(t *testing.T, put func(folder string)) (r Run, unkept error) {
	t.Helper()
	r = newRun(t)
	put(r.TaskDir("a"))
	c := begin(t, r, "a", "b")
	k, err := r.Keeper(c.led.Dir)
	must(t, err)
	for _, id := range []string{"a", "b"} {
		c.starts(id, 1)
		c.ends(done(id), "answer of "+id)
		if err := k.Record(ledger.Settle(done(id))); err != nil {
			unkept = err
		}
	}
	c.over()
	tasks, later, err := r.Project()
	must(t, err)
	if (later == nil) != (unkept == nil) {
		t.Errorf("the engine had %v, and who reads then %v", unkept, later)
	}
	for _, task := range tasks {
		var text bytes.Buffer
		if err := task.Print(&text, false); err != nil || text.String() != "answer of "+task.ID {
			t.Errorf("the answer of %s is %q, %v", task.ID, &text, err)
		}
	}
	if got := statusIn(t, r.TaskDir("b")); got["state"] != "success" {
		t.Errorf("the other one's folder says %v", got)
	}
	return r, unkept
}

func TestNothingInATasksPlaceLeadsElsewhere(t *testing.T) {
	outside := t.TempDir()
	precious := filepath.Join(outside, OutputFile)
	must(t, os.WriteFile(precious, []byte("precious"), 0o600))
	link := func(from string) { must(t, os.Symlink(outside, from)) }
	untouched := func(unkept error, want string) {
		t.Helper()
		if unkept == nil || !strings.Contains(unkept.Error(), want) {
			t.Errorf("it is not said: %v", unkept)
		}
		if got := tree(t, outside); len(got) != 1 || got[OutputFile] != "precious" {
			t.Errorf("outside is %v", got)
		}
	}
	_, unkept := obstructed(t, link)
	untouched(unkept, "a is in the way of a folder: move it away")
	_, unkept = obstructed(t, func(folder string) { must(t, os.WriteFile(folder, nil, 0o600)) })
	untouched(unkept, "a is in the way of a folder: move it away")

	// The same where an older call's files would go.
	r := newRun(t)
	for range 2 {
		c := begin(t, r, "a")
		c.starts("a", 1)
		c.ends(done("a"), "x")
		c.over()
		_, unkept, err := r.Project()
		must(t, err)
		if c.led.ID == r.ID+"-c1" {
			link(filepath.Join(r.TaskDir("a"), "attempt-1"))
			continue
		}
		untouched(unkept, "attempt-1 is in the way of a folder")
	}
}

func TestAPipeInAFilesPlaceKeepsNobodyWaiting(t *testing.T) {
	r, unkept := obstructed(t, func(folder string) {
		must(t, os.MkdirAll(folder, 0o700))
		for _, name := range []string{StatusFile, OutputFile} {
			must(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600))
		}
	})
	if got := tree(t, r.TaskDir("a")); unkept != nil || got[OutputFile] != "answer of a" {
		t.Errorf("it is not replaced: %v, %v", unkept, got)
	}
}

func TestTasksAreToldWhereNoFolderCanBeWritten(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a")
	c.starts("a", 1)
	c.ends(done("a"), "x")
	c.over()
	must(t, os.Remove(r.tasksDir()))
	must(t, os.WriteFile(r.tasksDir(), nil, 0o600))
	o, tasks, unkept, err := r.Look()
	if err != nil || unkept == nil || o.Counts.Success != 1 || len(tasks) != 1 {
		t.Errorf("told are %+v, %v, %v", o, unkept, err)
	}
}
