package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrate/internal/ledger"
)

// beat is how often a client hears of a run at most.
const beat = time.Second

// progress tells the client of a run while it waits, if it asked for that, until stop is
// told how the wait has ended.
func (c call) progress(outer context.Context, run string) (stop func(Outcome)) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func(Outcome) {}
	}
	ctx, cancel := context.WithCancel(outer)
	var both sync.WaitGroup
	t := &teller{settled: map[string]bool{}}
	both.Go(func() {
		c.host.Call(ctx, Command{Args: []string{"attach", "--json"}, Of: []string{run}, Cwd: c.cwd, Each: t.heard})
	})
	both.Go(func() {
		for every := time.NewTicker(beat); ; {
			select {
			case <-every.C:
				t.tell(ctx, c.req.Session, token)
			case <-ctx.Done():
				every.Stop()
				return
			}
		}
	})
	return func(o Outcome) {
		cancel()
		both.Wait()
		t.last(o)
		t.tell(outer, c.req.Session, token)
	}
}

// teller makes of a run's records what a person would want to hear next.
type teller struct {
	mu      sync.Mutex
	jobs    int
	settled map[string]bool
	text    string
	most    int // steps that were done at once: jobs that were over, and the end of the run
	since   int // records since then
	news    bool
}

// done counts steps and what happened since: its number only grows, as the protocol wants it.
func (t *teller) done(steps int) {
	if t.news = true; steps > t.most {
		t.most, t.since = steps, 0
		return
	}
	t.since++
}

func (t *teller) heard(line []byte) {
	var r ledger.Record
	if json.Unmarshal(line, &r) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.done(len(t.settled)) }()
	switch {
	case r.Kind == ledger.KindRunStarted && r.Run != nil:
		t.jobs = len(r.Run.Jobs)
	case r.Kind == ledger.KindSettled && r.Job != ledger.ArbiterJob:
		t.settled[r.Job] = true
	case r.Kind == ledger.KindRequeued:
		delete(t.settled, r.Job)
	case r.Kind == ledger.KindEvent:
		return // what an agent says is not what moves a run
	}
	t.text = strings.TrimSpace(string(r.Kind) + " " + string(r.Status))
	if r.Job != "" {
		t.text = r.Job + ": " + t.text
	}
}

// last adds what the records had not told yet when the wait ended.
func (t *teller) last(o Outcome) {
	var s ledger.State
	if json.Unmarshal([]byte(o.Out), &s) != nil || s.RunID == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = len(s.Jobs)
	clear(t.settled)
	for _, j := range s.Jobs {
		if j.Status.Settled() {
			t.settled[j.ID] = true
		}
	}
	over := len(t.settled)
	switch {
	case s.Phase == ledger.PhaseEnded:
		t.text = ofRun(o.Exit, s.Verdict)
		t.done(t.jobs + 1)
	case o.Exit != exitRunning:
		t.text = ofRun(o.Exit, "")
		t.done(over)
	case over > t.most:
		t.done(over)
	}
}

// tell sends what is new: of the jobs, and the end of the run as one more, how many are
// done.
func (t *teller) tell(ctx context.Context, session *sdk.ServerSession, token any) {
	t.mu.Lock()
	p := &sdk.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(t.most) + float64(t.since)/float64(t.since+1), Total: float64(t.jobs + 1),
		Message: fmt.Sprintf("%d of %d jobs are over; %s", len(t.settled), t.jobs, t.text),
	}
	news := t.news
	t.news = false
	t.mu.Unlock()
	if news {
		_ = session.NotifyProgress(ctx, p) // the result says it all
	}
}
