package cursor

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. Nothing about this program was seen by those who
// wrote the adapter. It stays unverified until the binary itself has answered with
// Cursor's form of version, with a help that says whose it is, shows each of the
// indispensable flags and calls the mode of jobs read-only, and with a status that
// says signed in. Then it is constrained.
func (Adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p, asker := probe.Identify(ctx, machine{host}, identity(), quiet())
	if asker == nil {
		return p
	}
	if readHelp(ctx, asker, &p) && readStatus(ctx, asker, &p) && readModels(ctx, asker, &p) {
		settleState(&p)
	}
	p.Evidence = asker.Evidence()
	return p
}

// readHelp makes sure whose program this is and fills Flags and Controls; false when
// it is a stranger or a job could not be held to reading.
func readHelp(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.AskBare(ctx, "--help")
	if why := probe.Trouble("agent --help", answer); why != "" {
		p.Reason, p.NextStep = why, "run "+typed(*p, "--help")+" and see why it does not answer"
		return false
	}
	help := string(answer.Stdout)
	if !strings.Contains(help, selfName) {
		p.Reason = fmt.Sprintf("%s does not say that it is Cursor's agent: --help begins with %q",
			asker.Path, probe.Bounded(probe.FirstLine(probe.Text(answer)), 80))
		p.NextStep = "put Cursor's program first on PATH, or install it: " + identity().Install
		return false
	}
	p.Flags = probe.Flags(help, wantedFlags()...)
	p.Controls = controls(*p)
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			p.State = runtime.StateUnavailable
			p.Reason = fmt.Sprintf("the help of agent %s does not show %s, which jobs need", p.Version, flag)
			p.NextStep = "update it: " + typed(*p, "update")
			return false
		}
	}
	if !p.Has(runtime.ControlReadOnly) {
		p.Reason = "nothing shows that a job would only read: " + p.EvidenceOf(runtime.ControlReadOnly)
		p.NextStep = "update it: " + typed(*p, "update")
		return false
	}
	return true
}

// readStatus fills SignedIn; false when no job could sign in, or when that is not
// known.
func readStatus(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.Ask(ctx, nil, "status")
	if why := probe.Trouble("agent status", answer); why != "" {
		p.Reason, p.NextStep = why, "run "+typed(*p, "status")+" and see why it does not answer"
		return false
	}
	said := probe.Text(answer)
	switch {
	case probe.ContainsAny(said, "not logged in", "authentication required"):
		p.SignedIn = new(false)
		p.State, p.Reason = runtime.StateUnavailable, "agent (Cursor) is not signed in"
		p.NextStep = "run " + typed(*p, "login") + ", or set CURSOR_API_KEY"
		return false
	case answer.ExitCode != 0 || !strings.Contains(said, "Logged in"):
		p.Reason = "agent (Cursor) did not say whether it is signed in"
		p.NextStep = "run " + typed(*p, "status")
		return false
	}
	p.SignedIn, p.SignInMethod = new(true), "Cursor account"
	asker.Summarize("status: logged in")
	return true
}

// listed is a line of the list of models: "name - Display Name  (default)".
var listed = regexp.MustCompile(`^(\S+) - (.+?)(?:\s+\(([^)]*)\))?$`)

// noModels is what the list says for an account that may use none.
const noModels = "No models available"

// readModels fills Models and DefaultModel; false when the account has none, which
// also tells that the sign-in is of no use. The stream calls a model by its display
// name. Names outside the list are taken too.
func readModels(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	p.ModelsPartial = true
	if !p.Shows(flagList) {
		p.Limits = append(p.Limits, "models are not known: help does not show "+flagList)
		return true
	}
	answer := asker.Ask(ctx, nil, flagList)
	if why := probe.Trouble("agent "+flagList, answer); why != "" {
		p.Limits = append(p.Limits, "models are not known: "+why)
		return true
	}
	said := probe.Text(answer)
	if strings.Contains(said, noModels) {
		p.Reason, p.NextStep = "Cursor offers this account no models", "run "+typed(*p, "login")+" and see what "+typed(*p, flagList)+" says then"
		return false
	}
	for line := range strings.SplitSeq(said, "\n") {
		m := listed.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		model := runtime.Model{ID: m[1], Resolved: m[2], Default: strings.Contains(m[3], "default")}
		if model.Default {
			p.DefaultModel = model.ID
		}
		p.Models = append(p.Models, model)
	}
	if len(p.Models) == 0 {
		p.Limits = append(p.Limits, "models are not known: "+flagList+" did not list them in a form that is understood")
	}
	return true
}

// settleState names what is weaker than one would wish.
func settleState(p *runtime.Profile) {
	p.FamilySource = "models of several makers are called through Cursor: who answers is not known"
	p.Limits = append(p.Limits,
		"built from public documentation; identity, sign-in and flags were shown by this binary, its work was not",
		"jobs that read only: "+noEdits,
		"settings of the project: "+p.EvidenceOf(runtime.ControlNoProject))
	p.State = runtime.StateConstrained
}
