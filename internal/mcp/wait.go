package mcp

import (
	"context"
	"time"
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
	stop()
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
	meaning := ofRun(o.Exit, st.Verdict)
	if len(st.Awaiting) > 0 && o.Exit == exitRunning {
		meaning += "; jobs with the hosting session: see awaiting"
	}
	return RunOut{Said: said(o, meaning, then(o.Exit, run)...), Standing: st}, nil
}
