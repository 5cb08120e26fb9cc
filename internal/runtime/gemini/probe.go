package gemini

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version and help, lets the
// program check its own sign-in twice on the way to listing no sessions, and asks
// for models over its protocol for editors. None of these calls a model.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, host, identity(), settings(false))
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
	test := testStart(ctx, asker, *p)
	p.Controls = controls(*p, test)
	if !readSignIn(asker.Host, p, test) {
		return
	}
	readModels(ctx, asker, p)
	settleState(p)
}

// readHelp fills Flags; false when this is another program or jobs could not even
// be started.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("gemini --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run `gemini --help` and see why it does not answer"
		return false
	}
	help := string(answer.Stdout)
	if !strings.Contains(help, "Gemini CLI") { // its version answer is a bare number
		p.Reason = fmt.Sprintf("%s does not say that it is Gemini CLI in its help", asker.Path)
		p.NextStep = fmt.Sprintf("run `%s --help`; if another program has that name, put the right one first on PATH", asker.Path)
		return false
	}
	p.Flags = probe.Flags(help, wantedFlags()...)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of gemini %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + identity().Install
			return false
		}
	}
	return true
}

// settleState decides between available and constrained once everything was asked.
func settleState(p *runtime.Profile) {
	for _, name := range []runtime.ControlName{runtime.ControlToolLimits, runtime.ControlNoProject} {
		if !p.Has(name) {
			p.Limits = append(p.Limits, fmt.Sprintf("control %s is not verified: %s", name, p.EvidenceOf(name)))
		}
	}
	p.State = runtime.StateAvailable
	if len(p.Limits) > 0 {
		p.State = runtime.StateConstrained
	}
}
