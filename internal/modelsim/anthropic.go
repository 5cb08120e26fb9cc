package modelsim

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// The parts of an Anthropic Messages request that rules look at.
type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content anthropicBlocks `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Output struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"output_config"`
}

type anthropicBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content anthropicBlocks `json:"content"` // of a tool result
}

// anthropicBlocks is a list of blocks, or a plain string in its place.
type anthropicBlocks []anthropicBlock

func (b *anthropicBlocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = anthropicBlocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]anthropicBlock)(b))
}

// texts are the texts of the blocks themselves.
func (b anthropicBlocks) texts() (out []string) {
	for _, block := range b {
		if block.Type == "text" {
			out = append(out, block.Text)
		}
	}
	return out
}

func parseAnthropic(_ *url.URL, body []byte) (parsed, error) {
	var req anthropicRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return parsed{}, fmt.Errorf("not an Anthropic Messages request: %w", err)
	}
	p := parsed{model: req.Model, stream: req.Stream, json: req.Output.Format.Type != "", tools: map[string]offer{}}
	for _, m := range req.Messages {
		if m.Role != "user" {
			continue
		}
		p.user = append(p.user, m.Content.texts()...)
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				p.results = append(p.results, strings.Join(b.Content.texts(), "\n"))
			}
		}
	}
	for _, t := range req.Tools {
		p.tools[t.Name] = offer{fields: fieldsOf(t.Schema)}
	}
	return p, nil
}

// anthropicReply writes an answer in this protocol.
type anthropicReply struct {
	*answer
	blocks []map[string]any // of the whole answer
	stop   string
}

func (a *anthropicReply) begin() error {
	message := a.message([]any{}, nil, a.usage.Input, 1)
	return a.event("message_start", map[string]any{"message": message})
}

func (a *anthropicReply) message(content, stop any, in, out int64) map[string]any {
	return map[string]any{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": in, "output_tokens": out, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
}

func (a *anthropicReply) text(words []string) error {
	return a.block(map[string]any{"type": "text", "text": ""}, "text", "text_delta", words)
}

func (a *anthropicReply) call(c call) error {
	input, err := json.Marshal(c.input)
	if err != nil {
		return err
	}
	a.stop = "tool_use"
	start := map[string]any{"type": "tool_use", "id": a.id("toolu"), "name": c.name, "input": map[string]any{}}
	return a.block(start, "input", "input_json_delta", []string{string(input)})
}

// block streams one content block: its start, its parts, its end.
func (a *anthropicReply) block(start map[string]any, field, delta string, parts []string) error {
	index := len(a.blocks)
	if err := a.event("content_block_start", map[string]any{"index": index, "content_block": start}); err != nil {
		return err
	}
	key := "text"
	if delta == "input_json_delta" {
		key = "partial_json"
	}
	for _, part := range parts {
		d := map[string]any{"type": delta, key: part}
		if err := a.event("content_block_delta", map[string]any{"index": index, "delta": d}); err != nil {
			return err
		}
		if err := a.pause(); err != nil {
			return err
		}
	}
	whole := map[string]any{}
	for k, v := range start {
		whole[k] = v
	}
	whole[field] = strings.Join(parts, "")
	if field == "input" {
		whole[field] = json.RawMessage(strings.Join(parts, ""))
	}
	a.blocks = append(a.blocks, whole)
	return a.event("content_block_stop", map[string]any{"index": index})
}

func (a *anthropicReply) end() error {
	if a.stop == "" {
		a.stop = "end_turn"
	}
	if !a.stream {
		return a.whole(a.message(a.blocks, a.stop, a.usage.Input, a.usage.Output))
	}
	delta := map[string]any{
		"delta": map[string]any{"stop_reason": a.stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": a.usage.Output},
	}
	if err := a.event("message_delta", delta); err != nil {
		return err
	}
	return a.event("message_stop", map[string]any{})
}

func (a *anthropicReply) cut() error {
	block := map[string]any{"type": "text", "text": ""}
	return a.event("content_block_start", map[string]any{"index": len(a.blocks), "content_block": block})
}

// anthropicError is the body of a request that fails.
func anthropicError(model string, s Status) any {
	kind, text := "api_error", "Internal server error"
	switch s.Code {
	case 400:
		kind, text = "invalid_request_error", "Invalid request"
	case 401:
		kind, text = "authentication_error", "invalid x-api-key"
	case 403:
		kind, text = "permission_error", "Your API key does not have permission to use the specified resource"
	case 404:
		kind, text = "not_found_error", "model: "+model
	case 429:
		kind, text = "rate_limit_error", "This request would exceed your rate limit."
	case 529:
		kind, text = "overloaded_error", "Overloaded"
	}
	body := map[string]any{"type": or(s.Type, kind), "message": or(s.Message, text)}
	return map[string]any{"type": "error", "error": with(body, s.Fields), "request_id": "req_sim"}
}
