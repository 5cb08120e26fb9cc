package copilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Ids of the questions over the agent protocol; the last is also their number.
const (
	askInitialize = 1
	askSession    = 2
)

// authRequired is the protocol's code for a session that nobody is signed in for.
const authRequired = -32000

// newSession is what the program says when it is asked for a session. Models are
// named only where they are called through GitHub.
type newSession struct {
	Result *struct {
		Models struct {
			Current   string `json:"currentModelId"`
			Available []struct {
				ID string `json:"modelId"`
			} `json:"availableModels"`
		} `json:"models"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

const signInStep = "run `copilot login`, or set COPILOT_GITHUB_TOKEN"

// readSession fills SignedIn, SignInMethod, Models and DefaultModel; false when no
// job could sign in, or when that is not known.
func readSession(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	p.ModelsPartial = true
	p.FamilySource = "models of several makers are called through GitHub or a provider of the user's: who answers is not known"
	if !p.Shows(flagACP) {
		p.Reason = "whether copilot is signed in is not known: its help does not show " + flagACP
		p.NextStep = "update it: " + identity().Install
		return false
	}
	reply, why := askForSession(ctx, asker)
	switch {
	case why != "":
		p.Reason, p.NextStep = why, "run `copilot` once and see what it says; update the program if it is old"
		return false
	case reply.Error != nil && reply.Error.Code == authRequired:
		asker.Summarize("session/new: " + reply.Error.Message)
		p.SignedIn = new(false)
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, "copilot is not signed in", signInStep
		return false
	case reply.Result == nil:
		p.Reason = "copilot gave no session and did not say that sign-in is missing, so sign-in is not known"
		p.NextStep = "run `copilot` once and see what it says; update the program if it is old"
		return false
	}
	fillModels(p, *reply)
	if asker.Host.Getenv(providerEnv) != "" {
		ownProvider(p, asker.Host)
	} else {
		p.SignedIn, p.SignInMethod = new(true), "GitHub"
	}
	asker.Summarize(fmt.Sprintf("session/new: a session was given, sign-in by %s, %d models, default model %q",
		p.SignInMethod, len(p.Models), p.DefaultModel))
	return true
}

// ownProvider judges a provider that the environment names. A session is given
// without asking it anything.
func ownProvider(p *runtime.Profile, host runtime.Host) {
	p.SignInMethod = "provider of " + providerEnv
	p.Limits = append(p.Limits, "provider of "+providerEnv+": sign-in cannot be checked without a model call")
	for _, name := range []string{wireModelEnv, modelEnv, wellKnownEnv} {
		if p.DefaultModel = host.Getenv(name); p.DefaultModel != "" {
			p.Models = []runtime.Model{{ID: p.DefaultModel, Default: true}}
			return
		}
	}
	p.Models = nil
	p.Limits = append(p.Limits, "neither "+modelEnv+" nor another default is set: each job must name a model")
}

// askForSession asks in a folder of its own, so that no project has a say.
func askForSession(ctx context.Context, asker *probe.Asker) (reply *newSession, why string) {
	dir, err := os.MkdirTemp("", "orchestrate-copilot-")
	if err != nil {
		return nil, "copilot could not be asked for a session: " + err.Error()
	}
	questions, err := questions(dir)
	if err == nil {
		answer := asker.Converse(ctx, questions, askSession, flagACP)
		reply, why = sessionReply(answer)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, "copilot could not be asked for a session: " + err.Error()
	}
	return reply, why
}

// questions is the whole conversation, given at once.
func questions(dir string) ([]byte, error) {
	cwd, err := json.Marshal(dir)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1,`+
		`"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},`+
		`"clientInfo":{"name":"orchestrate","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`+"\n",
		askInitialize, askSession, cwd), nil
}

func sessionReply(answer runtime.Answer) (reply *newSession, why string) {
	if why := probe.Trouble("copilot "+flagACP, answer); why != "" {
		return nil, why
	}
	probe.JSONLines(answer.Stdout, func(line []byte) {
		var head struct {
			ID int `json:"id"`
			newSession
		}
		if json.Unmarshal(line, &head) == nil && head.ID == askSession {
			reply = &head.newSession
		}
	})
	if reply == nil {
		return nil, "copilot did not answer over its agent protocol, so sign-in is not known"
	}
	return reply, ""
}

// fillModels takes over the list, if the session brought one.
func fillModels(p *runtime.Profile, reply newSession) {
	live := reply.Result.Models
	p.DefaultModel = live.Current
	for _, m := range live.Available {
		p.Models = append(p.Models, runtime.Model{ID: m.ID, Default: m.ID == live.Current})
	}
}
