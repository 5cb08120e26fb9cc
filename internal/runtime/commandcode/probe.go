package commandcode

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks for version, help, sign-in and models,
// and starts a session that ends before it would call a model, to see that a job
// can be held to its tools.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, machine{host}, identity(), quiet())
	if asker == nil {
		explainStart(&p)
		return p
	}
	known := readHelp(ctx, asker, &p) && readStatus(ctx, asker, &p)
	var test []runtime.Evidence
	if known {
		readModels(ctx, asker, &p)
		var held runtime.Control
		held, test = testGate(ctx, asker, p)
		p.Controls = controls(p, held)
		settleState(&p)
	}
	p.Evidence = append(asker.Evidence(), test...)
	return p
}

// tooOld is what the program says on a Node.js that it does not work with.
const tooOld = "Command Code needs Node.js"

// explainStart gives a program that ended without a version its own reason: on an old
// Node.js it says so, and with a module that does not fit it prints its source.
func explainStart(p *runtime.Profile) {
	if p.Version != "" || len(p.Evidence) == 0 {
		return
	}
	last := p.Evidence[len(p.Evidence)-1]
	if last.ExitCode == nil || *last.ExitCode == 0 || last.TimedOut {
		return
	}
	p.Reason = fmt.Sprintf("%s --version ended with status %d and gave no version", p.Executable.Path, *last.ExitCode)
	p.NextStep = "run " + typed(*p, "--version") + " and see why (it needs Node.js 22 or newer); if another program has that name, put the right one first on PATH"
	for line := range strings.SplitSeq(last.Answer, "\n") {
		if strings.HasPrefix(line, tooOld) {
			p.State, p.Reason = runtime.StateUnavailable, "it does not start: "+line
			p.NextStep = "install that Node.js, then run `npm install -g command-code` again"
		}
	}
}

// readHelp makes sure whose program this is and fills Flags; false when it is a
// stranger or jobs could not even be followed.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("command-code --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run "+typed(*p, "--help")+" and see why it does not answer"
		return false
	}
	help := string(answer.Stdout)
	if probe.FirstLine(help) != selfName+p.Version {
		p.Reason = fmt.Sprintf("%s does not say that it is Command Code: --help begins with %q",
			asker.Path, probe.Bounded(probe.FirstLine(probe.Text(answer)), 80))
		p.NextStep = "put the right one first on PATH, or install it: " + identity().Install
		return false
	}
	p.Flags = probe.Flags(help, wantedFlags()...)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of command-code %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + identity().Install
			return false
		}
	}
	return true
}

// readStatus fills SignedIn; false when no job could sign in, or when that is not
// known. The program wants its own sign-in even where all models are the user's.
func readStatus(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.Ask(ctx, nil, "status")
	if why := probe.Trouble("command-code status", answer); why != "" {
		p.Reason, p.NextStep = why, "run "+typed(*p, "status")+" and see why it does not answer"
		return false
	}
	said := probe.Text(answer)
	switch {
	case probe.ContainsAny(said, "not authenticated", "unauthenticated"):
		p.SignedIn = new(false)
		p.State, p.Reason = runtime.StateUnavailable, "command-code is not signed in"
		p.NextStep = "run " + typed(*p, "login") + ", or set COMMAND_CODE_API_KEY"
		return false
	case answer.ExitCode != 0 || !strings.Contains(said, "Authenticated"):
		p.Reason = "command-code did not say whether it is signed in"
		p.NextStep = "run " + typed(*p, "status") + "; update the program if it is old"
		return false
	}
	p.SignedIn, p.SignInMethod = new(true), source(said)
	asker.Summarize("status: signed in by " + p.SignInMethod)
	return true
}

// source is where the sign-in comes from, as the program names it.
func source(said string) string {
	for line := range strings.SplitSeq(said, "\n") {
		if _, from, ok := strings.Cut(line, "Source:"); ok {
			return strings.TrimSpace(from)
		}
	}
	return "Command Code"
}

// settleState names what is weaker than one would wish. It is never simply
// available: jobs may only read.
func settleState(p *runtime.Profile) {
	p.FamilySource = "models of several makers are called through Command Code or a provider of the user's: who answers is not known"
	if !p.Has(runtime.ControlReadOnly) {
		p.Limits = append(p.Limits, "it cannot be kept from writing: "+p.EvidenceOf(runtime.ControlReadOnly))
	}
	p.Limits = append(p.Limits,
		"jobs that read only: "+noEdits,
		"settings of the project: "+p.EvidenceOf(runtime.ControlNoProject),
		"its stream names the model that was asked for, not the one that answered")
	p.State = runtime.StateConstrained
}
