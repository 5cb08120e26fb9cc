//go:build e2e && linux

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/runtime/registry"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/version"
)

// resumed carries on the session that a job's status names, with the command that the
// adapter builds from this run's evidence, under a supervisor. The model must see what
// was said in the first turn.
func (e *ended) resumed(t *testing.T, a agent, job, first string) outcome {
	t.Helper()
	s := e.status(job)
	adapter := e.adapter(t, a)
	req := runtime.Request{
		Job: job, Attempt: 1, Task: "scout", Prompt: "Say it once more.", Dir: e.dir, Out: filepath.Join(e.run, ledger.JobPath(job, ledger.ArtifactsDir)),
		Access: runtime.AccessRead, Model: a.model, Resume: s.SessionID,
	}
	if s.Worktree != nil {
		req.Dir = filepath.Join(e.run, *s.Worktree)
		ok(t, os.MkdirAll(req.Dir, 0o700))
	}
	if req.Resume == "" { // the agent has none: the adapter must say so
		req.Resume = "none"
	}
	cmd, err := adapter.Command(req, e.profile(a))
	if err != nil {
		return outcome{status: ledger.Blocked, why: err.Error()}
	}
	env, _, _ := environ.Filter(e.env, adapter.SignInEnv(), nil)
	exit := e.supervised(t, supervise.Invocation{
		Job: job, Attempt: 1, Dir: t.TempDir(), Cwd: req.Dir, Argv: cmd.Argv, Env: append(env, cmd.Env...), Stdin: cmd.Stdin,
		Decoder: cmd.Decoder, Timeout: 3 * time.Minute, Grace: 10 * time.Second, PoliteStop: cmd.PoliteStop, MaxBytes: 1 << 20,
	})
	o := exit.outcome(t)
	if exit.Outcome.SessionID != s.SessionID {
		t.Errorf("the session is %q, it was to be %q", exit.Outcome.SessionID, s.SessionID)
	}
	if exit.Outcome.Answer != untrusted.From("the first turn was seen") {
		t.Errorf("the answer is %q", exit.Outcome.Answer)
	}
	return o
}

func (e *ended) adapter(t *testing.T, a agent) runtime.Adapter {
	t.Helper()
	for _, known := range registry.All(e.program(), nil) {
		if known.Name() == a.name {
			return known
		}
	}
	t.Fatalf("%s is not registered", a.name)
	return nil
}

// settled is one attempt that a supervisor saw through.
type settled struct {
	supervise.Exit
	dir string
}

func (e *ended) supervised(t *testing.T, inv supervise.Invocation) settled {
	t.Helper()
	slot, err := supervise.Start(context.Background(), supervise.Program(e.program()), version.Version)
	ok(t, err)
	exit, err := slot.Run(context.Background(), inv, nil, nil)
	ok(t, err)
	ok(t, slot.Close())
	if !exit.Proof.Gone {
		t.Errorf("processes are left: %+v", exit.Proof)
	}
	return settled{exit, inv.Dir}
}

func (s settled) outcome(t *testing.T) outcome {
	t.Helper()
	got := outcome{status: ledger.Failed, reason: s.Outcome.Reason, why: s.Outcome.Evidence.Unshown(), events: transcript(t, filepath.Join(s.dir, ledger.EventsFile))}
	if s.Outcome.Completed && !s.Outcome.ErrorFlag {
		got = outcome{status: ledger.Success, events: got.events}
	}
	return got
}
