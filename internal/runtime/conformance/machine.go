package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
)

// bend changes what a program answers to the n-th question, from 0.
type bend func(n int, q runtime.Question, a runtime.Answer) runtime.Answer

// bent is a machine with a bend.
type bent struct {
	*probetest.Host
	bend bend
	n    int
}

// Run implements runtime.Host.
func (b *bent) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	answer := b.Host.Run(ctx, q)
	answer = b.bend(b.n, q, answer)
	answer.Evidence.Answer, answer.Evidence.TimedOut = string(answer.Stdout)+string(answer.Stderr), answer.TimedOut
	b.n++
	return answer
}

// probed is the profile of a bent machine. A panic is a fault of its own.
func probed(s Subject, host *probetest.Host, how bend) (p runtime.Profile, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the probe panics: %v", r)
		}
	}()
	return s.Adapter.Probe(context.Background(), &bent{Host: host, bend: how}), nil
}

func asRecorded(_ int, _ runtime.Question, a runtime.Answer) runtime.Answer { return a }

// working is the profile of the machine on which all is well.
func working(t *testing.T, s Subject) runtime.Profile {
	t.Helper()
	p, err := probed(s, s.Machine(t), asRecorded)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// isHelp reports whether a question is for a help text.
func isHelp(q runtime.Question) bool {
	return slices.Contains(q.Argv, "--help") || slices.Contains(q.Argv, "help")
}

// unsettled says what a profile lacks that a person, or a job, needs.
func unsettled(p runtime.Profile) (faults []string) {
	switch p.State {
	case runtime.StateAvailable, runtime.StateConstrained:
		if p.Executable == nil {
			faults = append(faults, "routable, without a program")
		}
	case runtime.StateUnverified, runtime.StateUnavailable:
		if p.Reason == "" || p.NextStep == "" {
			faults = append(faults, fmt.Sprintf("%s, with reason %q and next step %q", p.State, p.Reason, p.NextStep))
		}
	default:
		faults = append(faults, fmt.Sprintf("state %q is none", p.State))
	}
	if p.State == runtime.StateConstrained && len(p.Limits) == 0 {
		faults = append(faults, "constrained, and no limit says how")
	}
	return faults
}
