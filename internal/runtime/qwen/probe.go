package qwen

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version and help and, over the
// agent protocol, for a session, which tells whether jobs could sign in and with
// which models. None of these calls a model.
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

// readHelp makes sure whose program this is and fills Flags and Controls; false
// when it is a stranger or jobs could not even be followed.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("qwen --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run `qwen --help` and see why it does not answer"
		return false
	}
	help := string(answer.Stdout)
	if !strings.Contains(help, selfName) {
		p.Reason = fmt.Sprintf("%s does not say that it is %s: --help begins with %q",
			asker.Path, selfName, probe.Bounded(probe.FirstLine(probe.Text(answer)), 80))
		p.NextStep = "if another program has the name qwen, put the right one first on PATH; else update it: " + identity().Install
		return false
	}
	p.Flags = probe.Flags(help, wantedFlags()...)
	p.Controls = controls(*p)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of qwen %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + identity().Install + " (on a Node.js that is too old npm installs an old version, without a word)"
			return false
		}
	}
	return true
}

// settleState names what is weaker than one would wish. It is never simply
// available: two of its limits hold for every version known.
func settleState(p *runtime.Profile) {
	for _, weak := range []struct {
		control runtime.ControlName
		limit   string
	}{
		{runtime.ControlReadOnly, "it cannot be kept from writing: "},
		{runtime.ControlEditsOnly, "edits are not shown to stay in their folder: "},
		{runtime.ControlNoProject, "settings of the project are not shown to be kept out: "},
	} {
		if !p.Has(weak.control) {
			p.Limits = append(p.Limits, weak.limit+p.EvidenceOf(weak.control))
		}
	}
	p.State = runtime.StateConstrained
}
