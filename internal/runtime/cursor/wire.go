package cursor

import (
	"encoding/json"
	"strings"
)

// The parts of the stream that the decoder reads, as documented. Unknown lines,
// fields and kinds of tool are skipped: consumers are asked to.

type line struct {
	Type      string                     `json:"type"`
	Subtype   string                     `json:"subtype"`
	SessionID string                     `json:"session_id"`
	Model     string                     `json:"model"`   // of init: the display name of the model that runs
	Message   json.RawMessage            `json:"message"` // of assistant: {content}; of error: a text
	CallID    string                     `json:"call_id"`
	ToolCall  map[string]json.RawMessage `json:"tool_call"` // one key, such as readToolCall
	IsError   bool                       `json:"is_error"`
	Result    string                     `json:"result"`
	Usage     *usage                     `json:"usage"`
}

// usage is that of one run, a continued session's earlier ones not counted.
type usage struct {
	Input  *int64 `json:"inputTokens"`
	Output *int64 `json:"outputTokens"`
}

type toolCall struct {
	Args   json.RawMessage            `json:"args"`
	Result map[string]json.RawMessage `json:"result"` // one key: success, rejected, error, …
}

// ofTool is how the key of a tool call ends, after the tool's name.
const ofTool = "ToolCall"

// tool is the name and the call in a line about a tool; "" when there is none.
func (l line) tool() (name string, call toolCall) {
	for key, raw := range l.ToolCall {
		if short, ok := strings.CutSuffix(key, ofTool); ok && json.Unmarshal(raw, &call) == nil {
			return short, call
		}
	}
	return "", toolCall{}
}

// said is the text of a message: an assistant's blocks joined, or a bare text.
func (l line) said() string {
	var text string
	if json.Unmarshal(l.Message, &text) == nil {
		return text
	}
	var message struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(l.Message, &message) != nil {
		return ""
	}
	for _, block := range message.Content {
		text += block.Text
	}
	return text
}
