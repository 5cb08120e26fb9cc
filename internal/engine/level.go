package engine

import (
	"context"

	"orchestrate/internal/sandbox"
)

// Level is what this host's sandbox was seen to enforce now. Without a home folder nobody
// knows which keys it would have to close.
func (e *Engine) Level(ctx context.Context) sandbox.Level {
	level := sandbox.Level{State: sandbox.Unavailable, Evidence: "this program has no sandbox here"}
	switch {
	case e.Operator.Sandbox.Off:
		level = sandbox.Level{State: sandbox.Off, Evidence: "switched off in the operator's configuration (sandbox.off)"}
	case e.Sandbox != nil:
		level = e.Sandbox(ctx)
	}
	if level.Holds() && len(e.homes(e.Env)) == 0 {
		level.State = sandbox.Unavailable
		level.Evidence = "your home folder is not known, and with it which keys to close: HOME is not set, and the system's list of accounts does not name one; set HOME"
	}
	if level.Limits == nil {
		level.Limits = []string{}
	}
	return level
}
