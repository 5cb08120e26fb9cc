package pi

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version and help, for the models
// over the RPC mode, and whether the default model's provider has credentials.
// None of these calls a model.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, host, identity(), quiet())
	if asker == nil {
		return p
	}
	askAll(ctx, asker, &p)
	p.Evidence = asker.Evidence()
	return p
}

func askAll(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	if !readHelp(ctx, asker, p) {
		return
	}
	provider, ok := readModels(ctx, asker, p)
	if ok && readSignIn(ctx, asker, p, provider) {
		settleState(p)
	}
}

// readHelp makes sure whose program this is and fills Flags and Controls; false
// when it is a stranger or jobs could not even be followed.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("pi --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run `pi --help` and see why it does not answer"
		return false
	}
	help := probe.Text(answer) // older versions print it on standard error
	if !strings.HasPrefix(probe.FirstLine(help), selfName) {
		p.Reason = fmt.Sprintf("%s does not say that it is the coding agent pi: --help begins with %q",
			asker.Path, probe.Bounded(probe.FirstLine(help), 80))
		p.NextStep = "if another program has the name pi, put the right one first on PATH; else update it: " + install
		return false
	}
	p.Flags = probe.Flags(help, wantedFlags()...)
	if example := readingExample(help); example != "" {
		p.Flags[readingKey] = example
	}
	p.Controls = controls(*p)
	p.ApprovesAll = true // of what it is given; see the evidence of edits-only
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of pi %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + install
			return false
		}
	}
	return true
}

// settleState names what is weaker than one would wish. It is never simply
// available: nothing keeps its tools in a folder.
func settleState(p *runtime.Profile) {
	if !p.Has(runtime.ControlReadOnly) {
		p.Limits = append(p.Limits, "it cannot be kept from writing: "+p.EvidenceOf(runtime.ControlReadOnly))
	}
	p.Limits = append(p.Limits, "whatever its tools can do it does unasked, and edits are not confined to their folder: "+
		p.EvidenceOf(runtime.ControlEditsOnly))
	p.State = runtime.StateConstrained
}
