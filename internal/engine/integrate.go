package engine

import (
	"context"
	"errors"

	"orchestrate/internal/integrate"
)

// IntegrateRequest says which work of an ended run comes where.
type IntegrateRequest struct {
	Dir      string   // absolute run directory
	Jobs     []string // nil = all that left work
	Strategy string   // integrate.Merge or integrate.Patch
	Branch   string   // a new branch for it; "" = the one that is checked out
	DryRun   bool     // say what would be done, and do nothing
}

// IntegrateControls are how a person is shown and asked.
type IntegrateControls struct {
	Show func(integrate.Integration) // before anything is done: the work and the matrix
	Ask  func(context.Context, Question) Answer
}

// Integrate brings the work of a run that passed onto a branch. Whatever stands against
// it is in the Integration, and everything is then as it was; an error is for what
// could not be found out or done. exit is the exit status.
func (e *Engine) Integrate(ctx context.Context, req IntegrateRequest, ctl IntegrateControls) (in integrate.Integration, exit int, err error) {
	return in, ExitFailed, errors.New("being built")
}
