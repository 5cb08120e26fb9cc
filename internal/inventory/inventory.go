// Package inventory asks every candidate runtime, live and in parallel, what it
// is and what it can prove, and collects the answers. Whatever one program does
// (hang, babble, crash, or take our adapter down with it) stays in its own profile.
//
// It leaves Capability and Family as the adapters gave them: the rooms to its
// right judge by policy.
package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Inventory is what one round of probes found, one profile per adapter, in order.
type Inventory struct {
	SchemaVersion int               `json:"schemaVersion"`
	ProbedAt      time.Time         `json:"probedAt"`
	Profiles      []runtime.Profile `json:"profiles"`
	Cost          Cost              `json:"probe"`
}

// Get finds the profile of a runtime by its name in a spec.
func (inv Inventory) Get(name string) (runtime.Profile, bool) {
	i := slices.IndexFunc(inv.Profiles, func(p runtime.Profile) bool { return p.Runtime == name })
	if i < 0 {
		return runtime.Profile{}, false
	}
	return inv.Profiles[i], true
}

// Scoper is a Host that differs from runtime to runtime: each must see its own
// sign-in variables and no other's.
type Scoper interface {
	For(runtime.Adapter) runtime.Host
}

// Prober holds the bounds of a round of probes; the zero value has the defaults.
type Prober struct {
	Budget   time.Duration // for all questions to one runtime, from when it is its turn; 0 = 90 s
	Grace    time.Duration // for an adapter to return after its budget; 0 = 15 s
	Together int           // questions that have a turn at a time, over all runtimes; 0 = by the processors
	Patience time.Duration // after which a question hands its turn on; 0 = 5 s

	// Begun, if not nil, is told whose questions begin, and what it returns when they are
	// over; from several goroutines.
	Begun func(runtime string) (over func())
}

// Probe asks all adapters in parallel with the default bounds.
func Probe(ctx context.Context, host runtime.Host, adapters []runtime.Adapter) Inventory {
	return Prober{}.Probe(ctx, host, adapters)
}

// Probe asks all adapters in parallel and returns when each has answered or used
// up its bounds.
func (pr Prober) Probe(ctx context.Context, host runtime.Host, adapters []runtime.Adapter) Inventory {
	pr = pr.withDefaults()
	turns, began := newTurns(pr.Together, pr.Patience), host.Now()
	costs := make([]Cost, len(adapters))
	inv := Inventory{SchemaVersion: 1, ProbedAt: began, Profiles: make([]runtime.Profile, len(adapters))}
	var wg sync.WaitGroup
	for i, a := range adapters {
		wg.Go(func() { inv.Profiles[i], costs[i] = pr.one(ctx, host, a, turns) })
	}
	wg.Wait()
	for _, c := range costs {
		inv.Cost.plus(c)
	}
	inv.Cost.over(host.Now().Sub(began))
	return inv
}

func (pr Prober) withDefaults() Prober {
	pr.Budget = cmp.Or(pr.Budget, 90*time.Second)
	pr.Grace = cmp.Or(pr.Grace, 15*time.Second)
	pr.Together = cmp.Or(pr.Together, together())
	pr.Patience = cmp.Or(pr.Patience, patience)
	return pr
}

func scoped(host runtime.Host, a runtime.Adapter) runtime.Host {
	if s, ok := host.(Scoper); ok {
		return s.For(a)
	}
	return host
}

// one probes one runtime. An adapter that does not return in time is left behind:
// its questions end with ctx, and what it still says is not heard.
func (pr Prober) one(parent context.Context, host runtime.Host, a runtime.Adapter, turns *turns) (runtime.Profile, Cost) {
	if k, ok := host.(Knower); ok {
		if p, ok := k.Known(a.Name()); ok {
			return p, Cost{}
		}
	}
	if pr.Begun != nil {
		defer pr.Begun(a.Name())()
	}
	ctx, budget, cancel := withBudget(parent, pr.Budget)
	defer cancel()
	seen := &watch{turns: turns, budget: budget}
	answer := make(chan runtime.Profile, 1)
	go func() { answer <- guarded(ctx, host, seen, a) }()

	p := pr.wait(ctx, parent, answer)
	p.Runtime = a.Name()
	if p.ProbedAt.IsZero() {
		p.ProbedAt = host.Now()
	}
	return complete(p, seen)
}

// wait takes the answer, or what is known without one when the time is up.
func (pr Prober) wait(ctx, parent context.Context, answer <-chan runtime.Profile) runtime.Profile {
	select {
	case p := <-answer:
		return p
	case <-ctx.Done():
	}
	late := time.NewTimer(pr.Grace)
	defer late.Stop()
	select {
	case p := <-answer:
		if p.Routable() && parent.Err() == nil {
			return p
		}
		return pr.overBudget(parent, p)
	case <-late.C:
		return pr.overBudget(parent, runtime.Profile{Kind: runtime.KindCLI})
	}
}

// guarded turns a panic of an adapter into a profile.
func guarded(ctx context.Context, host runtime.Host, seen *watch, a runtime.Adapter) (p runtime.Profile) {
	defer func() {
		if r := recover(); r != nil {
			p = runtime.Profile{
				Kind: runtime.KindCLI, State: runtime.StateUnverified,
				Reason:   fmt.Sprintf("its probe broke off inside orchestrate: %v", r),
				NextStep: "report this with the output of `orchestrate doctor --json`; until then let the jobs name another runtime",
			}
		}
	}()
	seen.Host = scoped(host, a)
	return a.Probe(ctx, seen)
}

// overBudget marks what was learned before the time was up as unproven.
func (pr Prober) overBudget(parent context.Context, p runtime.Profile) runtime.Profile {
	p.State, p.NextStep = runtime.StateUnverified, ""
	p.Reason = fmt.Sprintf("probe budget: its questions were not all answered within %s; that is no proof of a broken program", pr.Budget)
	if parent.Err() != nil {
		p.Reason = "probing was cancelled before it had answered"
	}
	return p
}

// complete fills what every profile must have, and says where an answer that did not
// come in time has left its mark.
func complete(p runtime.Profile, seen *watch) (runtime.Profile, Cost) {
	asked, limit, node, cost := seen.said()
	signedOut := p.SignedIn != nil && !*p.SignedIn
	switch {
	case p.Routable() && asked != "":
		p.State = runtime.StateConstrained
		p.Limits = append(p.Limits, fmt.Sprintf("probe budget: `%s` gave no answer within %s, so what it would have shown is not known", asked, limit))
	case p.Routable():
	case node != (probe.NodeNeed{}):
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, node.Reason(), node.NextStep()
	case asked != "" && !signedOut:
		p.State = runtime.StateUnverified
		p.Reason = fmt.Sprintf("probe budget: `%s` gave no answer within %s; that is no proof of a broken program", asked, limit)
		p.NextStep = fmt.Sprintf("run `%s </dev/null` yourself to see whether it hangs, then `orchestrate doctor` again", asked)
	}
	if p.State == "" {
		p.State = runtime.StateUnverified
	}
	if !p.Routable() {
		p.Reason, p.NextStep = cmp.Or(p.Reason, "it did not say why"), cmp.Or(p.NextStep, nextStep(p))
	}
	return p, cost
}
