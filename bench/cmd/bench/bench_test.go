//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets this binary be the measuring process as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "measure" {
		if err := run(os.Args[1:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestMeasureCountsWhatOutlivesTheCommand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// Detached as an engine is: in a session of its own, its parent gone.
	work := "setsid sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $$ > done' >/dev/null 2>&1 & exit 3"
	c, err := measure(self, dir, os.Environ(), []string{"sh", "-c", work})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "done"))
	if err != nil {
		t.Fatal("measure returned before the tree had ended")
	}
	if len(c.Orphans) != 1 || fmt.Sprintln(c.Orphans[0].PID) != string(pid) {
		t.Fatalf("%+v: not the process %s that went on", c.Orphans, pid)
	}
	if c.Exit != 3 || c.CPU < c.Orphans[0].CPU+c.Command.CPU || c.Orphans[0].CPU <= c.Command.CPU {
		t.Errorf("%+v: the loop's time is not counted, or not the exit status", c)
	}
}

func TestRatiosAreOfEachRound(t *testing.T) {
	// A machine that is three times slower in one round changes no ratio.
	base := sample{command: command{units: 10}, costs: []cost{{CPU: 1}, {CPU: 3}, {CPU: 1}}}
	twice := sample{command: command{units: 10}, costs: []cost{{CPU: 2}, {CPU: 6}, {CPU: 2}}}
	half := sample{command: command{units: 40}, costs: twice.costs}
	if got := twice.times(&base); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
	if got := half.times(&base); got != 0.5 {
		t.Errorf("per unit: got %v, want 0.5", got)
	}
	if got := twice.cpuPerUnit(); got != 200 {
		t.Errorf("got %v ms, want 200", got)
	}
}

func TestGraphs(t *testing.T) {
	if w := wide(); len(w) != many || len(w[0].deps) != 0 || len(w[many-1].deps) != 100 {
		t.Error("the wide graph is not ten stages of a hundred, all to all")
	}
	c := chain()
	if len(c) != links || len(c[0].deps) != 0 || c[5].deps[0] != c[4].id {
		t.Error("the chain is none")
	}
}

func TestTheEngineIsWhoTheLockNamesLast(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "plans/reports/orchestrate-1")
	lock := `{"engine":{"pid":7}}` + "\n" + `{"engine":null}` + "\n" + `{"engine":{"pid":9}}` + "\n" + `{"engine":null}` + "\n"
	for name, text := range map[string]string{"state.json": "{}", "run.lock": lock} {
		if err := errors.Join(os.MkdirAll(run, 0o700), os.WriteFile(filepath.Join(run, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c := cost{Command: part{PID: 8, CPU: 2}, Orphans: []part{{PID: 9, CPU: 3}}}
	if err := c.findEngine(dir); err != nil || c.Engine.CPU != 3 || c.viewer() != 2 {
		t.Errorf("%+v (%v)", c, err)
	}
	c.Orphans = nil
	if err := c.findEngine(dir); err == nil {
		t.Error("an engine that was not counted is not missed")
	}
}

func TestPace(t *testing.T) {
	// 100 transitions, the first half a second apart, the other half two.
	moves := []time.Time{time.Unix(0, 0)}
	for i := range 99 {
		moves = append(moves, moves[i].Add(time.Duration(1+i/50)*time.Second))
	}
	if early, late := pace(moves); early != 1e6 || late != 2e6 {
		t.Errorf("%v and %v us, want a second and two", early, late)
	}
}
