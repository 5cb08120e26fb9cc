package commandcode

import "encoding/json"

// The parts of the stream that the decoder reads. Unknown lines, fields and events
// are skipped: the stream grows with every release.

// Kinds of line.
const (
	typeGate   = "gate" // ours; see gate
	typeEvent  = "event"
	typeResult = "result"
)

type line struct {
	Type   string   `json:"type"`
	All    []string `json:"all"`    // gate: the tools that there are
	Active []string `json:"active"` // gate: those that are left
	Event  event    `json:"event"`
	result
}

type event struct {
	Type       string          `json:"type"`
	SessionID  string          `json:"sessionId"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Input      json.RawMessage `json:"input"`
	Result     json.RawMessage `json:"result"`
	HookOutput string          `json:"hookOutput"`
	Content    json.RawMessage `json:"content"`
	Error      json.RawMessage `json:"error"` // a text or {message}
	DelayMs    int64           `json:"delayMs"`
}

// result is the last line of a run. Usage is that of this run alone.
type result struct {
	Subtype    string `json:"subtype"`
	SessionID  string `json:"sessionId"`
	StopReason string `json:"stopReason"`
	FinalText  string `json:"finalText"`
	ErrorText  string `json:"error"`
	Usage      *usage `json:"usage"`
}

type usage struct {
	Input  *int64 `json:"inputTokens"`
	Output *int64 `json:"outputTokens"`
}

// plain is the text of a field that holds a text, an object with a message, or a
// list of text blocks.
func plain(field json.RawMessage) string {
	var text string
	if json.Unmarshal(field, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(field, &object) == nil {
		return object.Message
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(field, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		text += b.Text
	}
	return text
}
