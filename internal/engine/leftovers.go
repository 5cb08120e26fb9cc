package engine

import (
	"context"
	"errors"

	"orchestrate/internal/reclaim"
)

// CleanRequest says whose leftovers are looked at, and what may go beside what was
// integrated.
type CleanRequest struct {
	Cwd     string   // absolute
	Discard []string // RUN or RUN/JOB, explicitly given up
}

// Leftovers lists what runs of the workspace have left, with what may become of each.
// Nothing is changed.
func (e *Engine) Leftovers(ctx context.Context, req CleanRequest) (l reclaim.Listing, err error) {
	return l, errors.New("being built")
}

// Reclaim removes what the listing says may go, each looked at once more just before, and
// saves first what no commit holds. done is told of each item.
func (e *Engine) Reclaim(ctx context.Context, req CleanRequest, l reclaim.Listing, done func(reclaim.Item)) (reclaim.Listing, error) {
	return l, errors.New("being built")
}
