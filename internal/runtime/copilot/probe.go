package copilot

import (
	"context"
	"fmt"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version and help and, over the
// agent protocol, for a session, which tells whether jobs could sign in. None of
// these calls a model.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, host, identity(), quiet())
	if asker == nil {
		return p
	}
	if readHelp(ctx, asker, &p) && readSession(ctx, asker, &p) {
		settleState(&p)
	}
	p.Evidence = asker.Evidence()
	return p
}

// readHelp fills Flags and Controls; false when jobs could not even be started.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("copilot --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run `copilot --help` and see why it does not answer"
		return false
	}
	p.Flags = probe.Flags(string(answer.Stdout), wantedFlags()...)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of copilot %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + identity().Install
			return false
		}
	}
	topic := asker.AskBare(ctx, "help", "permissions")
	if said := pathCheck(string(topic.Stdout)); said != "" && probe.Trouble("", topic) == "" {
		p.Flags[pathsKey] = said
	}
	kept, err := readTrust(asker.Host, p)
	p.Controls = controls(*p, kept, err)
	return true
}

// settleState names what is weaker than one would wish. It is never simply
// available: that the project's settings are left out is shown by no version known.
func settleState(p *runtime.Profile) {
	for _, weak := range []struct {
		control runtime.ControlName
		limit   string
	}{
		{runtime.ControlReadOnly, "it cannot be kept from writing: "},
		{runtime.ControlEditsOnly, "edits cannot be kept in their folder: "},
		{runtime.ControlNoProject, "settings of the project are not shown to be kept out: "},
	} {
		if !p.Has(weak.control) {
			p.Limits = append(p.Limits, weak.limit+p.EvidenceOf(weak.control))
		}
	}
	p.State = runtime.StateConstrained
}
