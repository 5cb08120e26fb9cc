package engine

import (
	"context"
	"fmt"
	"path/filepath"
)

// holdsOpened refuses, before anything is dispatched, what the operator opened to jobs and
// no sandbox could hold: a folder that is not there, and one in which runs are kept.
func (p *Plan) holdsOpened(ctx context.Context, e *Engine) error {
	if len(e.Operator.Sandbox.Writable) == 0 || !e.Level(ctx).Holds() {
		return nil
	}
	for _, path := range e.Operator.Sandbox.Writable {
		real, err := filepath.EvalSymlinks(e.atHome(path))
		if err != nil {
			return fmt.Errorf("sandbox.writable of the operator's configuration: %w; make it, or take %q out", err, path)
		}
		for _, kept := range p.keptRuns() {
			if inside(real, kept) {
				return fmt.Errorf("sandbox.writable of the operator's configuration: %q takes in %s, where runs are kept and no job may write; name the folders beside it", path, kept)
			}
		}
	}
	return nil
}
