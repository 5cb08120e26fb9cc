package pi

import "encoding/json"

// The parts of the stream that the decoder reads. Lines that repeat what came
// before (the growing message, the turn, the whole run) are skipped, as are unknown
// ones.

type line struct {
	Type    string  `json:"type"`
	ID      string  `json:"id"` // of the session
	Message message `json:"message"`

	ToolCallID string          `json:"toolCallId"`
	Tool       string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Result     struct {
		Content []block `json:"content"`
	} `json:"result"`
	IsError bool `json:"isError"`

	Aborted bool   `json:"aborted"`      // of the end
	Error   string `json:"errorMessage"` // of a retry
}

type message struct {
	Role       string  `json:"role"`
	Content    []block `json:"content"`
	Provider   string  `json:"provider"`
	Model      string  `json:"model"`         // the one asked for
	Answered   string  `json:"responseModel"` // the one that answered, where it is another
	Usage      usage   `json:"usage"`
	StopReason string  `json:"stopReason"`
	Error      string  `json:"errorMessage"`
}

type block struct {
	Type string `json:"type"` // text, thinking, toolCall, …
	Text string `json:"text"`
}

// usage is that of one answer of the model. Cached input is not part of the input.
type usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Cost       struct {
		Total float64 `json:"total"`
	} `json:"cost"`
}

// text is what the blocks say, joined.
func text(list []block) (all string) {
	for _, b := range list {
		if b.Type == "text" {
			all += b.Text
		}
	}
	return all
}
