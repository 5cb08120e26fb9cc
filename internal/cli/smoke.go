package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/gate"
	"orchestrate/internal/inventory"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// smokePrompt is all that a smoke call asks.
const smokePrompt = "Answer with the single word: ready. Use no tool and change nothing.\n"

// smoked is one real call of a runtime's model and how it went.
type smoked struct {
	Runtime       string         `json:"runtime"`
	Made          bool           `json:"made"` // false: it was not called, and Evidence says why
	Status        ledger.Status  `json:"status"`
	Reason        runtime.Reason `json:"reason"`
	Evidence      untrusted.Text `json:"evidence"`
	NextStep      string         `json:"nextStep"`
	Command       string         `json:"command"` // redacted
	ObservedModel string         `json:"observedModel"`
	Answer        untrusted.Text `json:"answer"`
	Usage         *runtime.Usage `json:"usage"`
	At            time.Time      `json:"at"`
	DurationMs    int64          `json:"durationMs"`
	ExitCode      *int           `json:"exitCode"`
}

func (s smoked) answered() bool { return s.Status == ledger.Success }

// smokeCall makes the call, as a reading job would have it made. It says before that
// it does.
func smokeCall(ctx context.Context, sys System, st *station, p runtime.Profile, limit time.Duration) smoked {
	s := smoked{Runtime: p.Runtime, Status: ledger.Blocked, At: sys.Now().UTC()}
	if why := uncallable(p); why != "" {
		s.Evidence, s.NextStep = untrusted.From(why), p.NextStep
		return s
	}
	a := st.Adapters[slices.IndexFunc(st.Adapters, func(a runtime.Adapter) bool { return a.Name() == p.Runtime })]
	model := st.Operator.Model(p.Runtime)
	build := func(dir, out string) (runtime.Command, error) {
		cmd, err := a.Command(runtime.Request{
			Job: "smoke", Attempt: 1, Task: "scout", Prompt: smokePrompt, Dir: dir, Out: out, Access: runtime.AccessRead, Model: model,
		}, p)
		if arg := gate.Bypass(slices.Concat(cmd.Env, cmd.Argv)); err == nil && arg != "" {
			err = fmt.Errorf("its command holds %s, which switches permission checks off", arg)
		}
		if err == nil {
			fmt.Fprintf(sys.Err, "smoke: one real model call through %s (%s), nothing to write, in an empty folder, at most %s; it costs what such a call costs\n",
				p.Runtime, cmp.Or(model, "its default model"), limit)
		}
		return cmd, err
	}
	call, err := st.host.Call(ctx, a, limit, build)
	if call.Asked == "" && err != nil {
		s.Evidence, s.NextStep = untrusted.From(err.Error()), p.NextStep
		return s
	}
	s.settle(call, err, policy.Facts{Pin: model, Models: p.Models})
	s.NextStep = s.next(p)
	return s
}

// uncallable says why a call could not show anything, "" when it could.
func uncallable(p runtime.Profile) string {
	switch {
	case p.Kind != runtime.KindCLI:
		return p.Runtime + " calls no model"
	case p.State == runtime.StateUnavailable, p.State == runtime.StateUnverified && !recognized(p):
		return fmt.Sprintf("%s is %s: %s", p.Runtime, p.State, p.Reason)
	}
	return ""
}

// settle judges the call by the rules that hold for a job's attempt.
func (s *smoked) settle(call inventory.Call, err error, facts policy.Facts) {
	o := call.Exit.Outcome
	facts.Exit, facts.Answer, facts.Unproven = call.Exit, o.Answer, !call.Exit.Proof.Gone
	if err != nil {
		facts.Lost = err.Error()
	}
	end := policy.Classify(facts)
	s.Made, s.Status, s.Reason, s.Evidence = true, end.Status, end.Reason, end.Evidence
	s.Command, s.ObservedModel, s.Answer, s.Usage = call.Asked, o.ObservedModel, o.Answer, o.Usage
	s.At, s.DurationMs, s.ExitCode = call.Began, call.Exit.DurationMs, call.Exit.ExitCode
}

// next is what a person does about a call that was not answered.
func (s smoked) next(p runtime.Profile) string {
	switch s.Reason {
	case "":
		return ""
	case runtime.ReasonAuth:
		return cmp.Or(p.NextStep, fmt.Sprintf("put its sign-in right (%s), or sign %s in with its own command, then make the call again",
			cmp.Or(p.SignInMethod, "how it signs in is not known"), s.Runtime))
	case runtime.ReasonUnknownModel, runtime.ReasonModelMismatch:
		return "choose a model that `orchestrate doctor --json " + s.Runtime + "` lists, in the program's own settings or in your configuration"
	case runtime.ReasonRateLimit, runtime.ReasonQuota:
		return "make the call again when the limit has ended"
	case runtime.ReasonNetwork:
		return "check the network and the proxy variables, then make the call again"
	case runtime.ReasonTimeout:
		return "see whether its model service can be reached, or make the call again with a longer --timeout"
	case runtime.ReasonCancelled:
		return "make the call again"
	}
	return "run the command yourself and see what it says: " + s.Command
}

func (s smoked) show(w io.Writer) {
	line := func(text string) string { return untrusted.From(text).Line(200) }
	switch {
	case !s.Made:
		fmt.Fprintf(w, "smoke: %s was not called: %s\n", s.Runtime, s.Evidence.Line(200))
	case s.answered():
		fmt.Fprintf(w, "smoke: %s answered %q in %s\n  model  %s\n  usage  %s\n", s.Runtime, s.Answer.Line(60),
			seconds(s.DurationMs), cmp.Or(line(s.ObservedModel), "it did not say which"), used(s.Usage))
	default:
		fmt.Fprintf(w, "smoke: %s failed after %s: %s: %s\n", s.Runtime, seconds(s.DurationMs), s.Reason, s.Evidence.Line(200))
	}
	if s.NextStep != "" {
		fmt.Fprintf(w, "  next   %s\n", line(s.NextStep))
	}
}

// used says what a call cost; unknown is said, never 0.
func used(u *runtime.Usage) string {
	if u == nil {
		return "unknown"
	}
	var parts []string
	if u.InputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in", *u.InputTokens))
	}
	if u.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens out", *u.OutputTokens))
	}
	if u.CostUSD != nil {
		parts = append(parts, fmt.Sprintf("$%.4f", *u.CostUSD))
	}
	return cmp.Or(strings.Join(parts, ", "), "unknown")
}

// profile is p with what the call showed. An answer proves that the runtime is signed
// in and nothing else; a refusal of the sign-in proves the opposite.
func (s smoked) profile(p runtime.Profile) runtime.Profile {
	if !s.Made {
		return p
	}
	said := s.Evidence
	if s.answered() {
		said = s.Answer
	}
	p.Evidence = append(slices.Clone(p.Evidence), runtime.Evidence{
		Asked: "smoke: " + s.Command, ExitCode: s.ExitCode, At: s.At, DurationMs: s.DurationMs, TimedOut: s.Reason == runtime.ReasonTimeout,
		Answer: untrusted.Sprintf("%s %s %s: %s", s.Status, s.Reason, s.ObservedModel, said).Line(300),
	})
	switch {
	case s.answered() && signInUnknown(p):
		p.SignedIn, p.State = new(true), runtime.StateConstrained
		p.SignInMethod = cmp.Or(p.SignInMethod, "smoke call")
		p.Limits = append(slices.Clone(p.Limits), "that it is signed in is known from one smoke call only")
		p.Reason, p.NextStep = "", ""
	case s.Reason == runtime.ReasonAuth:
		p.SignedIn, p.State = new(false), runtime.StateUnavailable
		p.Reason, p.NextStep = "a smoke call was refused: "+s.Evidence.Line(200), s.NextStep
	}
	return p
}

// signInUnknown reports whether all that keeps a runtime from being more than it is,
// as far as a smoke call can show, is that its sign-in is not known.
func signInUnknown(p runtime.Profile) bool {
	return p.Kind == runtime.KindCLI && p.SignedIn == nil &&
		(p.State == runtime.StateConstrained || p.State == runtime.StateUnverified && recognized(p))
}

// recognized reports whether a program has shown to be the one that was looked for: of
// a stranger the help is not read.
func recognized(p runtime.Profile) bool {
	return p.Executable != nil && p.Version != "" && len(p.Flags) > 0
}
