package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
)

// equipInternal gets an attempt ready that the hosting session carries out: there is no
// command, only a prompt. Environment and sandbox are those of its set-up and its checks.
func (r *run) equipInternal(a *attempt) error {
	a.cmd = runtime.Command{Answer: runtime.AnswerFromStream, Decoder: runtime.DecoderSpec{Runtime: runtime.Internal}}
	a.env = r.environment(a, noProgram{})
	if err := r.furnishPrivately(a); err != nil {
		return err
	}
	a.mark = newMark()
	if err := r.settleEnvironment(a, noProgram{}); err != nil {
		return err
	}
	return r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.PromptFile), r.redact.Bytes([]byte(a.prompt)))
}

// noProgram stands for a runtime that has no program of its own here.
type noProgram struct{}

var errNoProgram = errors.New("the hosting session carries it out: there is no command")

func (noProgram) Name() string { return runtime.Internal }

func (noProgram) Probe(context.Context, runtime.Host) runtime.Profile {
	return runtime.Profile{Runtime: runtime.Internal}
}
func (noProgram) Decoder(runtime.DecoderSpec) runtime.Decoder { return nil }
func (noProgram) SignInEnv() []string                         { return nil }
func (noProgram) Shared() bool                                { return false }
func (noProgram) Command(runtime.Request, runtime.Profile) (runtime.Command, error) {
	return runtime.Command{}, errNoProgram
}

// adapterOf is what knows the program of an attempt.
func (r *run) adapterOf(a *attempt) (runtime.Adapter, bool) {
	if a.internal() {
		return noProgram{}, true
	}
	return r.eng.adapter(a.route.Runtime)
}

// unparted refuses to hand the shared checkout to a writer that nothing holds and nobody
// can stop.
func unparted(j *spec.Job, taken ledger.Route) *route.Block {
	if taken.Runtime != runtime.Internal || !j.Writes() || taken.Isolation == isolationWorktree {
		return nil
	}
	return &route.Block{Reason: runtime.BlockedRiskControls, Detail: "the hosting session is given no writer in the shared checkout: nothing would hold it, and nobody could stop it"}
}

// attemptID names attempt n of a job. No two attempts have the same, not even of runs
// that have the same id.
func attemptID(job string, n int) string {
	var some [4]byte
	_, _ = rand.Read(some[:]) // it never fails
	return fmt.Sprintf("%s.a%d.%s", job, n, hex.EncodeToString(some[:]))
}

// requestFor is what the session is told of an attempt that is ready.
func (r *run) requestFor(a *attempt) handoff.Request {
	j, out := a.job, filepath.Join(a.dir, a.outName())
	req := handoff.Request{
		SchemaVersion: ledger.SchemaVersion, RunID: r.led.ID, RunDir: r.led.Dir, Job: j.ID, Attempt: a.id, N: a.n,
		Agent: a.route.Agent, AgentModel: r.agentModel(a.route), Task: j.Task, Effect: j.Effect,
		Prompt: r.redact.String(a.prompt), PromptFile: filepath.Join(a.dir, ledger.PromptFile), Cwd: a.at.dir,
		MayRead: []string{a.at.dir}, MayWrite: []string{}, AllowedTools: j.AllowedTools, DisallowedTools: j.DisallowedTools,
		Out: out, Outputs: []string{}, ExpectedOutput: j.ExpectedOutput, Checks: []string{},
		TimeoutMs: j.Timeout.Milliseconds(), MaxResultBytes: min(j.MaxOutputBytes, handoff.MaxResult),
		Controls: append([]string{}, a.route.Controls...), Constrained: append([]string{}, a.route.Constrained...), CreatedAt: r.eng.Now().UTC(),
	}
	if a.at.isolated {
		req.Worktree = &a.at.top
		if a.at.branch != "" {
			req.Branch = &a.at.branch
		}
	}
	if inputs := filepath.Join(a.dir, ledger.InputsDir); exists(inputs) {
		req.MayRead = append(req.MayRead, inputs)
	}
	req.MayWrite = append(req.MayWrite, placingOf(j, a.route, a.at.dir, out).Writable...)
	for _, o := range j.Outputs {
		req.Outputs = append(req.Outputs, o.Path)
	}
	for _, c := range j.Checks {
		req.Checks = append(req.Checks, r.redact.String(checkText(c)))
	}
	return req
}

// outName is the folder, in the job's directory, in which an attempt leaves what it makes.
// Each of the hosting session has one of its own, since nobody can stop an agent of one that
// was given up from writing there.
func (a *attempt) outName() string {
	if a.id == "" {
		return ledger.ArtifactsDir
	}
	return outPrefix + a.id
}

const outPrefix = "out-"

// bringOut moves what the session's agent left to where every job leaves it.
func (r *run) bringOut(a *attempt) error {
	if a.request == nil || filepath.Base(a.request.Out) != outPrefix+a.request.Attempt {
		return nil
	}
	artifacts, err := r.artifacts(a) // a folder is there then, and nothing else
	if err == nil {
		err = errors.Join(artifacts.Close(), r.led.MoveAll(
			ledger.JobPath(a.job.ID, outPrefix+a.request.Attempt), ledger.JobPath(a.job.ID, ledger.ArtifactsDir)))
	}
	if err != nil {
		return fmt.Errorf("what job %s left cannot be taken: %w", a.job.ID, err)
	}
	return nil
}

// checkText is a check as a person reads it.
func checkText(c spec.Check) string {
	switch {
	case c.Shell != "":
		return c.Shell
	case len(c.Run) > 0:
		return shellword.Join(c.Run)
	}
	return c.Assert
}

// agentModel is the model of a route's agent, as the session said, "" = it did not.
func (r *run) agentModel(taken ledger.Route) string {
	all := r.profile(runtime.Internal).Agents
	if i := slices.IndexFunc(all, func(a runtime.Agent) bool { return a.Name == taken.Agent }); i >= 0 {
		return all[i].Model
	}
	return ""
}
