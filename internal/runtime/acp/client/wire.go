package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// decode reads JSON as far as it is understood: a field of an unexpected type is
// left out, not an error.
func decode(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && json.Valid(raw) {
		return nil
	}
	return err
}

// welcome is the answer to initialize.
type welcome struct {
	ProtocolVersion int `json:"protocolVersion"`
	Agent           struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	AuthMethods  []acp.AuthMethod `json:"authMethods"`
	Capabilities struct {
		LoadSession bool `json:"loadSession"`
		Session     struct {
			Resume json.RawMessage `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
}

// resumes reports whether a session can be gone on with without its history.
func (w welcome) resumes() bool {
	resume := string(w.Capabilities.Session.Resume)
	return resume != "" && resume != "null" && resume != "false"
}

// session is what there is to know of an open one.
type session struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current   string      `json:"currentModeId"`
		Available []acp.Value `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current   string `json:"currentModelId"`
		Available []struct {
			ID   string `json:"modelId"`
			Name string `json:"name"`
		} `json:"availableModels"`
	} `json:"models"`
	Options []option `json:"configOptions"`
}

// option is a setting of the session.
type option struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Current  string   `json:"currentValue"` // "" where it is no word
	Choices  []choice `json:"options"`
}

// choice is a value, or a group of them.
type choice struct {
	Value   string   `json:"value"`
	Name    string   `json:"name"`
	Choices []choice `json:"options"`
}

func (o option) values() (all []acp.Value) {
	for _, c := range o.Choices {
		if len(c.Choices) > 0 {
			all = append(all, option{Choices: c.Choices}.values()...)
		} else {
			all = append(all, acp.Value{ID: c.Value, Name: c.Name})
		}
	}
	return all
}

// Categories of options that mean the same in every agent.
const (
	categoryMode   = "mode"
	categoryModel  = "model"
	categoryEffort = "thought_level"
)

// option finds the setting of a category; an agent may leave the category out.
func (s session) option(category string) (option, bool) {
	i := slices.IndexFunc(s.Options, func(o option) bool { return cmp.Or(o.Category, o.ID) == category })
	if i < 0 {
		return option{}, false
	}
	return s.Options[i], true
}

func (s session) modes() (all []acp.Value, current string) {
	if o, ok := s.option(categoryMode); ok {
		return o.values(), o.Current
	}
	return s.Modes.Available, s.Modes.Current
}

func (s session) models() (all []acp.Value, current string) {
	if o, ok := s.option(categoryModel); ok {
		return o.values(), o.Current
	}
	for _, m := range s.Models.Available {
		all = append(all, acp.Value{ID: m.ID, Name: m.Name})
	}
	return all, s.Models.Current
}

// live is the answer to a probe.
func live(w welcome, s session) acp.Live {
	l := acp.Live{
		ProtocolVersion: w.ProtocolVersion, AgentName: w.Agent.Name, AgentVersion: w.Agent.Version,
		AuthMethods: w.AuthMethods, LoadSession: w.Capabilities.LoadSession, ResumeSession: w.resumes(),
	}
	l.Modes, l.CurrentMode = s.modes()
	models, current := s.models()
	l.CurrentModel = current
	for _, m := range models {
		entry := runtime.Model{ID: m.ID, Default: m.ID == current}
		if effort, ok := s.option(categoryEffort); ok && entry.Default {
			entry.Efforts = ids(effort.values())
		}
		l.Models = append(l.Models, entry)
	}
	for _, o := range s.Options {
		l.Options = append(l.Options, acp.Option{ID: o.ID, Name: o.Name, Category: o.Category, Current: o.Current, Values: o.values()})
	}
	return l
}

func ids(values []acp.Value) (all []string) {
	for _, v := range values {
		all = append(all, v.ID)
	}
	return all
}

// update is a session/update of any kind.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Message string          `json:"messageId"`
	Content json.RawMessage `json:"content"` // a block of a message, or all that a tool shows
	toolCall
	Options []option `json:"configOptions"`
	Mode    string   `json:"currentModeId"`
	Cost    *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
}

// toolCall is what is said of a tool's use; what is absent is as it was before.
type toolCall struct {
	ID        string     `json:"toolCallId"`
	Title     string     `json:"title"`
	Kind      string     `json:"kind"`
	Status    string     `json:"status"`
	Locations []location `json:"locations"`
	// Input is what the tool gets, in the agent's own words.
	Input json.RawMessage `json:"rawInput"`
	Shown []shown         `json:"-"` // its content
}

type location struct {
	Path string `json:"path"`
}

// shown is a part of what a tool shows: a diff of a file, or a text.
type shown struct {
	Type    string `json:"type"`
	Path    string `json:"path"`
	Content block  `json:"content"`
}

// block is a part of a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// merge takes over what is said anew.
func (t *toolCall) merge(u toolCall) {
	t.ID = cmp.Or(u.ID, t.ID)
	t.Title, t.Kind, t.Status = cmp.Or(u.Title, t.Title), cmp.Or(u.Kind, t.Kind), cmp.Or(u.Status, t.Status)
	if u.Locations != nil {
		t.Locations = u.Locations
	}
	if u.Shown != nil {
		t.Shown = u.Shown
	}
	if u.Input != nil {
		t.Input = u.Input
	}
}

// paths are all files that the use is about, each once.
func (t *toolCall) paths() (all []string) {
	for _, l := range t.Locations {
		all = append(all, l.Path)
	}
	for _, s := range t.Shown {
		if s.Type == "diff" {
			all = append(all, s.Path)
		}
	}
	all = append(all, t.named()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// text is what the tool shows, without diffs.
func (t *toolCall) text() (text string) {
	for _, s := range t.Shown {
		text += s.Content.Text
	}
	return text
}

// line is what is printed of it.
func (t *toolCall) line(kind acp.LineType) acp.Line {
	paths := t.paths()
	return acp.Line{Type: kind, Call: t.ID, Kind: t.Kind, Title: short(t.Title), Paths: paths[:min(len(paths), pathsLimit)]}
}

// permissionRequest is the question whether a tool may be used.
type permissionRequest struct {
	Call    json.RawMessage `json:"toolCall"`
	Options []answerOption  `json:"options"`
}

type answerOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// readCall reads a tool's use out of an update or a permission request.
func readCall(raw json.RawMessage) (toolCall, error) {
	var u update
	if err := decode(raw, &u); err != nil {
		return toolCall{}, err
	}
	call := u.toolCall
	if len(u.Content) > 0 && decode(u.Content, &call.Shown) != nil {
		call.Shown = nil
	}
	return call, nil
}

// turnEnd is the answer to a prompt.
type turnEnd struct {
	StopReason string `json:"stopReason"`
	Usage      *struct {
		Input      *int64 `json:"inputTokens"`
		Output     *int64 `json:"outputTokens"`
		CacheRead  int64  `json:"cachedReadTokens"`
		CacheWrite int64  `json:"cachedWriteTokens"`
		Total      int64  `json:"totalTokens"`
	} `json:"usage"`
}

// usage is what the agent counted, nil if it did not. Cached input is part of the
// input; whether it was counted into it already shows in the total. Nothing at all
// is what agents say that have not counted.
func (t turnEnd) usage() *runtime.Usage {
	u := t.Usage
	if u == nil || u.Input == nil || u.Output == nil || *u.Input == 0 && *u.Output == 0 {
		return nil
	}
	input := *u.Input
	if u.Total >= input+*u.Output+u.CacheRead+u.CacheWrite {
		input += u.CacheRead + u.CacheWrite
	}
	return &runtime.Usage{InputTokens: new(input), OutputTokens: new(*u.Output)}
}

// named are the absolute paths that the tool gets under a name that speaks of files or
// folders. What an agent announces a use with and what it then asks for may differ.
func (t *toolCall) named() (all []string) {
	var input map[string]any
	if json.Unmarshal(t.Input, &input) != nil {
		return nil // it has none, or none that names anything
	}
	for key, value := range input {
		path, ok := value.(string)
		if key = strings.ToLower(key); ok && filepath.IsAbs(path) && (strings.Contains(key, "path") || strings.Contains(key, "file") || strings.Contains(key, "dir")) {
			all = append(all, path)
		}
	}
	return all
}
