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

	"orchestrate/internal/detach"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
)

// watched is an engine that this process started and only looks at.
type watched struct {
	sys    System
	how    manner
	eng    *detach.Viewer
	id     process.Identity
	run    *detach.Begun
	ended  *detach.Ended
	copied sync.WaitGroup
	held   [2]bytes.Buffer // with --detach: what the engine prints, in case it begins no run
	broken error           // standard output could not be written
}

// watch starts an engine for this process's command line and shows what it prints.
func watch(ctx context.Context, sys System, how manner) error {
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, stops()...)
	defer signal.Stop(sig)
	eng, err := detach.Start(sys.Self, append([]string{launchCommand}, sys.args...), sys.Env, sys.Cwd)
	if err != nil {
		return failure(err)
	}
	w := &watched{sys: sys, how: how, eng: eng}
	w.relay()
	err = w.until(ctx, sig)
	return joined(err, eng.Close())
}

// relay copies what the engine prints. When our own reader has gone, the engine's
// output still has one.
func (w *watched) relay() {
	out, complaints := w.sys.Out, w.sys.Err
	if w.how.detach {
		out, complaints = &w.held[0], &w.held[1]
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
	for interrupts := 0; ; {
		select {
		case m, ok := <-w.eng.Messages():
			if !ok {
				return w.over(ctx)
			}
			if w.heard(m); w.run != nil && w.how.detach {
				return w.detached()
			}
		case s := <-sig:
			if s != os.Interrupt {
				return w.goesOn()
			}
			w.eng.Interrupt()
			if interrupts++; interrupts > 2 {
				return exit(exitInterrupted)
			}
		}
	}
}

func (w *watched) heard(m detach.Message) {
	switch {
	case m.Engine != nil:
		w.id = *m.Engine
	case m.Begun != nil:
		w.run = m.Begun
	case m.Ended != nil:
		w.ended = m.Ended
	}
}

// beginning is what --detach --json prints.
type beginning struct {
	SchemaVersion int    `json:"schemaVersion"`
	RunID         string `json:"runId"`
	RunDir        string `json:"runDir"`
	EnginePID     int    `json:"enginePid"`
}

func (w *watched) detached() error {
	sayBegun(w.sys, w.run.RunID, w.run.Dir)
	var err error
	if w.how.json {
		err = json.NewEncoder(w.sys.Out).Encode(beginning{ledger.SchemaVersion, w.run.RunID, w.run.Dir, w.id.PID})
	} else {
		_, err = fmt.Fprintln(w.sys.Out, w.run.RunID)
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// goesOn leaves the engine alone: this process is asked to end, not the run.
func (w *watched) goesOn() error {
	if w.run == nil {
		fmt.Fprintln(w.sys.Err, "the run goes on without this command")
	} else {
		fmt.Fprintf(w.sys.Err, "the run goes on: orchestrate wait %s\n", w.run.RunID)
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
	if w.how.detach {
		_, err1 := w.held[0].WriteTo(w.sys.Out)
		_, err2 := w.held[1].WriteTo(w.sys.Err)
		w.broken = errors.Join(err1, err2)
	}
	switch {
	case w.ended == nil && w.run == nil:
		return failure(errors.New("the engine ended before it began a run"))
	case w.ended == nil:
		fmt.Fprintf(w.sys.Err, "the engine is gone without a word, so the run was cut off; go on with: orchestrate resume %s\n", w.run.RunID)
		return exit(exitInterrupted)
	case w.ended.Status == exitOK && w.broken != nil:
		return failure(w.broken) // who reads only the output must not take silence for success
	}
	return exit(w.ended.Status)
}
