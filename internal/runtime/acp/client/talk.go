package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/version"
)

// failure is why there is no turn.
type failure struct {
	class   runtime.Reason
	text    string
	delay   int64 // ms that the service asked to wait
	noLogin bool  // nobody is signed in
}

// ask puts one request to the agent and waits for its answer, as long as it takes:
// who is in a hurry ends the agent.
func (c *client) ask(method string, params any) (json.RawMessage, *failure) {
	taken := c.channel.expect()
	raw, err := sdk.SendRequest[json.RawMessage](c.channel.conn, context.Background(), method, params)
	taken()
	if err == nil {
		return raw, nil
	}
	if c.channel.lost() {
		return nil, c.lost(method)
	}
	var refused *sdk.RequestError
	if !errors.As(err, &refused) {
		return nil, &failure{class: runtime.ReasonCrash, text: fmt.Sprintf("%s: %v", method, err)}
	}
	return nil, refusal(method, refused)
}

// lost says how the agent went before it answered.
func (c *client) lost(method string) *failure {
	if why := c.channel.why(); why != nil {
		return &failure{class: runtime.ReasonCrash, text: why.Error()}
	}
	how := "closed its input or output"
	if c.agent.gone(time.Second) {
		how = "ended (" + c.agent.status + ")"
	}
	return &failure{class: runtime.ReasonCrash, text: fmt.Sprintf("the agent %s before it answered %s", how, method)}
}

// refusal is the agent's own error.
func refusal(method string, e *sdk.RequestError) *failure {
	said := e.Message
	if e.Data != nil {
		if raw, err := json.Marshal(e.Data); err == nil {
			said += " " + string(raw)
		}
	}
	return &failure{
		class: acp.ClassOf(e.Code, said), delay: acp.StatedDelay(said), noLogin: e.Code == sdk.NewAuthRequired(nil).Code,
		text: short(fmt.Sprintf("%s: %s (code %d)", method, said, e.Code)),
	}
}

// greet begins the conversation.
func (c *client) greet() (w welcome, f *failure) {
	raw, f := c.ask(sdk.AgentMethodInitialize, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "orchestrate", Version: version.Version},
	})
	if f != nil {
		return w, f
	}
	if err := decode(raw, &w); err != nil {
		return w, &failure{class: runtime.ReasonCrash, text: "initialize: the answer cannot be read: " + err.Error()}
	}
	if w.ProtocolVersion != sdk.ProtocolVersionNumber {
		return w, &failure{class: runtime.ReasonCrash, text: fmt.Sprintf(
			"the agent speaks version %d of the protocol, this client version %d: update the older of the two", w.ProtocolVersion, sdk.ProtocolVersionNumber)}
	}
	return w, nil
}

// open gets a session: a new one, or the one to go on with.
func (c *client) open(w welcome) *failure {
	method, params, f := c.opening(w)
	if f != nil {
		return f
	}
	raw, f := c.ask(method, params)
	if f != nil {
		return f
	}
	var s session
	if err := decode(raw, &s); err != nil {
		return &failure{class: runtime.ReasonCrash, text: method + ": the answer cannot be read: " + err.Error()}
	}
	if c.turn.Resume != "" {
		s.ID = c.turn.Resume
	}
	if s.ID == "" {
		return &failure{class: runtime.ReasonCrash, text: method + ": the agent gave the session no id"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Options == nil {
		s.Options = c.session.Options // an update may have come first
	}
	c.session = s
	return nil
}

func (c *client) opening(w welcome) (method string, params any, f *failure) {
	id, dir, none := sdk.SessionId(c.turn.Resume), c.turn.Dir, []sdk.McpServer{}
	switch {
	case id == "":
		return sdk.AgentMethodSessionNew, sdk.NewSessionRequest{Cwd: dir, McpServers: none}, nil
	case w.resumes():
		return sdk.AgentMethodSessionResume, sdk.ResumeSessionRequest{SessionId: id, Cwd: dir, McpServers: none}, nil
	case w.Capabilities.LoadSession:
		return sdk.AgentMethodSessionLoad, sdk.LoadSessionRequest{SessionId: id, Cwd: dir, McpServers: none}, nil
	}
	return "", nil, &failure{class: runtime.ReasonUnknownFlag, text: fmt.Sprintf("session %q cannot be gone on with: the agent offers neither session/resume nor session/load", id)}
}

// probe asks for a session and tells what was offered.
func (c *client) probe() *failure {
	w, f := c.greet()
	if f != nil {
		return f
	}
	f = c.open(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	l := live(w, c.session)
	switch {
	case f != nil && f.noLogin:
		l.AuthRequired = f.text
	case f != nil:
		l.Error = f.text
	}
	c.out.line(acp.Line{Type: acp.LineLive, Live: &l})
	return nil
}

// work has the whole turn.
func (c *client) work() *failure {
	w, f := c.greet()
	if f == nil {
		f = c.open(w)
	}
	if f == nil {
		f = c.configure()
	}
	if f != nil {
		return f
	}
	if !c.begin() {
		return nil // told to stop before there was anything to cancel
	}
	raw, f := c.ask(sdk.AgentMethodSessionPrompt, sdk.PromptRequest{
		SessionId: sdk.SessionId(c.session.ID), Prompt: []sdk.ContentBlock{sdk.TextBlock(c.turn.Prompt)},
	})
	if f != nil {
		return f
	}
	return c.finish(raw)
}

// begin tells that the session is ready; false when it is not to be used any more.
func (c *client) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, mode := c.session.modes()
	c.out.line(acp.Line{Type: acp.LineSession, SessionID: c.session.ID, Mode: mode})
	if _, model := c.session.models(); model != "" {
		c.out.line(acp.Line{Type: acp.LineModel, Model: model})
	}
	c.prompting = !c.stopping
	return c.prompting
}

// finish tells how the turn ended. What the agent counts of money is over the whole
// session, so that of a continued one is not known.
func (c *client) finish(raw json.RawMessage) *failure {
	var end turnEnd
	if err := decode(raw, &end); err != nil || end.StopReason == "" {
		return &failure{class: runtime.ReasonCrash, text: "session/prompt: the agent answered without a reason to stop"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	usage := end.usage()
	if c.cost != nil && c.turn.Resume == "" {
		if usage == nil {
			usage = &runtime.Usage{}
		}
		usage.CostUSD = c.cost
	}
	if usage != nil {
		c.out.line(acp.Line{Type: acp.LineUsage, Usage: usage})
	}
	c.out.line(acp.Line{Type: acp.LineStop, StopReason: end.StopReason, Asked: c.stopping})
	c.stopped, c.prompting = true, false
	return nil
}

// cancel asks the agent to end its turn; where there is none, it is the agent that
// is ended.
func (c *client) cancel() {
	c.mu.Lock()
	prompting, id := c.prompting, c.session.ID
	c.stopping = true
	c.mu.Unlock()
	if !prompting {
		c.agent.end()
		return
	}
	if err := c.channel.conn.SendNotification(context.Background(), sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: sdk.SessionId(id)}); err != nil {
		c.out.warn("the agent could not be told to cancel: " + err.Error())
	}
}
