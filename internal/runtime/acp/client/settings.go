package client

import (
	"fmt"

	sdk "github.com/coder/acp-go-sdk"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// methodSetModel was never made part of the protocol, and the library has it no
// more. Agents that list models outside of their options know it.
const methodSetModel = "session/set_model"

type setModelRequest struct {
	SessionID string `json:"sessionId"`
	ModelID   string `json:"modelId"`
}

// configure makes the settings that the turn asks for. The mode comes first, and
// the depth of thought last: which there are depends on the model.
func (c *client) configure() *failure {
	if f := c.setMode(); f != nil {
		return f
	}
	if f := c.setModel(); f != nil {
		return f
	}
	return c.setEffort()
}

func (c *client) setMode() *failure {
	want := c.turn.Mode
	values, current := c.session.modes()
	if f := offered("mode", want, values, runtime.ReasonUnknownFlag); f != nil || want == "" || want == current {
		return f
	}
	if o, ok := c.session.option(categoryMode); ok {
		return c.setOption(o, "mode", want)
	}
	_, f := c.ask(sdk.AgentMethodSessionSetMode, sdk.SetSessionModeRequest{
		SessionId: sdk.SessionId(c.session.ID), ModeId: sdk.SessionModeId(want),
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.Modes.Current = want
	return f
}

// setModel leaves the current model unknown where the agent does not confirm it.
func (c *client) setModel() *failure {
	want := c.turn.Model
	values, current := c.session.models()
	if f := offered("model", want, values, runtime.ReasonUnknownModel); f != nil || want == "" || want == current {
		return f
	}
	if o, ok := c.session.option(categoryModel); ok {
		return c.setOption(o, "model", want)
	}
	_, f := c.ask(methodSetModel, setModelRequest{SessionID: c.session.ID, ModelID: want})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.Models.Current = ""
	return f
}

func (c *client) setEffort() *failure {
	want := c.turn.Effort
	o, _ := c.session.option(categoryEffort)
	if f := offered("effort", want, o.values(), runtime.ReasonUnknownFlag); f != nil || want == "" || want == o.Current {
		return f
	}
	return c.setOption(o, "effort", want)
}

// offered says what is wrong with a value that the agent does not list.
func offered(what, want string, values []acp.Value, class runtime.Reason) *failure {
	if want == "" {
		return nil
	}
	listed := ids(values)
	if len(listed) == 0 {
		return &failure{class: class, text: fmt.Sprintf("%s %q was asked for, and the agent offers no choice of that", what, want)}
	}
	for _, value := range listed {
		if value == want {
			return nil
		}
	}
	return &failure{class: class, text: fmt.Sprintf("%s %q is not in the agent's live list%s", what, want, meant(want, listed))}
}

// setOption changes one option and looks whether it took.
func (c *client) setOption(o option, what, want string) *failure {
	raw, f := c.ask(sdk.AgentMethodSessionSetConfigOption, sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
		SessionId: sdk.SessionId(c.session.ID), ConfigId: sdk.SessionConfigId(o.ID), Value: sdk.SessionConfigValueId(want),
	}})
	if f != nil {
		return f
	}
	var now session
	if decode(raw, &now) != nil || len(now.Options) == 0 {
		return nil // an update may tell; until then nothing is known
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.Options = now.Options
	for _, n := range now.Options {
		if n.ID == o.ID && n.Current != want {
			return &failure{class: runtime.ReasonUnknownFlag, text: fmt.Sprintf("%s %q was asked for, and the agent stays at %q", what, want, n.Current)}
		}
	}
	return nil
}
