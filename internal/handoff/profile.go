package handoff

import (
	"time"

	"orchestrate/internal/runtime"
)

// limits are what holds for every agent of a hosting session, whatever is said of it.
var limits = []string{
	"no sandbox holds it: that it works in its folder and keeps to what it may write is the hosting session's word",
	"it cannot be stopped from here, and nothing shows its processes",
	"its timeout is for the account only",
}

// Profile is the hosting session as a runtime; nil is a session that told nothing.
func (a *Agents) Profile(now time.Time) runtime.Profile {
	p := runtime.Profile{Runtime: runtime.Internal, Kind: runtime.KindInternal, ProbedAt: now}
	if a == nil {
		p.State = runtime.StateUnavailable
		p.Reason = "no hosting session has told of its agents"
		p.NextStep = "in a hosting session give them with `--agents FILE` (`orchestrate doctor --help` shows the form); else name an installed runtime"
		return p
	}
	p.State, p.Limits = runtime.StateConstrained, limits
	for _, said := range a.Agents {
		p.Agents = append(p.Agents, runtime.Agent{
			Name: said.Name, Description: said.Description, Model: said.Model,
			Tools: said.Tools, Access: said.Access, Boundary: said.Boundary, General: said.General,
		})
	}
	p.Controls = []runtime.Control{{Name: runtime.ControlAgent, Verified: true, Evidence: "listed by the hosting session"}}
	return p
}
