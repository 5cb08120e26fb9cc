package opencode

import (
	"cmp"
	"encoding/json"
	"strings"
)

// The parts of the JSONL stream that the decoder reads. Unknown lines and fields
// are skipped.

type line struct {
	Type      string  `json:"type"`
	SessionID string  `json:"sessionID"`
	Part      part    `json:"part"`
	Error     failure `json:"error"`
}

type part struct {
	Text   string   `json:"text"`
	Tool   string   `json:"tool"`
	State  state    `json:"state"`
	Reason string   `json:"reason"` // why a step ended
	Tokens *tokens  `json:"tokens"`
	Cost   *float64 `json:"cost"`
}

// state is that of a tool use, which is reported once, when it is over.
type state struct {
	Status string          `json:"status"`
	Input  json.RawMessage `json:"input"`
	Output string          `json:"output"`
	Error  string          `json:"error"`
}

type tokens struct {
	Input     int64 `json:"input"` // cached input not included
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

type failure struct {
	Name string `json:"name"`
	Data struct {
		Message string            `json:"message"`
		Status  int               `json:"statusCode"`
		Headers map[string]string `json:"responseHeaders"`
	} `json:"data"`
}

func (f failure) text() string {
	return strings.TrimSpace(f.Name + ": " + f.Data.Message)
}

func parse(raw []byte) (line, bool) {
	var l line
	// A field of an unexpected type does not make the rest of the line unreadable.
	err := json.Unmarshal(raw, &l)
	return l, err == nil || json.Valid(raw)
}

// target is what a tool use is about, in short form.
func (s state) target() string {
	var known struct {
		Command string `json:"command"`
		File    string `json:"filePath"`
		Path    string `json:"path"`
		URL     string `json:"url"`
		Pattern string `json:"pattern"`
	}
	// A field of an unexpected type leaves the others, and the whole as a last resort.
	if err := json.Unmarshal(s.Input, &known); err != nil {
		return string(s.Input)
	}
	return cmp.Or(known.Command, known.File, known.URL, known.Path, known.Pattern, string(s.Input))
}
