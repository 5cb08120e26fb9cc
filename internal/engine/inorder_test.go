package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
)

// tardy is a supervisor that says the later that a program runs, the earlier the job is
// listed among those that run beside it. That of one job says nothing and fails.
type tardy struct {
	supervisor
	fails string
}

func (s *tardy) Run(ctx context.Context, inv supervise.Invocation, locks []*os.File, started func(supervise.Process)) (supervise.Exit, error) {
	if inv.Job == s.fails {
		return supervise.Exit{}, errors.New("it broke")
	}
	var n int
	if _, err := fmt.Sscanf(inv.Job, "look-%d", &n); err == nil {
		time.Sleep(time.Duration(8-n%8) * time.Millisecond)
		started(supervise.Process{PID: 1000 + n, StartTime: 1})
	}
	return s.supervisor.Run(ctx, inv, locks, started)
}

// Whatever each takes to get ready, the members of a list are intended and begin in its
// order, and one whose supervisor fails keeps nobody.
func TestTheMembersOfAListBeginInItsOrder(t *testing.T) {
	const items = 60
	root := t.TempDir()
	list := make([]string, items)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	text := "version: 1\nconcurrency: 8\narbiter: {mode: checks-only}\njobs:\n" +
		"  - {id: look, foreach: [" + strings.Join(list, ", ") + "], runtime: agent, task: scout, prompt: 'see {{item}}', expected_output: x, timeout: 1m}\n"
	if err := os.WriteFile(filepath.Join(root, "jobs.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	eng := &Engine{
		Adapters: []runtime.Adapter{agent("agent")}, Host: host{}, Now: time.Now,
		Supervisor: func(context.Context) (Supervisor, error) { return &tardy{fails: "look-20"}, nil },
	}
	p, diags, err := eng.Plan(t.Context(), Request{Spec: "jobs.yaml", Cwd: root})
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	var mu sync.Mutex
	took := map[ledger.RecordKind][]string{}
	watch := quiet
	watch.Record = func(rec ledger.Record) {
		mu.Lock()
		defer mu.Unlock()
		if rec.Attempt == 1 { // what failed comes again when it may
			took[rec.Kind] = append(took[rec.Kind], rec.Job)
		}
	}
	if _, err := eng.Run(t.Context(), p, watch, Controls{}); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range list {
		all = append(all, "look-"+item)
	}
	if got := took[ledger.KindIntent]; !slices.Equal(got, all) {
		t.Errorf("intended in the order %v", got)
	}
	begun := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return id == "look-20" })
	if got := took[ledger.KindStarted]; !slices.Equal(got, begun) {
		t.Errorf("begun in the order %v", got)
	}
}

// Programs of a runtime that shares files begin in the order of the line, spaced; nobody
// else waits for their spaces. A supervisor that does not say whether its program runs
// keeps those behind it from nothing but the record that theirs do, and that not for ever.
func TestWhoWaitsForAStart(t *testing.T) {
	for name, c := range map[string]struct {
		line          []string // runtimes, in the order of the line
		mute          int      // how many of these never say that they run
		handed, begun []time.Duration
	}{
		"spaces are kept in order": {
			line: []string{"agent", "agent", "agent"}, handed: []time.Duration{0, spacing, 2 * spacing}, begun: []time.Duration{0, spacing, 2 * spacing},
		},
		"others need not wait for a space": {
			line: []string{"agent", "agent", "program", "agent"}, handed: []time.Duration{0, spacing, 0, 2 * spacing}, begun: []time.Duration{0, spacing, 0, 2 * spacing},
		},
		"a mute supervisor": {
			line: []string{"program", "program", "program"}, mute: 1, handed: []time.Duration{0, 0, 0}, begun: []time.Duration{0, mostToStart, mostToStart},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := bare(sharing{name: "agent", shared: true}, sharing{name: "program"})
				begin := time.Now()
				var line dispatch.Line
				var all sync.WaitGroup
				handed, begun := make([]time.Duration, len(c.line)), make([]time.Duration, len(c.line))
				for i, name := range c.line {
					a := &attempt{route: ledger.Route{Runtime: name}, turn: line.Join()}
					all.Go(func() {
						r.awaitStart(t.Context(), a)
						if handed[i] = time.Since(begin); i < c.mute {
							return
						}
						a.awaitBegun(t.Context())
						begun[i] = time.Since(begin)
						a.turn.Leave()
					})
				}
				all.Wait()
				if !slices.Equal(handed, c.handed) || !slices.Equal(begun, c.begun) {
					t.Errorf("handed over after %v, begun after %v; want %v and %v", handed, begun, c.handed, c.begun)
				}
			})
		})
	}
}
