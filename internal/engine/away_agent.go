package engine

import (
	"fmt"
	"slices"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// byPinned refuses what another agent of the hosting session did than the one that the spec
// names for the job.
func byPinned(run *ledger.Run, job string, s handoff.Submission) error {
	if s.Agent == "" {
		return nil
	}
	r, there, err := handoff.ReadRequest(run, job)
	if err != nil || !there || r.Agent == s.Agent {
		return err
	}
	all, err := writtenJobs(run)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(j writtenJob) bool { return j.ID == job })
	if i < 0 || all[i].Agent != r.Agent { // it was chosen, not named
		return nil
	}
	return fmt.Errorf("the spec names agent %s for job %s, and %s did it; nothing was taken: give its prompt to %s and hand in what that says, or say why that cannot be (--failed REASON, without --agent)",
		r.Agent, job, untrusted.From(s.Agent).Line(mostName), r.Agent)
}

// didIt is the agent that carried the attempt out, where that is another one than was chosen;
// "" = it is not, or the session did not say.
func (a *attempt) didIt() string {
	if a.back == nil || a.back.Agent == a.route.Agent {
		return ""
	}
	return a.back.Agent
}

// tellAgent notes that another agent did it.
func (r *run) tellAgent(a *attempt) {
	if did := a.didIt(); did != "" {
		r.note(ledger.Noted(a.job.ID, r.redact.String(anotherDidIt(a, did))))
	}
}

func anotherDidIt(a *attempt, did string) string {
	return fmt.Sprintf("the hosting session says that agent %s did it, and not %s, which was chosen: its capability is not what the route says, and of its tools only that holds which the session said of it",
		untrusted.From(did).Line(mostName), a.route.Agent)
}

// ofAnother is what is left of the route of an attempt that another agent carried out than
// the one that was chosen: what holds that one's tools holds this one only where the session
// said the same of it.
func (r *run) ofAnother(a *attempt, did string) (controls, constrained []string) {
	whole := r.profile(runtime.Internal)
	said := runtime.Profile{}
	if i := slices.IndexFunc(whole.Agents, func(of runtime.Agent) bool { return of.Name == did }); i >= 0 {
		said = whole.OfAgent(whole.Agents[i])
	}
	controls = slices.DeleteFunc(slices.Clone(a.route.Controls), func(c string) bool {
		name := runtime.ControlName(c)
		return ofTools(name) && !said.Has(name)
	})
	return controls, append(slices.Clone(a.route.Constrained), anotherDidIt(a, did))
}

// ofTools reports whether a control is one that what an agent can do makes it hold.
func ofTools(c runtime.ControlName) bool {
	return c == runtime.ControlReadOnly || c == runtime.ControlEditsOnly || c == runtime.ControlToolLimits
}
