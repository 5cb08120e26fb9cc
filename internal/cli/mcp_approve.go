package cli

import (
	"context"
	"io"
	"sync"
	"time"

	"orchestrate/internal/detach"
	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/mcp"
)

// started is a process of its own that carries a command line out for a hosting session.
type started struct {
	eng             *detach.Viewer
	out, complaints held
	copied          sync.WaitGroup
	begun           *detach.Begun
	question        *detach.Question
	ended           *detach.Ended
	gone            bool
}

func (d desk) begin(c mcp.Command) (*started, error) {
	eng, err := detach.Start(d.sys.Self, append([]string{launchCommand}, c.Line()...), d.sys.Env, c.Cwd)
	if err != nil {
		return nil, err
	}
	e := &started{eng: eng}
	e.copied.Go(func() { _, _ = io.Copy(&e.out, eng.Stdout) }) // it ends with either end
	e.copied.Go(func() { _, _ = io.Copy(&e.complaints, eng.Stderr) })
	return e, nil
}

func (e *started) heard(m detach.Message, ok bool) {
	switch {
	case !ok:
		e.gone = true
	case m.Begun != nil:
		e.begun = m.Begun
	case m.Question != nil:
		e.question = m.Question
	case m.Ended != nil:
		e.ended = m.Ended
	}
}

// leave lets go of the process. What it printed is all there if it has ended; unsaid is
// the exit status where it has not said one.
func (e *started) leave(unsaid int) mcp.Outcome {
	if e.ended != nil || e.gone {
		e.copied.Wait()
	}
	_ = e.eng.Close() // it was only read from
	e.copied.Wait()
	o := mcp.Outcome{Exit: unsaid, Out: e.out.String(), Err: e.complaints.String()}
	if e.ended != nil {
		o.Exit = e.ended.Status
	}
	return o
}

const (
	// nothingMore is how long after an answer no other question means that there is none,
	// where nothing else shows it.
	nothingMore = 10 * time.Second
	askingLook  = 100 * time.Millisecond
)

// approve resumes a run on an engine whose questions ask answers. It returns when the
// engine is past them: something is dispatched, or it has ended.
func (d desk) approve(ctx context.Context, cwd, run string, ask mcp.Ask) mcp.Outcome {
	e, err := d.begin(mcp.Command{Args: []string{"resume"}, Of: []string{run}, Cwd: cwd})
	if err != nil {
		return mcp.Outcome{Exit: exitFailed, Err: err.Error()}
	}
	look := time.NewTicker(askingLook)
	defer look.Stop()
	var enough <-chan time.Time
	p := beyond{}
	defer p.close()
	for e.ended == nil && !e.gone {
		select {
		case m, ok := <-e.eng.Messages():
			e.heard(m, ok)
		case <-look.C:
			if e.begun != nil && p.questions(d.sys, e.begun.Dir) {
				return e.leave(exitRunning)
			}
		case <-enough:
			return e.leave(exitRunning)
		case <-ctx.Done():
			return e.leave(exitRunning)
		}
		if q := e.question; q != nil {
			e.question = nil
			a := ask(ctx, q.Text)
			e.eng.Answer(detach.Answer{N: q.N, Asked: a.Asked, Yes: a.Yes, By: engine.ByElicitation})
			enough = time.After(nothingMore)
		}
	}
	return e.leave(exitInterrupted)
}

// beyond knows from a run's records whether its engine is past its questions.
type beyond struct {
	f  *follower
	is bool
}

func (b *beyond) questions(sys System, dir string) bool {
	if b.f == nil {
		f, err := follow(sys, dir)
		if err != nil {
			return false // the engine says what is wrong
		}
		b.f = f
	}
	err := b.f.tail.Next(func(r ledger.Record) {
		switch r.Kind {
		case ledger.KindResumed:
			b.is = false
		case ledger.KindIntent, ledger.KindRunEnded, ledger.KindParked:
			b.is = true
		}
	})
	return err == nil && b.is
}

func (b *beyond) close() {
	if b.f != nil {
		_ = b.f.close() // it was only read from
	}
}
