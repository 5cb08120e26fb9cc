package pi

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Ids of the questions over the RPC mode; the last is also their number.
const (
	askState  = 1
	askModels = 2
)

// reply is one answer over the RPC mode.
type reply struct {
	ID      int  `json:"id"`
	Success bool `json:"success"`
	Data    struct {
		Model  *model  `json:"model"`  // of a new session; none without credentials
		Models []model `json:"models"` // of the providers that have credentials
	} `json:"data"`
}

type model struct {
	ID        string             `json:"id"`
	Provider  string             `json:"provider"`
	Reasoning bool               `json:"reasoning"`
	Levels    map[string]*string `json:"thinkingLevelMap"` // null = the model does not take that level
}

// name is how --model takes it; the bare id may be that of several providers.
func (m model) name() string { return m.Provider + "/" + m.ID }

// efforts are the levels that a model takes, by the program's documented rule: a
// level that is not mapped is taken up to "high", and not beyond.
func (m model) efforts(p runtime.Profile) (takes []string) {
	if !m.Reasoning {
		return nil
	}
	for _, level := range levels() {
		to, mapped := m.Levels[level]
		beyond := level == "xhigh" || level == "max"
		if p.Shows(flagThinking+"="+level) && (to != nil || !mapped && !beyond) {
			takes = append(takes, level)
		}
	}
	return takes
}

// readModels fills Models and DefaultModel, and says whose the default model is;
// false when no job could sign in, or when that is not known.
func readModels(ctx context.Context, asker *probe.Asker, p *runtime.Profile) (provider string, ok bool) {
	for _, flag := range []string{flagRPC, flagNoSession} {
		if !p.Shows(flag) {
			p.Reason = "whether pi is signed in is not known: its help does not show " + flag
			p.NextStep = "update it: " + install
			return "", false
		}
	}
	questions := fmt.Appendf(nil, `{"id":%d,"type":"get_state"}`+"\n"+`{"id":%d,"type":"get_available_models"}`+"\n", askState, askModels)
	answer := asker.Converse(ctx, questions, askModels, append(append(spelled(flagRPC), flagNoSession), ownArgs(*p)...)...)
	if why := probe.Trouble("pi --mode rpc", answer); why != "" {
		p.Reason, p.NextStep = why, "run `pi --list-models` and see why it does not answer"
		return "", false
	}
	replies := map[int]reply{}
	probe.JSONLines(answer.Stdout, func(line []byte) {
		var r reply
		if json.Unmarshal(line, &r) == nil && r.Success {
			replies[r.ID] = r
		}
	})
	state, haveState := replies[askState]
	list, haveList := replies[askModels]
	if !haveState || !haveList {
		p.Reason = "pi did not list its models over its RPC mode in a form that is understood, so sign-in is not known"
		p.NextStep = "run `pi --list-models` and see what it says; update the program if it is old"
		return "", false
	}
	asker.Summarize(fmt.Sprintf("%d models of providers with credentials", len(list.Data.Models)))
	if len(list.Data.Models) == 0 {
		p.SignedIn = new(false)
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, "pi is not signed in with any provider", signInStep
		return "", false
	}
	fillModels(p, state.Data.Model, list.Data.Models)
	if state.Data.Model == nil {
		return "", true
	}
	return state.Data.Model.Provider, true
}

func fillModels(p *runtime.Profile, current *model, list []model) {
	if current != nil {
		p.DefaultModel = current.name()
	}
	for _, m := range list {
		p.Models = append(p.Models, runtime.Model{ID: m.name(), Efforts: m.efforts(*p), Default: m.name() == p.DefaultModel})
	}
}
