package qwen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

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

// newSession is what the program says when it is asked for a session.
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

const signInStep = "run `qwen` and type /auth, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL"

// readSession fills SignedIn, SignInMethod, Models and DefaultModel; false when no
// job could sign in, or when that is not known.
func readSession(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	// Whatever name is asked for is passed on to the model service.
	p.ModelsPartial = true
	if !p.Shows(flagACP) {
		p.Reason = "whether qwen is signed in is not known: its help does not show " + flagACP
		p.NextStep = "update it: " + identity().Install
		return false
	}
	reply, why := askForSession(ctx, asker)
	switch {
	case why != "":
		p.Reason, p.NextStep = why, "run `qwen` once and see what it says; update the program if it is old"
		return false
	case reply.Error != nil && reply.Error.Code == authRequired:
		asker.Summarize("session/new: " + reply.Error.Message)
		p.SignedIn = new(false)
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, "qwen is not signed in", signInStep
		return false
	case reply.Result == nil:
		p.Reason = "qwen gave no session and did not say that sign-in is missing, so sign-in is not known"
		p.NextStep = "run `qwen` once and see what it says; update the program if it is old"
		return false
	}
	p.SignedIn = new(true)
	fillModels(p, *reply)
	asker.Summarize(fmt.Sprintf("session/new: signed in by %q, %d models, default model %q", p.SignInMethod, len(p.Models), p.DefaultModel))
	return true
}

// askForSession asks in a folder of its own, so that no project has a say.
func askForSession(ctx context.Context, asker *probe.Asker) (reply *newSession, why string) {
	dir, err := os.MkdirTemp("", "orchestrate-qwen-")
	if err != nil {
		return nil, "qwen could not be asked for a session: " + err.Error()
	}
	questions, err := questions(dir)
	if err == nil {
		answer := asker.Converse(ctx, questions, askSession, append(safeArgs(), flagACP)...)
		reply, why = sessionReply(answer)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, "qwen could not be asked for a session: " + err.Error()
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
	if why := probe.Trouble("qwen "+flagACP, answer); why != "" {
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
		return nil, "qwen did not answer over its agent protocol, so sign-in is not known"
	}
	return reply, ""
}

// fillModels lists the models under the names that --model takes. Those of other
// providers are listed too by the program, signed in there or not, and left out
// here: a job would ask the current provider for them. Who answers behind a
// provider is not known, so no family follows from it.
func fillModels(p *runtime.Profile, reply newSession) {
	current, provider := modelName(reply.Result.Models.Current)
	p.DefaultModel, p.SignInMethod = current, provider
	p.FamilySource = fmt.Sprintf("models are called through a provider of type %q: who answers is not known", provider)
	for _, live := range reply.Result.Models.Available {
		name, of := modelName(live.ID)
		if _, listed := p.ModelNamed(name); listed || name == "" || of != provider {
			continue
		}
		p.Models = append(p.Models, runtime.Model{ID: name, Default: name == current})
	}
	if len(p.Models) == 0 {
		p.Limits = append(p.Limits, "models are not known: the session did not name them in a form that is understood")
	}
}

// modelName takes apart how the protocol names a model: "name(provider)", with
// "$runtime|provider|" before it where the environment and no settings file
// brought it in. Both are "" for another form.
func modelName(id string) (name, provider string) {
	name, ok := strings.CutSuffix(id, ")")
	open := strings.LastIndex(name, "(")
	if !ok || open < 0 {
		return "", ""
	}
	name, provider = name[:open], name[open+1:]
	if rest, runtime := strings.CutPrefix(name, "$runtime|"); runtime {
		_, name, _ = strings.Cut(rest, "|")
	}
	return name, provider
}
