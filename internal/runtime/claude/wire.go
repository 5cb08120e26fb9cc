package claude

import "encoding/json"

// The parts of the stream-json protocol that the decoder reads. Unknown lines,
// fields and blocks are skipped: the stream grows with every release.

type line struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Model     string  `json:"model"`
	Parent    *string `json:"parent_tool_use_id"` // set on what a subagent says
	Message   message `json:"message"`
	retry
	result
}

type message struct {
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // a string or a list of blocks
}

type block struct {
	Type      string          `json:"type"` // text, tool_use, tool_result, …
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// retry is the api_retry notice; its error field also stands on the synthetic
// message that reports an API error.
type retry struct {
	Error       string  `json:"error"`
	ErrorStatus int     `json:"error_status"`
	RetryDelay  float64 `json:"retry_delay_ms"`
}

// result is the last line of a turn.
type result struct {
	IsError    bool                  `json:"is_error"`
	APIStatus  int                   `json:"api_error_status"`
	Result     string                `json:"result"`
	Structured json.RawMessage       `json:"structured_output"` // absent unless the answer was held to a schema and fits it
	Errors     []string              `json:"errors"`
	CostUSD    *float64              `json:"total_cost_usd"`
	Usage      *usage                `json:"usage"`
	ModelUsage map[string]modelUsage `json:"modelUsage"`
	Denials    []permissionDenial    `json:"permission_denials"`
}

type usage struct {
	Input         *int64 `json:"input_tokens"`
	CacheCreation int64  `json:"cache_creation_input_tokens"`
	CacheRead     int64  `json:"cache_read_input_tokens"`
	Output        *int64 `json:"output_tokens"`
}

// modelUsage counts every call of a model during the run, subagents included.
type modelUsage struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheRead     int64 `json:"cacheReadInputTokens"`
	CacheCreation int64 `json:"cacheCreationInputTokens"`
}

type permissionDenial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// blocks reads a message's content, which is a list or a bare string.
func blocks(content json.RawMessage) []block {
	var list []block
	if json.Unmarshal(content, &list) == nil {
		return list
	}
	return []block{{Type: "text", Text: plain(content)}}
}

// plain is the text of a content field: a string, or text blocks joined.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var list []block
	if json.Unmarshal(content, &list) != nil {
		return ""
	}
	for _, b := range list {
		text += b.Text
	}
	return text
}
