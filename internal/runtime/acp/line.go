package acp

import (
	"encoding/json"
	"errors"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// LineType says what a line reports.
type LineType string

// What the client reports.
const (
	LineSession    LineType = "session"    // the session is open: SessionID, Mode
	LineModel      LineType = "model"      // the agent names its current model: Model
	LineText       LineType = "text"       // a piece of a message: Message, Text
	LineTool       LineType = "tool"       // a tool is at work: Call, Kind, Title, Paths
	LineToolDone   LineType = "tool_done"  // …and has ended: the same, Status, Text
	LinePermission LineType = "permission" // a permission was asked for: Kind, Title, Paths, Allowed, Rule
	LineUsage      LineType = "usage"      // Usage
	LineStop       LineType = "stop"       // the turn is over: StopReason, Asked
	LineError      LineType = "error"      // it is not going to be: Reason, Text, RetryAfterMs
	LineWarning    LineType = "warning"    // Text
	LineLive       LineType = "live"       // the answer to a probe: Live
)

// Line is one line of the client's standard output.
type Line struct {
	Type         LineType       `json:"type"`
	SessionID    string         `json:"sessionId,omitempty"`
	Model        string         `json:"model,omitempty"`
	Mode         string         `json:"mode,omitempty"`
	Message      string         `json:"message,omitempty"` // id of the message that a text belongs to, where the agent gives one
	Text         string         `json:"text,omitempty"`
	Call         string         `json:"call,omitempty"`
	Kind         string         `json:"kind,omitempty"` // in the protocol's words: read, edit, execute, …
	Title        string         `json:"title,omitempty"`
	Paths        []string       `json:"paths,omitempty"`
	Status       string         `json:"status,omitempty"`
	Allowed      bool           `json:"allowed,omitempty"`
	Rule         string         `json:"rule,omitempty"` // what permitted or refused it
	StopReason   string         `json:"stopReason,omitempty"`
	Asked        bool           `json:"asked,omitempty"` // the client had been told to stop
	Reason       runtime.Reason `json:"reason,omitempty"`
	RetryAfterMs int64          `json:"retryAfterMs,omitempty"`
	Usage        *runtime.Usage `json:"usage,omitempty"`
	Live         *Live          `json:"live,omitempty"`
}

// Live is what an agent says about itself before any work.
type Live struct {
	ProtocolVersion int             `json:"protocolVersion"`
	AgentName       string          `json:"agentName"`
	AgentVersion    string          `json:"agentVersion"`
	AuthMethods     []AuthMethod    `json:"authMethods"`
	LoadSession     bool            `json:"loadSession"`   // a session can be gone on with, its history told again
	ResumeSession   bool            `json:"resumeSession"` // the same without the history
	Modes           []Value         `json:"modes"`
	CurrentMode     string          `json:"currentMode"`
	Models          []runtime.Model `json:"models"` // reasoning depths are known of the current one only
	CurrentModel    string          `json:"currentModel"`
	Options         []Option        `json:"options"`
	AuthRequired    string          `json:"authRequired"` // the agent's words, when nobody is signed in
	Error           string          `json:"error"`        // why there is no session otherwise
}

// AuthMethod is a way to sign in that the agent offers.
type AuthMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Value is one that a mode or an option can have.
type Value struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Option is a setting of the session.
type Option struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Category string  `json:"category"` // mode, model, thought_level or the agent's own word
	Current  string  `json:"current"`
	Values   []Value `json:"values"`
}

// ReadLive finds the answer to a probe in what the client printed. What it could
// not ask at all is an error; what the agent refused is in the answer.
func ReadLive(stdout []byte) (Live, error) {
	var live *Live
	said := errors.New("the protocol client gave no answer")
	probe.JSONLines(stdout, func(raw []byte) {
		var line Line
		if json.Unmarshal(raw, &line) != nil {
			return
		}
		switch line.Type {
		case LineLive:
			live = line.Live
		case LineError:
			said = errors.New(line.Text)
		}
	})
	if live == nil {
		return Live{}, said
	}
	return *live, nil
}
