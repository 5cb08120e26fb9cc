package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orchestrate/internal/engine"
	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/worker"
)

// tasksTold tells of a call of the worker form: on standard output a line for each task
// when all of its folder is there, on standard error everything else. It keeps the tasks'
// folders, too, beside the run: the ledger does not wait for them.
type tasksTold struct {
	sys  System
	run  worker.Run
	task string     // of a dispatch, "" = a batch
	dir  string     // of the call, once it has begun
	json ui.Printer // nil = lines

	keeper *worker.Keeper
	last   *ledger.JobStatus // of the task of a dispatch; nil = it has not settled
	news   ui.Printer
	err    error // the first that a folder could not be kept with

	mu     sync.Mutex
	queue  []ledger.Record
	more   *sync.Cond
	closed bool
	done   sync.WaitGroup
}

func newTasksTold(sys System, run worker.Run, asJSON bool) *tasksTold {
	w := &tasksTold{sys: sys, run: run, news: ui.NewLines(sys.Err)}
	if asJSON {
		w.json = ui.NewJSON(sys.Out)
	}
	w.more = sync.NewCond(&w.mu)
	return w
}

// observer is told by the engine.
func (w *tasksTold) observer(t *telling) engine.Observer {
	return engine.Observer{
		Begun: func(id, dir string) {
			w.dir = dir
			if w.keeper, w.err = w.run.Keeper(dir); w.err != nil {
				w.sayUnkept(w.err)
			}
			w.done.Go(w.tell)
			t.begun(id, dir)
		},
		Planned: func(p *engine.Plan) {
			for _, d := range p.Spec.Warning {
				fmt.Fprintf(w.sys.Err, "warning: %s\n", d.Message) // its field is of a spec that the person did not write
			}
		},
		Record: w.record,
	}
}

// record takes a record to be told. The ledger waits for it, so it only keeps it.
func (w *tasksTold) record(r ledger.Record) {
	if w.json != nil {
		w.json.Record(r)
	}
	if r.Kind == ledger.KindEvent {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, r)
	w.more.Signal()
}

// tell tells of the records in their order, until there will be no more.
func (w *tasksTold) tell() {
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.closed {
			w.more.Wait()
		}
		batch := w.queue
		w.queue = nil
		w.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, r := range batch {
			if w.keeper != nil {
				if err := w.keeper.Record(r); err != nil && w.err == nil {
					w.err = err
					w.sayUnkept(err)
				}
			}
			if r.Kind == ledger.KindSettled && r.Job == w.task {
				w.last = r.Settled
			}
			if w.json == nil {
				w.say(r)
			}
		}
	}
}

// sayUnkept says that the folders lag behind. The call goes on: its own records are what
// counts.
func (w *tasksTold) sayUnkept(err error) {
	fmt.Fprintf(w.sys.Err, "note: the tasks' folders are not kept: %v; they are written when the call ends\n", err)
}

// close returns when all that was recorded is told.
func (w *tasksTold) close() {
	w.mu.Lock()
	w.closed = true
	w.more.Broadcast()
	w.mu.Unlock()
	w.done.Wait()
}

func (w *tasksTold) say(r ledger.Record) {
	switch r.Kind {
	case ledger.KindIntent:
		w.sayChosen(r)
	case ledger.KindSettled:
		if r.Settled != nil && r.Status != ledger.Skipped {
			fmt.Fprintln(w.sys.Out, w.line(*r.Settled))
		}
	case ledger.KindRunEnded:
	default:
		w.news.Record(r)
	}
	if r.Next != nil && r.Next.Pause != "" {
		fmt.Fprintf(w.sys.Err, "%s is paused %s (%s); its tasks wait\n", r.Next.Pause,
			whileHeld(ledger.Paused{Runtime: r.Next.Pause, Until: r.Next.Until, Resets: r.Next.Resets}), inWords(r.Reason))
	}
}

// sayChosen says who does a task, and why.
func (w *tasksTold) sayChosen(r ledger.Record) {
	if r.Route == nil {
		return
	}
	text := r.Job + "  begins on " + r.Route.Adapter()
	if r.Route.Model != "" {
		text += " (" + untrusted.From(r.Route.Model).Line(80) + ")"
	}
	if r.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	if r.Route.Why != "" {
		text += ": " + r.Route.Why
	}
	fmt.Fprintln(w.sys.Err, text+whereWritten(*r.Route))
}

// whereWritten says where a writer works: the files of its checkout and those of a worktree
// are not the same.
func whereWritten(r ledger.Route) string {
	switch {
	case r.IsolationWhy != "":
		return fmt.Sprintf("; in a %s of its own (%s)", r.Isolation, r.IsolationWhy)
	case slices.Contains(r.Controls, route.ControlPatch):
		return "; in the checkout itself"
	}
	return ""
}

// line tells how a task ended.
func (w *tasksTold) line(s ledger.JobStatus) string {
	parts := []string{s.ID, string(s.Status), fmt.Sprintf("exit %d", worker.ExitCode(s))}
	if s.Reason != "" {
		parts[1] += " (" + string(s.Reason) + ")"
	}
	if s.StartedAt != nil {
		parts = append(parts, figure.TookMs(s.DurationMs))
	}
	if s.SessionID != "" {
		parts = append(parts, "session "+untrusted.From(s.SessionID).Line(0))
	}
	told := s.ReasonEvidence.Line(previewRunes)
	if s.Status == ledger.Success {
		told = w.answer(s.ID).Line(previewRunes)
	}
	if told != "" {
		parts = append(parts, told)
	}
	return strings.Join(parts, "  ")
}

// answer is the beginning of a task's answer, empty where there is none.
func (w *tasksTold) answer(id string) untrusted.Text {
	f, err := os.Open(filepath.Join(w.dir, id, ledger.OutputFile))
	if err != nil {
		return untrusted.Text{}
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, 8*previewRunes))
	if err != nil {
		return untrusted.Text{}
	}
	return untrusted.From(string(data))
}

// inWords is a reason as a sentence has it.
func inWords(r runtime.Reason) string { return strings.ReplaceAll(string(r), "_", " ") }

// outcome says how the call ended, once all of its folders are as its ledger tells.
func (w *tasksTold) outcome(res engine.Result) error {
	tasks, unkept, err := w.run.Project()
	if err != nil {
		return failure(err)
	}
	sayUnkept(w.sys, unkept)
	run, err := ledger.Open(res.Dir)
	if err != nil {
		return failure(err)
	}
	state := run.State()
	if err := run.Close(); err != nil {
		return failure(err)
	}
	for _, step := range nextOf(tasks, state.RunID) {
		fmt.Fprintf(w.sys.Err, "next: %s\n", step)
	}
	if res.Exit == exitInterrupted {
		fmt.Fprintf(w.sys.Err, "interrupted; what succeeded is kept; go on with: orchestrate resume %s\n", state.RunID)
	}
	if w.json == nil {
		if _, err := fmt.Fprint(w.sys.Out, summaryOf(w.run, state)); err != nil {
			return failure(err)
		}
	}
	if w.last != nil {
		return exit(worker.ExitCode(*w.last))
	}
	return exit(res.Exit)
}
