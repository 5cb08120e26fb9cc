package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

// checkRunner runs checks under the slot's supervisor, with the same bounds and
// the same proof as a job.
type checkRunner struct {
	run     *run
	slot    int
	attempt *attempt
}

// Run implements check.Runner. A check runs under its attempt's lock: nobody takes
// the tree for idle meanwhile. One whose supervisor died is run once more, by another,
// when what is left of it has ended: what the job did is not lost by that.
func (c *checkRunner) Run(ctx context.Context, cmd check.Command) (check.Result, error) {
	if err := c.attempt.unchecked; err != nil {
		return check.Result{}, fmt.Errorf("what its job ran in cannot be had again: %w", err)
	}
	result, died, err := c.once(ctx, cmd)
	if !died || ctx.Err() != nil {
		return result, err
	}
	if proof := c.run.endRemains(ctx, c.attempt); !proof.Gone {
		return result, fmt.Errorf("%w; what it left is not proven to have ended: %s", err, left(proof))
	}
	c.run.note(ledger.Noted(c.attempt.job.ID, c.run.redact.String("a check is run once more: "+err.Error())))
	result, _, err = c.once(ctx, cmd)
	return result, err
}

// once runs a check; died says that its supervisor, and not the check, is to blame.
func (c *checkRunner) once(ctx context.Context, cmd check.Command) (result check.Result, died bool, err error) {
	exit, died, err := c.supervised(ctx, cmd, c.attempt.box, func(dir string) error {
		return c.takeRefusals("check "+strings.TrimSuffix(filepath.Base(cmd.Stdout), ".out"), dir)
	})
	return resultOf(exit), died, err
}

// supervised runs a command and leaves what it said in its files. What an earlier run of
// it left is removed; take sees the supervisor's own folder before it goes. Without a box
// nothing holds it.
func (c *checkRunner) supervised(ctx context.Context, cmd check.Command, box *sandbox.Policy, take func(dir string) error) (exit supervise.Exit, died bool, err error) {
	sup, err := c.run.slots.take(ctx, c.slot)
	if err != nil {
		return exit, errors.Is(err, supervise.ErrNoAnswer), err
	}
	dir := strings.TrimSuffix(cmd.Stdout, ".out") + ".d"
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return exit, false, err
	}
	exit, err = sup.Run(ctx, supervise.Invocation{
		Job: cmd.Job, Attempt: c.attempt.n, Dir: dir, Argv: cmd.Argv, Env: cmd.Env, Cwd: cmd.Dir,
		Decoder: runtime.DecoderSpec{Runtime: runtimeExec}, Timeout: cmd.Timeout, Grace: grace, PoliteStop: "TERM-GROUP",
		MaxBytes: 1 << 20, Secrets: c.run.secrets, AllowedSecrets: c.run.allowed, Sandbox: box,
	}, c.attempt.locks(), func(supervise.Process) {})
	if err != nil {
		return exit, exit.EndedAt.IsZero(), err
	}
	return exit, false, errors.Join(
		take(dir),
		os.Rename(filepath.Join(dir, ledger.StdoutFile), cmd.Stdout),
		os.Rename(filepath.Join(dir, ledger.StderrFile), cmd.Stderr),
		os.RemoveAll(dir),
	)
}

func resultOf(exit supervise.Exit) check.Result {
	return check.Result{
		ExitCode: exit.ExitCode, TimedOut: exit.Stop == supervise.StopTimeout, SpawnError: exit.SpawnError,
		Duration: time.Duration(exit.DurationMs) * time.Millisecond,
	}
}
