package opencode

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version, help, the effective
// configuration, sign-in, models, and for the agents once under each permission
// table that jobs get. None of these calls a model.
func (a Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, host, a.about.identity(), a.about.quiet())
	if asker == nil {
		return p
	}
	a.about.askAll(ctx, asker, &p)
	p.Evidence = asker.Evidence()
	return p
}

func (b about) askAll(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	if !b.readHelp(ctx, asker, p) {
		return
	}
	live := b.readConfig(ctx, asker, p)
	if !b.readSignIn(ctx, asker, p, live) {
		return
	}
	readModels(ctx, asker, p)
	b.readAgents(ctx, asker, p, live)
	p.Controls = append(p.Controls,
		modelControl(*p),
		shown(*p, runtime.ControlEffort, flagVariant),
		shown(*p, runtime.ControlAgent, flagAgent),
		runtime.Control{Name: runtime.ControlOSSandbox, Evidence: b.name + " has no sandbox of its own"})
	b.settleState(p)
}

// readHelp fills Flags; false when the program is another one or jobs could not
// even be started.
func (b about) readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "run", "--help")
	what := fmt.Sprintf("%s run --help", b.name)
	if why := probe.Trouble(what, answer); why != "" {
		p.Reason, p.NextStep = why, fmt.Sprintf("run `%s` and see why it does not answer", what)
		return false
	}
	help := probe.Text(answer)
	if !strings.Contains(help, usageLine(b.name)) {
		p.Reason = fmt.Sprintf("%s does not say that it is %s: the help of its run command lacks %q", asker.Path, b.name, usageLine(b.name))
		p.NextStep = fmt.Sprintf("run `%s`; if another program has that name, put the right one first on PATH", what)
		return false
	}
	p.Flags = probe.Flags(help, wantedFlags()...)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of %s run %s does not show %s, which jobs need", b.name, p.Version, flag)
			p.NextStep = "update it: " + b.install
			return false
		}
	}
	return true
}

// usageLine begins the help of the run command, also where it is printed because
// of a flag that is not known.
func usageLine(name string) string { return name + " run [message..]" }

func shown(p runtime.Profile, name runtime.ControlName, flag string) runtime.Control {
	if !p.Shows(flag) {
		return runtime.Control{Name: name, Evidence: "help does not show " + flag}
	}
	return runtime.Control{Name: name, Verified: true, Evidence: p.Flags[flag]}
}

// settleState decides between available and constrained once everything was
// asked. Without a permission table that holds, nothing does.
func (b about) settleState(p *runtime.Profile) {
	if !p.Has(runtime.ControlReadOnly) {
		p.State = runtime.StateUnverified
		p.Reason = fmt.Sprintf("%s is not shown to keep to the permissions of a job: %s", b.name, p.EvidenceOf(runtime.ControlReadOnly))
		p.NextStep = fmt.Sprintf("run `%s agent list` and look at the permissions in your configuration", b.name)
		return
	}
	if b.keeps != "" {
		p.Limits = append(p.Limits, "its agents may search the project's code with "+b.keeps+", whatever the tools of a job are")
	}
	if !p.Has(runtime.ControlEditsOnly) {
		p.Limits = append(p.Limits, "writing without a shell is not possible: "+p.EvidenceOf(runtime.ControlEditsOnly))
	}
	p.State = runtime.StateAvailable
	if len(p.Limits) > 0 {
		p.State = runtime.StateConstrained
	}
}
