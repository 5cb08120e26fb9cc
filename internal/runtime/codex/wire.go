package codex

import (
	"encoding/json"
	"strings"
)

// The parts of the JSONL protocol that the decoder reads. Unknown lines, fields
// and items are skipped.

type line struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"` // of an error line
	Item     item   `json:"item"`
	Usage    *usage `json:"usage"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"` // of turn.failed
}

type usage struct {
	Input  *int64 `json:"input_tokens"` // cached input included
	Output *int64 `json:"output_tokens"`
}

type item struct {
	Type    string   `json:"type"`
	Text    string   `json:"text"`
	Message string   `json:"message"`
	Command string   `json:"command"`
	Output  string   `json:"aggregated_output"`
	Status  string   `json:"status"`
	Server  string   `json:"server"`
	Tool    string   `json:"tool"`
	Query   string   `json:"query"`
	Changes []change `json:"changes"`
}

type change struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

// tool names the item and its input in short form; ok is false for what is not
// a tool use.
func (i item) tool() (name, input string, ok bool) {
	switch i.Type {
	case "command_execution":
		return "shell", i.Command, true
	case "file_change":
		var parts []string
		for _, c := range i.Changes {
			parts = append(parts, c.Kind+" "+c.Path)
		}
		return "apply_patch", strings.Join(parts, ", "), true
	case "mcp_tool_call":
		return strings.Trim(i.Server+"."+i.Tool, "."), "", true
	case "web_search":
		return "web_search", i.Query, true
	}
	return "", "", false
}

func parse(raw []byte) (line, bool) {
	var l line
	// A field of an unexpected type does not make the rest of the line unreadable.
	err := json.Unmarshal(raw, &l)
	return l, err == nil || json.Valid(raw)
}
