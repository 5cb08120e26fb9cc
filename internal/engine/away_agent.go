package engine

import (
	"fmt"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// pinnedAgent is the agent of the hosting session that the spec names for the attempt, "" =
// none.
func (a *attempt) pinnedAgent() string {
	if a.internal() && a.route.Agent == a.job.Agent {
		return a.job.Agent
	}
	return ""
}

// didIt is the agent that carried the attempt out, as the session says; "" = it did not say.
func (a *attempt) didIt() string {
	if a.back == nil {
		return ""
	}
	return a.back.Agent
}

// ofNoAgent is what is left of a route that another agent carried out than the one that was
// chosen: what was said of that one's tools holds nobody.
func ofNoAgent(taken ledger.Route, did string) (controls, constrained []string) {
	said := []string{string(runtime.ControlReadOnly), string(runtime.ControlEditsOnly), string(runtime.ControlToolLimits)}
	controls = slices.DeleteFunc(slices.Clone(taken.Controls), func(c string) bool { return slices.Contains(said, c) })
	constrained = append(slices.Clone(taken.Constrained),
		fmt.Sprintf("the hosting session says that agent %s did it, and not %s, which was chosen: its tools and capability are not what the route says", untrusted.From(did).Line(100), taken.Agent))
	return controls, constrained
}
