package codex

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version, help and features, for
// models, configuration and account over the app server, for the sign-in status,
// and has the program's own sandbox try to write. None of these calls a model.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, host, identity(), nil)
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
	live := readLive(ctx, asker, p)
	if !readSignIn(ctx, asker, p, live) {
		return
	}
	testSandbox(ctx, asker, p, live)
	p.Controls = append(p.Controls, otherControls(*p, live)...)
	settleState(p)
}

// readHelp fills Flags from the help of `exec` and the feature list; false when
// jobs could not even be started.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "exec", "--help")
	if why := probe.Trouble("codex exec --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run `codex exec --help` and see why it does not answer"
		return false
	}
	p.Flags = probe.Flags(string(answer.Stdout), wantedFlags()...)
	maps.Copy(p.Flags, probe.Words(string(answer.Stdout), wordResume))
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of codex exec %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + identity().Install
			return false
		}
	}
	if p.Shows(flagDisable) {
		readFeatures(ctx, asker, p)
	}
	return true
}

// readFeatures notes which of the unwanted features this binary knows.
func readFeatures(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	answer := asker.Ask(ctx, nil, "features", "list")
	if probe.Trouble("", answer) != "" {
		return
	}
	for line := range strings.SplitSeq(string(answer.Stdout), "\n") {
		fields := strings.Fields(line)
		for _, name := range unwanted() {
			if len(fields) > 1 && fields[0] == name {
				p.Flags[featureKey(name)] = strings.Join(fields, " ")
			}
		}
	}
}

func otherControls(p runtime.Profile, live liveFacts) []runtime.Control {
	return []runtime.Control{
		shown(p, runtime.ControlModel, flagModel),
		shown(p, runtime.ControlEffort, flagConfig),
		shown(p, runtime.ControlAnswerForm, flagSchema),
		noProject(p, live),
		{Name: runtime.ControlToolLimits, Evidence: "codex exec has no flag that limits tools"},
		{Name: runtime.ControlEditsOnly, Evidence: "the shell cannot be taken away; its sandbox confines it"},
		{Name: runtime.ControlAgent, Evidence: "codex exec has no flag that names an agent"},
	}
}

// noProject holds when everything that would load the project's code is off.
func noProject(p runtime.Profile, live liveFacts) runtime.Control {
	c := runtime.Control{Name: runtime.ControlNoProject}
	switch {
	case !live.known:
		c.Evidence = "the effective configuration is not known"
	case !p.Shows(featureKey("hooks")):
		c.Evidence = "hooks are not in the feature list, so they cannot be switched off by name"
	default:
		c.Verified = true
		c.Evidence = "project marked untrusted through " + p.Flags[flagConfig]
	}
	return c
}

func shown(p runtime.Profile, name runtime.ControlName, flag string) runtime.Control {
	if !p.Shows(flag) {
		return runtime.Control{Name: name, Evidence: "help does not show " + flag}
	}
	return runtime.Control{Name: name, Verified: true, Evidence: p.Flags[flag]}
}

// settleState decides between available and constrained once everything was
// asked. Without a proven sandbox nothing holds a job, so nothing is routed.
func settleState(p *runtime.Profile) {
	if !p.Has(runtime.ControlReadOnly) {
		p.State = runtime.StateUnverified
		p.Reason = "codex's sandbox did not pass its self-test: " + p.EvidenceOf(runtime.ControlReadOnly)
		p.NextStep = "run `codex sandbox -- touch x` and see what it says; CODEX_HOME must not lie under the temp folder"
		return
	}
	if !p.Has(runtime.ControlOSSandbox) {
		p.Limits = append(p.Limits, "writing jobs are not possible: "+p.EvidenceOf(runtime.ControlOSSandbox))
	}
	p.State = runtime.StateAvailable
	if len(p.Limits) > 0 {
		p.State = runtime.StateConstrained
	}
}
