package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"orchestrate/internal/runtime/acp"
)

// hear takes a notification. What the agent tells outside of the turn is the
// history of a session that is gone on with.
func (c *client) hear(method string, params json.RawMessage) {
	if method != sdk.ClientMethodSessionUpdate {
		return
	}
	var told struct {
		Update json.RawMessage `json:"update"`
	}
	var u update
	if decode(params, &told) != nil || decode(told.Update, &u) != nil {
		c.out.warn("the agent sent an update that cannot be read")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case u.Kind == "config_option_update":
		c.optionsChanged(u.Options)
	case u.Kind == "current_mode_update":
		c.modeChanged(u.Mode)
	case !c.prompting:
	case u.Kind == "agent_message_chunk":
		c.said(u)
	case u.Kind == "tool_call", u.Kind == "tool_call_update":
		c.toolUsed(told.Update)
	case u.Kind == "usage_update" && u.Cost != nil && u.Cost.Currency == "USD" && u.Cost.Amount > 0:
		c.cost = new(u.Cost.Amount)
	}
}

// optionsChanged notes the settings that the agent now has, and says so if another
// model is at work.
func (c *client) optionsChanged(options []option) {
	_, before := c.session.models()
	_, mode := c.session.modes()
	c.session.Options = options
	if _, now := c.session.models(); c.prompting && now != before && now != "" {
		c.out.line(acp.Line{Type: acp.LineModel, Model: now})
	}
	if _, now := c.session.modes(); c.prompting && now != mode {
		c.out.warn(fmt.Sprintf("the agent went from mode %q to %q by itself", mode, now))
	}
}

func (c *client) modeChanged(mode string) {
	if before := c.session.Modes.Current; c.prompting && mode != before {
		c.out.warn(fmt.Sprintf("the agent went from mode %q to %q by itself", before, mode))
	}
	c.session.Modes.Current = mode
}

func (c *client) said(u update) {
	var b block
	if decode(u.Content, &b) == nil && b.Type == "text" {
		c.out.text(u.Message, b.Text)
	}
}

// use is what is known of a tool's use.
type use struct {
	toolCall
	shown bool // a line was printed when it began
	asked bool // the agent asked for a permission
}

// toolUsed notes what is said of a tool's use. Agents announce one before they know
// what it is about; the line comes when the use begins.
func (c *client) toolUsed(raw json.RawMessage) {
	call, err := readCall(raw)
	if err != nil || call.ID == "" {
		c.out.warn("the agent told of a tool in a way that cannot be read")
		return
	}
	u := c.use(call)
	if u.Status != "" && u.Status != string(sdk.ToolCallStatusPending) {
		c.show(u)
	}
	if u.Status == string(sdk.ToolCallStatusCompleted) || u.Status == string(sdk.ToolCallStatusFailed) {
		line := u.line(acp.LineToolDone)
		line.Status, line.Text = u.Status, short(u.text())
		c.out.line(line)
		c.unasked(u)
		delete(c.uses, call.ID)
	}
}

// unasked says that the agent has changed something by its own leave which it would
// not have been permitted. That is not undone here, but no secret.
func (c *client) unasked(u *use) {
	changes := slices.Contains([]sdk.ToolKind{sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove, sdk.ToolKindExecute}, sdk.ToolKind(u.Kind))
	if u.asked || !changes || u.Status != string(sdk.ToolCallStatusCompleted) {
		return
	}
	if allowed, why := c.rule.judge(u.toolCall); !allowed {
		c.out.warn(fmt.Sprintf("the agent did not ask before it used %s %q, which would have been refused: %s", u.Kind, u.Title, why))
	}
}

// use is what is now known of the use that is spoken of.
func (c *client) use(call toolCall) *use {
	u := c.uses[call.ID]
	if u == nil {
		u = &use{}
		c.uses[call.ID] = u
	}
	u.merge(call)
	return u
}

func (c *client) show(u *use) {
	if !u.shown {
		u.shown = true
		c.out.line(u.line(acp.LineTool))
	}
}

// answer replies to a request of the agent. It was told that this client has no
// files and terminals for it; one that asks for them nevertheless is refused by the
// protocol's own words, and does without or fails: that is no limit of the job's.
func (c *client) answer(_ context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	if method == sdk.ClientMethodSessionRequestPermission {
		return c.permission(params)
	}
	c.unknown(method)
	return nil, sdk.NewMethodNotFound(method)
}

// permission answers by the rule and reports it. Once the turn is cancelled, the
// protocol wants all questions answered so.
func (c *client) permission(params json.RawMessage) (any, *sdk.RequestError) {
	var asked permissionRequest
	call, err := toolCall{}, decode(params, &asked)
	if err == nil {
		call, err = readCall(asked.Call)
	}
	if err != nil {
		return nil, sdk.NewInvalidParams(map[string]any{"error": err.Error()})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
	u := &use{toolCall: call}
	if call.ID != "" {
		u = c.use(call)
	}
	c.show(u)
	u.asked = true
	allowed, why := c.rule.judge(u.toolCall)
	option, kept := answer(asked.Options, allowed)
	if !kept {
		allowed, why = false, why+"; but the agent offers no permission for this once"
	}
	line := u.line(acp.LinePermission)
	line.Allowed, line.Rule = allowed, why
	c.out.line(line)
	if option == "" {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(option))}, nil
}

// unknown says once that the agent asks for what is not there.
func (c *client) unknown(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked[method] && len(c.asked) < garbageShown {
		c.asked[method] = true
		c.out.warn(fmt.Sprintf("the agent asked for %q, which this client does not have", short(method)))
	}
}
