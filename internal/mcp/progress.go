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

// progress tells the client of a run while it waits, if it asked for that, until stop.
func (c call) progress(ctx context.Context, run string) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
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
	return func() {
		cancel()
		both.Wait()
	}
}

// teller makes of a run's records what a person would want to hear next.
type teller struct {
	mu      sync.Mutex
	seq     int64
	told    int64
	total   int
	settled map[string]bool
	text    string
}

func (t *teller) heard(line []byte) {
	var r ledger.Record
	if json.Unmarshal(line, &r) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq = r.Seq
	switch {
	case r.Kind == ledger.KindRunStarted && r.Run != nil:
		t.total = len(r.Run.Jobs)
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

// tell sends what is new. Its number only grows, as the protocol wants it.
func (t *teller) tell(ctx context.Context, session *sdk.ServerSession, token any) {
	t.mu.Lock()
	p := &sdk.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(t.seq), Message: fmt.Sprintf("%d of %d jobs are over; %s", len(t.settled), t.total, t.text),
	}
	news := t.seq > t.told
	t.told = t.seq
	t.mu.Unlock()
	if news {
		_ = session.NotifyProgress(ctx, p) // the result says it all
	}
}
