package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/probe"
)

// session opens a session with an acp agent and takes what it is offered: no work is
// asked for. false when the agent would not open one.
func (i *interview) session(ctx context.Context) bool {
	if i.def.Output != outputACP {
		return true
	}
	turn, err := json.Marshal(acp.Turn{Agent: i.agent(i.asker.Path), Access: runtime.AccessRead, Probe: true})
	if err != nil {
		return i.unverified("", "%v", err)
	}
	argv := acp.Argv(i.self)
	client := &probe.Asker{Host: i.host, Path: argv[0], Env: i.def.set()}
	answer := client.Ask(ctx, turn, argv[1:]...)
	i.talk = client.Evidence()
	what := fmt.Sprintf("%s over the Agent Client Protocol", i.name)
	if why := probe.Trouble(what, answer); why != "" {
		return i.unverified(fmt.Sprintf("see why `%s` opens no session", i.question(i.def.Argv[1:])), "%s", why)
	}
	live, err := acp.ReadLive(answer.Stdout)
	if err != nil {
		return i.unverified(fmt.Sprintf("see why `%s` opens no session", i.question(i.def.Argv[1:])), "%s: %v", what, err)
	}
	return i.take(live)
}

// agent is the agent's own command.
func (a adapter) agent(path string) []string {
	return append([]string{path}, a.def.Argv[1:]...)
}

func (i *interview) take(live acp.Live) bool {
	switch {
	case live.AuthRequired != "":
		return i.signedOut("it opens no session: " + probe.Bounded(live.AuthRequired, 200))
	case live.Error != "":
		return i.unverified("", "it opens no session: %s", probe.Bounded(live.Error, 200))
	case i.def.Mode != "" && !slices.ContainsFunc(live.Modes, func(m acp.Value) bool { return m.ID == i.def.Mode }):
		return i.unverified("correct the mode in its description", "its session does not offer the mode %q", i.def.Mode)
	}
	if i.p.Version == "" {
		i.p.Version = live.AgentVersion
	}
	if s := i.def.SignIn; s != nil && s.Session {
		i.p.SignedIn = new(true)
		i.p.SignInMethod = "it opened a session"
	}
	i.p.Models, i.p.DefaultModel = live.Models, live.CurrentModel
	i.p.Controls = append(i.p.Controls, offered(live)...)
	i.limit("what it does without asking for a permission is not held")
	return true
}

// offered are the controls that the live lists of the session are evidence for.
func offered(live acp.Live) []runtime.Control {
	model := runtime.Control{Name: runtime.ControlModel, Evidence: "its session offers no models to choose from"}
	effort := runtime.Control{Name: runtime.ControlEffort, Evidence: "its session offers no reasoning depth"}
	if n := len(live.Models); n > 0 {
		model.Verified, model.Evidence = true, fmt.Sprintf("its session offers %d models", n)
	}
	for _, m := range live.Models {
		if len(m.Efforts) > 0 {
			effort.Verified, effort.Evidence = true, fmt.Sprintf("its session offers %v for model %s", m.Efforts, m.ID)
		}
	}
	return []runtime.Control{model, effort}
}
