package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"orchestrate/internal/detach"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/ui"
)

// watched is an engine that this process started and only looks at.
type watched struct {
	sys    System
	how    manner
	eng    *detach.Viewer
	id     process.Identity
	run    *detach.Begun
	ended  *detach.Ended
	tty    approver
	asked  *detach.Question // not put yet: what was said before it is not all shown
	told   *progress
	copied sync.WaitGroup
	held   [2]bytes.Buffer // with --detach: what the engine prints, in case it begins no run
	broken error           // standard output could not be written
	view   *glass          // nil = the engine's lines are shown as they come

	presses    presses
	interrupts int
	parting    <-chan time.Time // not nil once this process is asked to end before it knows the run
}

// introduction is how long a viewer that is asked to end waits to learn which run it
// leaves.
const introduction = 5 * time.Second

// watch starts an engine for this process's command line and shows what it prints.
func watch(ctx context.Context, sys System, how manner) error {
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, stops()...)
	defer signal.Stop(sig)
	handed, gone, err := handOver(handed{sys.known, sys.agents})
	if err != nil {
		return failure(err)
	}
	defer gone()
	view := newGlass(sys, how)
	args := []string{launchCommand}
	if view != nil {
		args = append(args, shownArg)
	}
	args = append(args, handed...)
	eng, err := detach.Start(sys.Self, append(args, sys.args...), sys.Env, sys.Cwd)
	if err != nil {
		return failure(err)
	}
	w := &watched{sys: sys, how: how, eng: eng, tty: newApprover(sys), told: newProgress(sys.Err), view: view}
	defer w.view.hide(w) // also when something here goes wrong as nothing should
	w.relay()
	err = w.until(ctx, sig)
	return joined(err, errors.Join(w.tty.close(), w.view.close(w), eng.Close()))
}

// relay copies what the engine prints. When our own reader has gone, the engine's
// output still has one.
func (w *watched) relay() {
	out, complaints := w.sys.Out, io.Writer(w.told)
	switch {
	case w.how.detach:
		out, complaints = &w.held[0], &w.held[1]
	case w.view != nil:
		out = w.view.results
	}
	w.copied.Go(func() { w.broken = relay(out, w.eng.Stdout) })
	w.copied.Go(func() { _ = relay(complaints, w.eng.Stderr) }) // there is nowhere left to say so
}

func relay(to io.Writer, from io.Reader) error {
	_, err := io.Copy(to, from)
	if err != nil {
		_, _ = io.Copy(io.Discard, from) // nothing can be done about either end
	}
	return err
}

// until returns when the engine has ended, or this process is not to wait for that.
func (w *watched) until(ctx context.Context, sig <-chan os.Signal) error {
	looks, done := w.view.looks()
	defer done()
	for {
		select {
		case m, ok := <-w.eng.Messages():
			if !ok {
				return w.over(ctx)
			}
			w.heard(m)
			switch {
			case w.run != nil && w.how.detach:
				return w.detached()
			case w.run != nil && w.parting != nil:
				return w.goesOn()
			}
		case s := <-sig:
			switch {
			case s == os.Interrupt:
				if w.interrupted() {
					return exit(exitInterrupted)
				}
			case w.run != nil || w.parting != nil:
				return w.goesOn()
			default:
				w.parting = time.After(introduction)
			}
		case <-w.told.moved:
			w.ask()
		case a := <-w.tty.answers:
			w.eng.Answer(a)
			w.view.asked(false)
		case <-looks:
			w.view.look(w)
		case <-w.view.broken():
			w.view.hide(w)
		case p := <-w.view.presses():
			switch {
			case p == ui.PressLeave:
				return w.goesOn()
			case w.interrupted():
				return exit(exitInterrupted)
			}
		case <-w.parting:
			return w.goesOn()
		}
	}
}

// interrupted passes an interrupt on. The third ends this process, whatever the engine
// does.
func (w *watched) interrupted() (last bool) {
	if !w.presses.again(time.Now()) {
		return false
	}
	w.eng.Interrupt()
	if w.interrupts++; w.interrupts < 3 {
		return false
	}
	w.view.hide(w)
	if w.run != nil {
		sayLeft(w.sys, w.run.RunID)
	} else {
		fmt.Fprintln(w.sys.Err, "not waited for: the engine is told to end and has begun no run yet")
	}
	return true
}

func (w *watched) heard(m detach.Message) {
	switch {
	case m.Engine != nil:
		w.id = *m.Engine
	case m.Begun != nil:
		w.run = m.Begun
		if w.sys.begun != nil {
			w.sys.begun(m.Begun.RunID, m.Begun.Dir)
		}
		w.view.begin(w)
	case m.Question != nil:
		w.asked = m.Question
		w.view.asked(true)
		w.view.hide(w)
		w.ask()
	case m.Ended != nil:
		w.ended = m.Ended
	}
}

// ask puts the question once all is shown that was said before it: lines that came in
// between would part it from the answer.
func (w *watched) ask() {
	if w.asked == nil || w.told.shown.Load() < w.asked.After {
		return
	}
	w.tty.put(*w.asked)
	w.asked = nil
}

// beginning is what --detach --json prints.
type beginning struct {
	SchemaVersion int    `json:"schemaVersion"`
	RunID         string `json:"runId"`
	RunDir        string `json:"runDir"`
	EnginePID     int    `json:"enginePid"` // 0 = the run had ended and nothing was started
}

// announce prints where a run is, for who does not wait for it.
func (m manner) announce(sys System, b beginning) error {
	var err error
	switch b.SchemaVersion = ledger.SchemaVersion; {
	case m.json:
		err = json.NewEncoder(sys.Out).Encode(b)
	case m.brief:
		err = announced(sys.Out, b)
	default:
		_, err = fmt.Fprintln(sys.Out, b.RunID)
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

func (w *watched) detached() error {
	sayBegun(w.sys, w.run.RunID, w.run.Dir)
	return w.how.announce(w.sys, beginning{RunID: w.run.RunID, RunDir: w.run.Dir, EnginePID: w.id.PID})
}

// goesOn leaves the engine alone: this process is asked to end, not the run.
func (w *watched) goesOn() error {
	w.view.hide(w)
	if w.run == nil {
		fmt.Fprintln(w.sys.Err, "the engine goes on without this command; if it begins a run, that is the newest in plans/reports")
	} else {
		fmt.Fprintf(w.sys.Err, "the run goes on: orchestrate wait %s\n", w.run.RunID)
		if w.view != nil {
			fmt.Fprintf(w.sys.Err, "look at it again: orchestrate attach %s\n", w.run.RunID)
		}
	}
	return exit(exitRunning)
}

// over ends as the engine did, once its process has really gone and all that it
// printed is shown.
func (w *watched) over(ctx context.Context) error {
	if err := detach.Gone(ctx, w.id); err != nil {
		return failure(err)
	}
	w.copied.Wait()
	w.view.end(w)
	if w.how.detach {
		_, err1 := w.held[0].WriteTo(w.sys.Out)
		_, err2 := w.held[1].WriteTo(w.sys.Err)
		w.broken = errors.Join(err1, err2)
	}
	switch {
	case w.ended == nil && w.run == nil:
		return failure(errors.New("the engine ended before it began a run"))
	case w.ended == nil && w.how.planning:
		fmt.Fprintf(w.sys.Err, "the engine is gone without a word, so the planning was cut off; end what may still run of it with `orchestrate cancel %s`, and give the request again\n", w.run.RunID)
		return exit(exitInterrupted)
	case w.ended == nil:
		fmt.Fprintf(w.sys.Err, "the engine is gone without a word, so the run was cut off; go on with: orchestrate resume %s\n", w.run.RunID)
		return exit(exitInterrupted)
	case w.ended.Status == exitOK && w.broken != nil:
		return failure(w.broken) // who reads only the output must not take silence for success
	}
	return exit(w.ended.Status)
}
