package mcp

import (
	"context"
	"slices"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// mostWait is what one call waits, in seconds: clients give up on a call after a minute.
const mostWait = 50

// WaitIn is what wait is asked.
type WaitIn struct {
	Where
	OfRun
	Seconds *float64 `json:"seconds,omitempty" jsonschema:"how long to wait at most; left out: 50"`
}

// RunOut is where a run stands.
type RunOut struct {
	Said
	Standing
}

func seconds(s *float64) time.Duration {
	if s == nil {
		return mostWait * time.Second
	}
	return time.Duration(*s * float64(time.Second))
}

func wait(ctx context.Context, c call, in WaitIn) (RunOut, error) {
	run := c.named(in.Run)
	stop := c.progress(ctx, run)
	o := c.command(ctx, []string{"wait", "--json", "--timeout", seconds(in.Seconds).String()}, run)
	stop(o)
	return c.stands("wait", run, o)
}

// StatusIn is what status is asked.
type StatusIn struct {
	Where
	OfRun
}

// status is a wait that does not wait: the same words for how the run stands.
func status(ctx context.Context, c call, in StatusIn) (RunOut, error) {
	run := c.named(in.Run)
	o := c.command(ctx, []string{"wait", "--json", "--timeout", "0s"}, run)
	return c.stands("status", run, o)
}

// stands makes the result of what printed where a run stands.
func (c call) stands(tool, run string, o Outcome) (out RunOut, err error) {
	st, ok := standing(o.Out, c.root())
	if !ok {
		return out, failed(tool, o, "")
	}
	run = c.meant(run, st.RunID)
	meaning, next := ofRun(o.Exit, st.Verdict), then(o.Exit, run)
	switch {
	case len(st.Awaiting) > 0 && o.Exit == exitRunning:
		meaning += "; jobs with the hosting session: see awaiting"
	case st.Phase == ledger.PhaseAwaiting && (o.Exit == exitAwaiting || o.Exit == exitBlocked):
		meaning, next = c.parked(run, o.Exit)
	}
	return RunOut{Said: said(o, meaning, next...), Standing: st}, nil
}

// parked says what to do about a run that waits for the session, and for nothing else.
func (c call) parked(run string, exit int) (meaning string, next []string) {
	meaning, next = ofRun(exitAwaiting, ""), then(exitAwaiting, run)
	if held(dirOf(c.root(), run), time.Now()) {
		meaning, next = allTaken, handIn(run)
	}
	if exit == exitBlocked {
		meaning += "; something else is blocked: see jobs"
	}
	return meaning, next
}

// held reports whether next has nothing to give, or to start an engine for: all jobs that
// are with the session are in somebody's hands.
func held(dir string, now time.Time) bool {
	if dir == "" {
		return false
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return false // next says what is wrong
	}
	defer run.Close() //nolint:errcheck // it was only read from
	away, err := handoff.Look(run)
	return err == nil && len(away) > 0 && !slices.ContainsFunc(away, func(a handoff.Away) bool {
		return a.Wanted(now) || a.Back()
	})
}
