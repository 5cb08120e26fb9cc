package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

// Criteria, in the order in which a candidate is held against them. The first five
// drop it, the others rank what is left.
const (
	critLive         = "live"
	critPins         = "pins"
	critFloor        = "floor"
	critControls     = "controls"
	critIndependence = "independence"
	critFit          = "task fit"
	critMatch        = "task match"
	critStrength     = "control strength"
	critEvidence     = "evidence quality"
	critFailures     = "failures in this run"
	critCost         = "cost and latency"
	critOrder        = "order of the worker form"
	critName         = "name"
)

// Dropped begins the finding of the criterion that dropped a candidate.
const Dropped = "dropped: "

// Ranks reports whether a criterion puts the candidates in order that qualify.
func Ranks(criterion string) bool {
	switch criterion {
	case critFit, critMatch, critStrength, critEvidence, critFailures, critCost, critOrder:
		return true
	}
	return false
}

// account tells criterion by criterion how the option fared. It ends where the
// option was dropped.
func (in Input) account(o *option) []ledger.Criterion {
	out := []ledger.Criterion{}
	add := func(criterion, finding string) {
		out = append(out, ledger.Criterion{Criterion: criterion, Finding: finding})
	}
	for _, t := range tests() {
		if against := o.against(t.criterion); against != "" {
			add(t.criterion, Dropped+against)
			return out
		}
		if t.criterion != critIndependence || o.independence != "" {
			add(t.criterion, t.finding(in, o))
		}
	}
	for _, r := range in.ranks() {
		if r.finding != nil {
			if found := r.finding(o); found != "" {
				add(r.criterion, found)
			}
		}
	}
	return out
}

// against is what drops the option by a criterion, "" = nothing.
func (o *option) against(criterion string) string {
	var all []string
	for _, f := range o.failures {
		if f.criterion == criterion {
			all = append(all, f.detail)
		}
	}
	return strings.Join(all, "; ")
}

func foundLive(_ Input, o *option) string {
	finding := string(o.profile.State)
	if n := len(o.profile.Evidence); n > 0 {
		finding += fmt.Sprintf(", %d answers of the program", n)
	}
	return finding
}

func foundPins(in Input, o *option) string {
	var all []string
	if o.model != "" {
		all = append(all, "model "+o.model+" ("+o.modelBy+")")
	}
	if agent := cmp.Or(o.agent, in.agentFor(o)); agent != "" {
		all = append(all, "agent "+agent)
	}
	if o.effort != "" {
		all = append(all, "effort "+o.effort)
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func foundFloor(in Input, o *option) string {
	if o.capability == policy.NoCapability {
		return "a plain program has no capability and needs none here"
	}
	return fmt.Sprintf("%s for a floor of %s (%s)", o.capability, cmp.Or(in.Tiers.Capability, "none"), o.capabilitySource)
}

func foundControls(_ Input, o *option) string {
	return strings.Join(append([]string{strings.Join(o.controls, ", ")}, o.constrained...), "; ")
}

func foundIndependence(_ Input, o *option) string { return o.independence }

// rank is one criterion by which the options that are left are put in order.
type rank struct {
	criterion string
	compare   func(a, b *option) int
	finding   func(o *option) string // nil = not worth a line
}

// ranks are the criteria in order. Cost and latency rank nothing: no runtime says
// live what an answer costs or how long it takes, and what is not known is not
// made up.
func (in Input) ranks() []rank {
	better := func(of func(*option) int) func(a, b *option) int {
		return func(a, b *option) int { return cmp.Compare(of(b), of(a)) }
	}
	all := []rank{
		{critFit, better(in.fit), in.foundFit},
		{critMatch, compareMatch, (*option).foundMatch},
		{critStrength, better((*option).strength), (*option).foundStrength},
		{critEvidence, better((*option).evidence), (*option).foundEvidence},
		{
			critFailures, func(a, b *option) int { return cmp.Compare(in.Failures[a.name], in.Failures[b.name]) },
			func(o *option) string { return fmt.Sprint(in.Failures[o.name]) },
		},
	}
	if in.Tiers.Capability.Less(policy.C3) {
		all = append(all, rank{
			critCost, func(_, _ *option) int { return 0 },
			func(*option) string { return "not compared: there is no live evidence of either" },
		})
	}
	if len(in.Order) > 0 {
		all = append(all, rank{critOrder, func(a, b *option) int { return cmp.Compare(in.place(a), in.place(b)) }, nil})
	}
	return append(all, rank{critName, func(a, b *option) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.agent, b.agent))
	}, nil})
}

// place is where the option's runtime stands in the order of ties; all that it does not
// name come after.
func (in Input) place(o *option) int {
	if i := slices.Index(in.Order, o.name); i >= 0 {
		return i
	}
	return len(in.Order)
}

// compare orders options: the spec's order first, then among those that policy
// chooses from the criteria in theirs.
func (in Input) compare(a, b *option) int {
	order, _ := in.apart(a, b)
	return order
}

// apart says which of two options comes first and what decides that.
func (in Input) apart(a, b *option) (order int, by string) {
	if c := cmp.Compare(a.group, b.group); c != 0 || !a.ranked || !b.ranked {
		return c, "the spec's order"
	}
	if a.later != b.later {
		order = 1
		if b.later {
			order = -1
		}
		return order, "--internal: the hosting session's agents come first"
	}
	for _, r := range in.ranks() {
		if c := r.compare(a, b); c != 0 {
			return c, r.criterion
		}
	}
	return 0, ""
}

// fit: an independent judge is worth most, then a live list that really names the
// model that is wanted.
func (in Input) fit(o *option) int {
	n := 0
	if o.independence == Independent {
		n += 2
	}
	if !o.unlisted {
		n++
	}
	return n
}

func (in Input) foundFit(o *option) string {
	var all []string
	switch {
	case o.independence == Independent:
		all = append(all, "independent of "+jobs(in.Producers))
	case o.independence != "":
		all = append(all, o.independence)
	}
	if o.model != "" && o.unlisted {
		all = append(all, "its list, which is not complete, does not name the model")
	}
	return cmp.Or(strings.Join(all, "; "), "any that meets the floor of "+string(cmp.Or(in.Tiers.Capability, "none"))+" fits")
}

// jobs names the jobs whose work is judged, each once.
func jobs(producers []Producer) string {
	var ids []string
	for _, p := range producers {
		if !slices.Contains(ids, p.Job) {
			ids = append(ids, p.Job)
		}
	}
	return "job " + strings.Join(ids, ", ")
}

// strength: a kernel's boundary before one of the program's own alone; of two alike the
// one that also has the other, and the one whose tools can be limited.
func (o *option) strength() int {
	n := 0
	if o.sandbox != "" {
		n = 4
	}
	if o.native != "" {
		n += 2
	}
	if o.profile.Has(runtime.ControlToolLimits) {
		n++
	}
	return n
}

func (o *option) foundStrength() string {
	var all []string
	if o.bounded() {
		all = append(all, o.held())
	}
	if o.profile.Has(runtime.ControlToolLimits) {
		all = append(all, string(runtime.ControlToolLimits))
	}
	return cmp.Or(strings.Join(all, ", "), "nothing was shown")
}

func (o *option) evidence() int {
	if o.profile.State == runtime.StateAvailable {
		return 1
	}
	return 0
}

func (o *option) foundEvidence() string {
	if o.profile.State == runtime.StateAvailable {
		return "proven"
	}
	if o.hosted() {
		return "the hosting session's word"
	}
	return cmp.Or(strings.Join(o.profile.Limits, "; "), string(o.profile.State))
}
