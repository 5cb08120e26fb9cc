package codex

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// liveFacts is what the app server says about configuration and account.
type liveFacts struct {
	known     bool // config/read was answered
	config    liveConfig
	origins   map[string]json.RawMessage
	needsAuth bool
}

type liveConfig struct {
	Model     string                     `json:"model"`
	Provider  string                     `json:"model_provider"`
	Providers map[string]liveProvider    `json:"model_providers"`
	Servers   map[string]json.RawMessage `json:"mcp_servers"`
}

type liveProvider struct {
	EnvKey string `json:"env_key"`
}

type liveModel struct {
	ID      string `json:"id"`
	Default bool   `json:"isDefault"`
	Efforts []struct {
		Effort string `json:"reasoningEffort"`
	} `json:"supportedReasoningEfforts"`
}

// Ids of the app server's questions; the last is also their number.
const (
	askModels  = 2
	askConfig  = 3
	askAccount = 4
)

// questions is the whole conversation, given at once.
func questions() []byte {
	return []byte(`{"method":"initialize","id":1,"params":{"clientInfo":{"name":"orchestrate","title":"orchestrate","version":"1"}}}` + "\n" +
		`{"method":"initialized"}` + "\n" +
		fmt.Sprintf(`{"method":"model/list","id":%d,"params":{"includeHidden":true}}`+"\n", askModels) +
		fmt.Sprintf(`{"method":"config/read","id":%d,"params":{}}`+"\n", askConfig) +
		fmt.Sprintf(`{"method":"account/read","id":%d,"params":{}}`+"\n", askAccount))
}

// readLive fills Models, DefaultModel and the tool servers to switch off. What
// is not answered stays unknown.
func readLive(ctx context.Context, asker *probe.Asker, p *runtime.Profile) liveFacts {
	args := append(quietArgs(*p), "app-server")
	answer := asker.Converse(ctx, questions(), askAccount, args...)
	var live liveFacts
	var models []liveModel
	var partial bool
	probe.JSONLines(answer.Stdout, func(line []byte) {
		var reply struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(line, &reply) != nil || reply.Result == nil {
			return
		}
		switch reply.ID {
		case askModels:
			models, partial = readModels(reply.Result)
		case askConfig:
			live.readConfig(reply.Result)
		case askAccount:
			live.readAccount(reply.Result)
		}
	})
	fillModels(p, models, live)
	p.ModelsPartial = partial || len(models) == 0 || !live.ownProvider()
	for name := range live.config.Servers {
		p.Flags[serverKey(name)] = "config/read lists this tool server"
	}
	asker.Summarize(fmt.Sprintf("%d models, default model %q, provider %q, requiresOpenaiAuth=%t, %d tool servers",
		len(p.Models), p.DefaultModel, live.config.Provider, live.needsAuth, len(live.config.Servers)))
	return live
}

func readModels(result json.RawMessage) (models []liveModel, partial bool) {
	var list struct {
		Data []liveModel `json:"data"`
		Next *string     `json:"nextCursor"`
	}
	if json.Unmarshal(result, &list) != nil {
		return nil, true
	}
	return list.Data, list.Next != nil
}

func (f *liveFacts) readConfig(result json.RawMessage) {
	var reply struct {
		Config  *liveConfig                `json:"config"`
		Origins map[string]json.RawMessage `json:"origins"`
	}
	if json.Unmarshal(result, &reply) == nil && reply.Config != nil {
		f.known, f.config, f.origins = true, *reply.Config, reply.Origins
	}
}

func (f *liveFacts) readAccount(result json.RawMessage) {
	var reply struct {
		Requires bool `json:"requiresOpenaiAuth"`
	}
	if json.Unmarshal(result, &reply) == nil {
		f.needsAuth = reply.Requires
	}
}

// ownProvider reports whether models are called through the maker's own service
// as far as the configuration goes.
func (f *liveFacts) ownProvider() bool {
	return f.known && (f.config.Provider == "" || f.config.Provider == "openai")
}

// fillModels marks the default: the one set in the user's configuration, else
// the one that the list itself marks.
func fillModels(p *runtime.Profile, live []liveModel, facts liveFacts) {
	p.DefaultModel = facts.config.Model
	for _, m := range live {
		entry := runtime.Model{ID: m.ID}
		for _, e := range m.Efforts {
			entry.Efforts = append(entry.Efforts, e.Effort)
		}
		if facts.known && p.DefaultModel == "" && m.Default {
			p.DefaultModel = m.ID
		}
		p.Models = append(p.Models, entry)
	}
	for i := range p.Models {
		p.Models[i].Default = p.Models[i].ID == p.DefaultModel
	}
	if _, listed := p.ModelNamed(p.DefaultModel); p.DefaultModel != "" && !listed {
		p.Models = append(p.Models, runtime.Model{ID: p.DefaultModel, Default: true})
	}
}
