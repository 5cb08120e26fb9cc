package claude

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version, help, sign-in status
// and, over the control protocol, models and agents; none of these calls a model.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, host, identity(), quiet())
	if asker == nil {
		return p
	}
	steps := []func(context.Context, *probe.Asker, *runtime.Profile) bool{readHelp, readSignIn, readLists}
	for _, step := range steps {
		if !step(ctx, asker, &p) {
			p.Evidence = asker.Evidence()
			return p
		}
	}
	p.Evidence = asker.Evidence()
	settleState(&p)
	return p
}

// readHelp fills Flags and Controls; false when jobs could not even be started.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("claude --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run `claude --help` and see why it does not answer"
		return false
	}
	p.Flags = probe.Flags(string(answer.Stdout), wantedFlags()...)
	p.Controls = controls(*p)
	askTurns(ctx, asker, p)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of claude %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + identity().Install
			return false
		}
	}
	return true
}

// flagOfNobody is one that no version knows.
const flagOfNobody = "--orchestrate-asks"

// askTurns finds out whether the limit of turns, which help hides, is known: the program
// names the first flag that it does not know, and starts nothing.
func askTurns(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	if p.Shows(flagTurns) {
		return
	}
	answer := asker.AskBare(ctx, flagTurns+"=1", flagOfNobody)
	if probe.Trouble("", answer) == "" && answer.ExitCode != 0 && strings.Contains(probe.Text(answer), "unknown option '"+flagOfNobody+"'") {
		p.Flags[flagTurns] = "self-test: " + flagTurns + " is taken, and the next flag, which nobody knows, is refused"
	}
}

// settleState decides between available and constrained once everything was asked.
func settleState(p *runtime.Profile) {
	if !p.Has(runtime.ControlNoProject) {
		p.Limits = append(p.Limits, "settings, hooks or tool servers of the project cannot be kept out")
	}
	if !p.Has(runtime.ControlToolLimits) {
		p.Limits = append(p.Limits, "tools cannot be limited")
	}
	p.State = runtime.StateAvailable
	if len(p.Limits) > 0 {
		p.State = runtime.StateConstrained
	}
}
