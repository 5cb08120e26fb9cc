package qwen

import "encoding/json"

// The parts of the stream that the decoder reads. Unknown lines, fields and
// blocks are skipped: the stream grows with every release.

type line struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Model     string  `json:"model"`
	Parent    *string `json:"parent_tool_use_id"` // set on what a subagent says
	Message   message `json:"message"`
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

// result is the last line of a run.
type result struct {
	IsError    bool               `json:"is_error"`
	Result     string             `json:"result"`
	Structured json.RawMessage    `json:"structured_result"` // absent unless the answer was held to a schema and fits it
	Usage      *usage             `json:"usage"`
	Denials    []permissionDenial `json:"permission_denials"`
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
}

// usage counts over the whole session, earlier runs of it included. Cached input
// is part of the input.
type usage struct {
	Input  *int64 `json:"input_tokens"`
	Output *int64 `json:"output_tokens"`
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
