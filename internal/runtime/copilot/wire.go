package copilot

import "encoding/json"

// line holds the parts of the JSON stream that the decoder reads. Unknown lines and
// fields are skipped: the stream grows with every release.
type line struct {
	Type      string          `json:"type"`
	Data      data            `json:"data"`
	SessionID string          `json:"sessionId"` // on the last line only
	ExitCode  json.RawMessage `json:"exitCode"`  // there too
}

type data struct {
	Model      string          `json:"model"`
	Content    string          `json:"content"`
	Parent     string          `json:"parentToolCallId"` // set on what a subagent says
	InfoType   string          `json:"infoType"`
	Message    string          `json:"message"`
	ErrorType  string          `json:"errorType"`
	StatusCode int             `json:"statusCode"`
	CallError  string          `json:"errorMessage"` // of a failed model call
	ToolCall   string          `json:"toolCallId"`
	Tool       string          `json:"toolName"`
	Arguments  json.RawMessage `json:"arguments"`
	Success    bool            `json:"success"`
	Result     struct {
		Content string `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
		Code    string `json:"code"`
	} `json:"error"`
}
