package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/standin"
	"orchestrate/internal/runtime/standin/script"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// The rules of layer 1 that no spec and no agent can break: each is broken from
// the inside, alone, while the arbiter says pass. The scripts of internal/cli break
// the others.
func TestARuleThatOnlyWeCanBreakFailsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		rule  string // "" = none
		plan  func(*Plan)
		stays bool // the job's tree is not proven gone
	}{
		"nothing": {},
		"its tree is not proven gone": {
			rule: arbiter.RuleSettlement, stays: true,
		},
		"its route is below the capability floor": {
			rule: arbiter.RuleFloorCapability, plan: func(p *Plan) { p.Jobs[0].Route.Capability = string(policy.NoCapability) },
		},
		"it ran at a lower risk tier than policy says": {
			rule: arbiter.RuleFloorRisk, plan: func(p *Plan) { p.Jobs[0].Tiers.Risk = policy.R1 },
		},
		"its runtime was not asked in this run": {
			rule: arbiter.RuleInventoryStale, plan: func(p *Plan) { p.profiles["agent"] = stale(p.profiles["agent"]) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			eng := &Engine{
				Adapters: []runtime.Adapter{agent("agent"), agent("judge")}, Host: host{}, Now: time.Now,
				Supervisor: func(context.Context) (Supervisor, error) { return &supervisor{stays: c.stays}, nil },
			}
			res := carryOutSpec(t, eng, c.plan)
			j := judgement(t, res.Dir)
			if j.Overall != "pass" {
				t.Fatalf("the arbiter says %q: %v", j.Overall, j.Why)
			}
			switch {
			case c.rule == "":
				if j.Verdict != arbiter.Pass || res.Exit != ExitOK || len(j.Findings) != 0 {
					t.Errorf("verdict %s, exit %d, findings %v", j.Verdict, res.Exit, j.Findings)
				}
			case !only(j.Findings, c.rule) || j.Verdict != arbiter.Fail || res.Exit != ExitFailed:
				t.Errorf("verdict %s, exit %d, findings %v", j.Verdict, res.Exit, j.Findings)
			}
		})
	}
}

// only reports whether one rule is broken and no other.
func only(found []ledger.Finding, rule string) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(f ledger.Finding) bool { return f.Rule != rule })
}

// carryOutSpec plans two observing jobs in a plain folder, changes the plan and
// runs it.
func carryOutSpec(t *testing.T, eng *Engine, change func(*Plan)) Result {
	t.Helper()
	root := t.TempDir()
	const text = "version: 1\njobs:\n  - {id: look, runtime: agent, task: scout, prompt: look, expected_output: x, timeout: 1m}\n" +
		"  - {id: calm, runtime: agent, task: scout, prompt: look, expected_output: x, timeout: 1m}\n"
	if err := os.WriteFile(filepath.Join(root, "jobs.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, diags, err := eng.Plan(t.Context(), Request{Spec: "jobs.yaml", Cwd: root})
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	if change != nil {
		change(p)
	}
	res, err := eng.Run(t.Context(), p, quiet, Controls{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func judgement(t *testing.T, dir string) ledger.Judgement {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ledger.ArbiterJob, ledger.VerdictFile))
	if err != nil {
		t.Fatal(err)
	}
	return decoded[ledger.Judgement](t, data)
}

func stale(p runtime.Profile) runtime.Profile {
	p.ProbedAt = time.Time{}
	return p
}

// agent is a runtime that proves everything it is asked for.
type agent string

func (a agent) Name() string                              { return string(a) }
func (agent) SignInEnv() []string                         { return nil }
func (agent) Shared() bool                                { return false }
func (agent) Decoder(runtime.DecoderSpec) runtime.Decoder { return nil }

func (a agent) Probe(_ context.Context, h runtime.Host) runtime.Profile {
	p := runtime.Profile{
		Runtime: string(a), Kind: runtime.KindCLI, State: runtime.StateAvailable, ProbedAt: h.Now(), DefaultModel: "m",
		Models: []runtime.Model{{ID: "m", Efforts: []string{"low", "high"}, Default: true}},
	}
	for _, c := range []runtime.ControlName{runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlEffort, runtime.ControlModel} {
		p.Controls = append(p.Controls, runtime.Control{Name: c, Verified: true})
	}
	return p
}

func (agent) Command(req runtime.Request, _ runtime.Profile) (runtime.Command, error) {
	return runtime.Command{Argv: []string{"agent"}, Stdin: []byte(req.Prompt), Answer: runtime.AnswerFromStream}, nil
}

// host has a clock and nothing else.
type host struct{}

func (host) LookPath(string) (string, error) { return "", os.ErrNotExist }
func (host) Run(context.Context, runtime.Question) runtime.Answer {
	return runtime.Answer{Err: errors.New("no program here")}
}
func (host) Getenv(string) string                    { return "" }
func (host) Hash(string) (runtime.Executable, error) { return runtime.Executable{}, os.ErrNotExist }
func (host) Now() time.Time                          { return time.Now() }

// supervisor ends every job well; as the arbiter it passes what it is shown.
type supervisor struct{ stays bool }

func (s *supervisor) Idle() bool   { return true }
func (s *supervisor) Kill()        {}
func (s *supervisor) Destroy()     {}
func (s *supervisor) Close() error { return nil }

func (s *supervisor) Run(_ context.Context, inv supervise.Invocation, _ []*os.File, _ func(supervise.Process)) (supervise.Exit, error) {
	e := supervise.Exit{
		Job: inv.Job, Attempt: inv.Attempt, ExitCode: new(int),
		Outcome: runtime.Outcome{Completed: true, Answer: untrusted.From("seen"), WorkBegun: true},
		Proof:   supervise.Proof{Level: supervise.ProofCgroup, Gone: !s.stays || inv.Job != "look"},
	}
	if inv.Job != ledger.ArbiterJob {
		return e, nil
	}
	_, err := script.Play([]script.Step{{Verdict: map[string]any{}}}, script.Stage{
		Prompt: string(inv.Stdin),
		Emit: func(l standin.Line) error {
			if l.Kind == runtime.EventAnswer {
				e.Outcome.Answer = untrusted.From(l.Text)
			}
			return nil
		},
	})
	return e, err
}

func decoded[T any](t *testing.T, data []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// quiet observes nothing.
var quiet = Observer{Begun: func(string, string) {}, Planned: func(*Plan) {}, Record: func(ledger.Record) {}}
