package claude

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// initialize is the control request that makes the program describe itself
// without calling a model.
const initialize = `{"type":"control_request","request_id":"probe","request":{"subtype":"initialize"}}` + "\n"

type controlResponse struct {
	Response struct {
		Response struct {
			Models  []liveModel     `json:"models"`
			Agents  []runtime.Agent `json:"agents"`
			Account *liveAccount    `json:"account"`
		} `json:"response"`
	} `json:"response"`
}

type liveModel struct {
	Value    string   `json:"value"`
	Resolved string   `json:"resolvedModel"`
	Efforts  []string `json:"supportedEffortLevels"`
}

// liveAccount is the sign-in as a job would see it, with settings kept out.
type liveAccount struct {
	Token        string `json:"tokenSource"`
	Key          string `json:"apiKeySource"`
	Email        string `json:"email"`
	Subscription string `json:"subscriptionType"`
}

// readLists fills Models, Agents and DefaultModel under the same flags that jobs
// get; false when the sign-in turns out to come from settings that jobs do not load.
func readLists(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	// Any full model name is accepted beside the listed ones.
	p.ModelsPartial = true
	if !p.Shows(flagInput) {
		p.Limits = append(p.Limits, "models and agents are not known: help does not show "+flagInput)
		return true
	}
	args := append([]string{flagPrint, flagInput, flagStream, flagVerbose}, isolationFlags(*p, false)...)
	answer := asker.Ask(ctx, []byte(initialize), args...)
	reply, ok := initReply(answer)
	if !ok {
		p.Limits = append(p.Limits, "models and agents are not known: the program did not describe itself")
		return true
	}
	p.Models, p.DefaultModel = models(reply.Response.Response.Models)
	p.Agents = reply.Response.Response.Agents
	asker.Summarize(fmt.Sprintf("%d models, %d agents, default model %q", len(p.Models), len(p.Agents), p.DefaultModel))
	if account := reply.Response.Response.Account; account != nil && account.signedOut() {
		p.Reason = "claude is signed in only through its settings file, which jobs do not load"
		p.NextStep = signInStep
		return false
	}
	return true
}

func initReply(answer runtime.Answer) (reply controlResponse, ok bool) {
	if probe.Trouble("", answer) != "" {
		return reply, false
	}
	probe.JSONLines(answer.Stdout, func(line []byte) {
		var r controlResponse
		if json.Unmarshal(line, &r) == nil && len(r.Response.Response.Models) > 0 {
			reply, ok = r, true
		}
	})
	return reply, ok
}

// models turns the live list into the profile's; the entry that stands for "what
// the program takes by itself" is named `default`.
func models(live []liveModel) (list []runtime.Model, byDefault string) {
	for _, m := range live {
		entry := runtime.Model{ID: m.Value, Resolved: m.Resolved, Efforts: m.Efforts, Default: m.Value == "default"}
		if entry.Default {
			byDefault = entry.ID
			if entry.Resolved != "" {
				byDefault = entry.Resolved
			}
		}
		list = append(list, entry)
	}
	return list, byDefault
}

func (a liveAccount) signedOut() bool {
	none := func(s string) bool { return s == "" || s == "none" }
	return none(a.Token) && none(a.Key) && a.Email == "" && a.Subscription == ""
}
