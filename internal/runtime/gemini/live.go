package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Ids of the questions; the last is also their number.
const (
	askInitialize = 1
	askSession    = 2
)

// questions is the whole conversation, given at once.
func questions(dir string) ([]byte, error) {
	cwd, err := json.Marshal(dir)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false}}}`+"\n"+
			`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`+"\n",
		askInitialize, askSession, cwd), nil
}

type sessionReply struct {
	ID     int `json:"id"`
	Result struct {
		Models struct {
			Available []struct {
				ID string `json:"modelId"`
			} `json:"availableModels"`
			Current string `json:"currentModelId"`
		} `json:"models"`
	} `json:"result"`
}

// readModels fills Models and DefaultModel. What is not answered stays unknown.
func readModels(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	// Any full model name is accepted beside the listed ones.
	p.ModelsPartial = true
	if !p.Shows(flagACP) {
		p.Limits = append(p.Limits, "models are not known: help does not show "+flagACP)
		return
	}
	reply, err := newSession(ctx, asker, *p)
	if err != nil {
		p.Limits = append(p.Limits, "models are not known: "+err.Error())
		return
	}
	live := reply.Result.Models
	p.DefaultModel = live.Current
	for _, m := range live.Available {
		p.Models = append(p.Models, runtime.Model{ID: m.ID, Default: m.ID == live.Current})
	}
	asker.Summarize(fmt.Sprintf("%d models, default model %q", len(p.Models), p.DefaultModel))
}

// newSession opens a session in an empty folder, which the program answers with
// its models.
func newSession(ctx context.Context, asker *probe.Asker, p runtime.Profile) (reply sessionReply, err error) {
	dir, err := os.MkdirTemp("", "orchestrate-gemini-")
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	text, err := questions(dir)
	if err != nil {
		return reply, err
	}
	args := append([]string{flagACP, flagSkipTrust}, isolationFlags(p)...)
	answer := asker.Converse(ctx, text, askSession, args...)
	found := false
	probe.JSONLines(answer.Stdout, func(line []byte) {
		var r sessionReply
		if json.Unmarshal(line, &r) == nil && r.ID == askSession && len(r.Result.Models.Available) > 0 {
			reply, found = r, true
		}
	})
	if found {
		return reply, nil
	}
	if why := probe.Trouble("gemini "+flagACP, answer); why != "" {
		return reply, errors.New(why)
	}
	return reply, errors.New("the program did not list them")
}
