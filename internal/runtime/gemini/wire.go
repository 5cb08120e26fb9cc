package gemini

import "encoding/json"

// line is what the decoder reads of one line of stream-json. Unknown lines and
// fields are skipped: the stream grows with every release.
type line struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Role      string `json:"role"`
	Content   string `json:"content"`
	Delta     bool   `json:"delta"` // it is a piece
	toolLine
	Error  *failure `json:"error"`
	Status string   `json:"status"`
	Stats  *stats   `json:"stats"`
}

// known reads a line. A field of an unexpected type does not make the rest of it
// unreadable.
func known(raw []byte, l *line) bool {
	return json.Unmarshal(raw, l) == nil || json.Valid(raw)
}

type toolLine struct {
	Tool       string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Output     string          `json:"output"`
}

// failure is why a tool or the whole run failed.
type failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type stats struct {
	Total  int64                `json:"total_tokens"`
	Input  *int64               `json:"input_tokens"`
	Output *int64               `json:"output_tokens"`
	Models map[string]modelUsed `json:"models"`
}

type modelUsed struct {
	Total int64 `json:"total_tokens"`
}
