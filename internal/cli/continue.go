package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
)

// newContinue is the engine that `next` and `submit` start for a run that nobody carries
// on: no person asked for it, so what is settled stays as it is.
func newContinue(sys System) *cobra.Command {
	return &cobra.Command{
		Use: continueCommand + " RUN", Hidden: true, Args: exactArgs("RUN"),
		Short: "Go on with a run of which the hosting session has handed something in",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runContinue(cmd.Context(), sys, args[0])
		},
	}
}

func runContinue(ctx context.Context, sys System, arg string) error {
	dir, err := inPlace(sys, arg)
	if err != nil {
		return err
	}
	if sys.engine != nil {
		sys.known = engine.LatelyProbed(dir, sys.Now())
	}
	return conduct(ctx, sys, manner{}, func(ctx context.Context, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
		ctl.Ask = nil // nobody is there
		res, err := st.Resume(ctx, engine.ResumeRequest{Dir: dir, Continues: true}, obs, ctl)
		var owned *ledger.OwnedError
		switch {
		case errors.Is(err, engine.ErrNothingToResume):
			return res, exit(exitOK)
		case errors.As(err, &owned):
			return res, statusError{exitRunning, err}
		}
		return res, err
	})
}
