package engine

import (
	"fmt"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// What a hosting session said of its agents stays with the run, so that whoever carries
// it on has it too.

// agentSecrets refuses what looks like a secret in what the session said. It shows the
// place and the rule, never the text.
func (p *Plan) agentSecrets() error {
	if p.Request.Agents == nil {
		return nil
	}
	var mistakes []string
	places, texts := p.Request.Agents.Texts()
	for i, text := range texts {
		for _, s := range p.findSecrets(text) {
			mistakes = append(mistakes, fmt.Sprintf("%s: this looks like a secret (%s); take it out, or if it is none say so in the operator's configuration: `secrets: {allow: [%q]}`", places[i], s.Rule, s.Fingerprint))
		}
	}
	if len(mistakes) > 0 {
		return &handoff.Invalid{Mistakes: mistakes}
	}
	return nil
}

// keepAgents leaves what the session said in the run directory.
func (r *run) keepAgents() error {
	agents := r.plan.Request.Agents
	if agents == nil {
		return nil
	}
	data, err := agents.Encode()
	if err == nil {
		err = r.led.WriteFile(ledger.AgentsFile, data)
	}
	return err
}

// agentsDigest is that of agents.json, "" = the session told nothing.
func (p *Plan) agentsDigest() string {
	if p.Request.Agents == nil {
		return ""
	}
	data, err := p.Request.Agents.Encode()
	if err != nil {
		return "" // then it was not kept either
	}
	return digest(data)
}

// recordedAgents is what the session said, by the journal's digest; nil = nothing.
func recordedAgents(led *ledger.Run, info ledger.RunInfo) (*handoff.Agents, error) {
	if info.AgentsDigest == "" {
		return nil, nil
	}
	data, err := led.ReadFile(ledger.AgentsFile)
	if err == nil && digest(data) != info.AgentsDigest {
		err = fmt.Errorf("%s is not what the hosting session said last", led.Path(ledger.AgentsFile))
	}
	if err != nil {
		return nil, fmt.Errorf("%w; say it anew: orchestrate resume %s --agents FILE", err, led.ID)
	}
	return handoff.ParseAgents(data)
}

// takeAgents gives a run that goes on what the session says now, else what it said last.
func (p *Plan) takeAgents(led *ledger.Run, info ledger.RunInfo, now *handoff.Agents) (err error) {
	if p.Request.Agents = now; now == nil {
		p.Request.Agents, err = recordedAgents(led, info)
		return err
	}
	return p.agentSecrets()
}

// noteHosted says which jobs wait for the hosting session, and what it does then.
func (p *Plan) noteHosted() {
	var ids []string
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.routed() && j.Route.Runtime == runtime.Internal {
			ids = append(ids, j.Job.ID)
		}
	}
	if len(ids) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s for the hosting session, which takes each when it is ready (`%s`) and hands in what came of it; its timeout is for the account only",
			theirs(ids), handoff.NextCommand("RUN")))
	}
}

func theirs(ids []string) string {
	if len(ids) == 1 {
		return "job " + ids[0] + " is"
	}
	return fmt.Sprintf("%d jobs (%s) are", len(ids), someOf(ids))
}
