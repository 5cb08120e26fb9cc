package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
)

// trialLimit bounds the self-test, which takes some milliseconds.
const trialLimit = 10 * time.Second

// TestSandbox finds out, live, what this host's sandbox holds: a process that is confined
// by a supervisor from start tries to get out, and the place is looked at afterwards.
// program is a program of ours that understands sandbox.TrialCommand; the place is made
// in the folder scratch.
func TestSandbox(ctx context.Context, start func(context.Context) (*Slot, error), program, scratch string) sandbox.Level {
	level := sandbox.Level{State: sandbox.Unavailable, ABI: sandbox.ABI(), Limits: []string{}}
	if level.ABI < sandbox.MinABI {
		level.Evidence = sandbox.Missing()
		return level
	}
	level.Mechanism = sandbox.Landlock
	refused, done, err := tryOut(ctx, start, program, scratch)
	if err != nil {
		level.Evidence = "the self-test of the sandbox was not held, or could not be made: " + err.Error()
		return level
	}
	level.State, level.Limits = sandbox.Enforced, sandbox.Limits(level.ABI)
	level.Evidence = fmt.Sprintf("a confined process was refused all %d ways out that it tried and could do all %d things that its work needs; looked at from outside, nothing had changed", refused, done)
	return level
}

// tryOut makes the place of the self-test, runs the confined process and judges it.
func tryOut(ctx context.Context, start func(context.Context) (*Slot, error), program, scratch string) (refused, done int, err error) {
	trial, err := sandbox.NewTrial(scratch)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, trial.Remove()) }()
	slot, err := start(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, slot.Close()) }()
	policy := trial.Policy()
	exit, err := slot.Run(ctx, Invocation{
		Job: "sandbox", Attempt: 1, Dir: trial.Evidence(), Cwd: trial.Cwd(),
		Argv: append([]string{program}, trial.Args(sandbox.ABI())...), Env: []string{},
		Decoder: runtime.DecoderSpec{Runtime: "exec"}, Timeout: trialLimit, MaxBytes: 64 << 10, Sandbox: &policy,
	}, nil, nil)
	if err != nil {
		return 0, 0, err
	}
	if exit.SpawnError != "" {
		return 0, 0, errors.New(exit.SpawnError)
	}
	if exit.Sandbox == nil || exit.ExitCode == nil || *exit.ExitCode != 0 {
		return 0, 0, fmt.Errorf("the confined process did not end well: %s", exit.how())
	}
	said, err := os.ReadFile(filepath.Join(trial.Evidence(), "stdout.txt"))
	if err != nil {
		return 0, 0, err
	}
	return trial.Judge(said)
}
