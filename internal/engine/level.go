package engine

import (
	"context"

	"orchestrate/internal/sandbox"
)

// testSandbox is what this host's sandbox was seen to enforce now.
func (e *Engine) testSandbox(ctx context.Context) sandbox.Level {
	level := sandbox.Level{State: sandbox.Unavailable, Evidence: "this program has no sandbox here"}
	switch {
	case e.Operator.Sandbox.Off:
		level = sandbox.Level{State: sandbox.Off, Evidence: "the operator's configuration switches it off"}
	case e.Sandbox != nil:
		level = e.Sandbox(ctx)
	}
	if level.Limits == nil {
		level.Limits = []string{}
	}
	return level
}
