package modelsim

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// The parts of an OpenAI Responses request that rules look at.
type openAIRequest struct {
	Model  string       `json:"model"`
	Stream bool         `json:"stream"`
	Input  []openAIItem `json:"input"`
	Tools  []openAITool `json:"tools"`
	Text   struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
}

type openAIItem struct {
	Type    string        `json:"type"`
	Role    string        `json:"role"`
	Content openAIContent `json:"content"`
	Output  openAIContent `json:"output"` // of a tool call
	Tools   []openAITool  `json:"tools"`  // of additional_tools
}

type openAITool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	Tools      []openAITool    `json:"tools"` // of a namespace
}

// openAIContent is a list of parts, or a plain string in its place.
type openAIContent []struct {
	Text string `json:"text"`
}

func (c *openAIContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = openAIContent{{Text: text}}
		return nil
	}
	type plain openAIContent
	return json.Unmarshal(data, (*plain)(c))
}

func (c openAIContent) texts() (out []string) {
	for _, part := range c {
		out = append(out, part.Text)
	}
	return out
}

func parseOpenAI(_ *url.URL, body []byte) (parsed, error) {
	var req openAIRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return parsed{}, fmt.Errorf("not an OpenAI Responses request: %w", err)
	}
	p := parsed{model: req.Model, stream: req.Stream, tools: map[string]offer{}}
	p.json = strings.HasPrefix(req.Text.Format.Type, "json")
	addTools(p.tools, "", req.Tools)
	for _, item := range req.Input {
		addTools(p.tools, "", item.Tools)
		switch {
		case strings.HasSuffix(item.Type, "_output"):
			p.results = append(p.results, strings.Join(item.Output.texts(), "\n"))
		case item.Role == "user":
			p.user = append(p.user, item.Content.texts()...)
		}
	}
	return p, nil
}

// addTools lists tools by their plain names, those of namespaces included.
func addTools(into map[string]offer, space string, tools []openAITool) {
	for _, t := range tools {
		switch {
		case t.Type == "namespace":
			addTools(into, t.Name, t.Tools)
		case t.Name != "":
			into[t.Name] = offer{custom: t.Type == "custom", space: space, fields: fieldsOf(t.Parameters)}
		default:
			into[t.Type] = offer{}
		}
	}
}

// rootSpace is the namespace whose tools are called by their plain names.
const rootSpace = "functions"

// openAIReply writes an answer in this protocol.
type openAIReply struct {
	*answer
	spaces map[string]offer // where the tools are
	items  []map[string]any // of the whole answer
}

func (o *openAIReply) begin() error {
	return o.event("response.created", map[string]any{"response": o.response("in_progress", []map[string]any{})})
}

func (o *openAIReply) response(status string, items []map[string]any) map[string]any {
	return map[string]any{
		"id": o.id("resp"), "object": "response", "created_at": 1, "model": o.model, "status": status, "output": items,
	}
}

func (o *openAIReply) text(words []string) error {
	item := map[string]any{"type": "message", "id": o.id("msg"), "role": "assistant", "status": "in_progress", "content": []any{}}
	index := len(o.items)
	if err := o.event("response.output_item.added", map[string]any{"output_index": index, "item": item}); err != nil {
		return err
	}
	for _, word := range words {
		delta := map[string]any{"item_id": item["id"], "output_index": index, "content_index": 0, "delta": word}
		if err := o.event("response.output_text.delta", delta); err != nil {
			return err
		}
		if err := o.pause(); err != nil {
			return err
		}
	}
	part := map[string]any{"type": "output_text", "text": strings.Join(words, ""), "annotations": []any{}}
	return o.done(map[string]any{
		"type": "message", "id": item["id"], "role": "assistant", "status": "completed", "content": []any{part},
	})
}

func (o *openAIReply) call(c call) error {
	item := map[string]any{"id": o.id("item"), "call_id": o.id("call"), "name": c.name, "status": "completed"}
	if space := o.spaces[c.name].space; space != "" && space != rootSpace {
		item["namespace"] = space
	}
	if c.custom {
		item["type"], item["input"] = "custom_tool_call", c.raw
	} else {
		arguments, err := json.Marshal(c.input)
		if err != nil {
			return err
		}
		item["type"], item["arguments"] = "function_call", string(arguments)
	}
	if err := o.event("response.output_item.added", map[string]any{"output_index": len(o.items), "item": item}); err != nil {
		return err
	}
	return o.done(item)
}

func (o *openAIReply) done(item map[string]any) error {
	index := len(o.items)
	o.items = append(o.items, item)
	return o.event("response.output_item.done", map[string]any{"output_index": index, "item": item})
}

func (o *openAIReply) end() error {
	response := o.response("completed", o.items)
	response["usage"] = map[string]any{
		"input_tokens": o.usage.Input, "input_tokens_details": map[string]any{"cached_tokens": 0},
		"output_tokens": o.usage.Output, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": o.usage.Input + o.usage.Output,
	}
	if !o.stream {
		return o.whole(response)
	}
	return o.event("response.completed", map[string]any{"response": response})
}

func (o *openAIReply) cut() error {
	item := map[string]any{"type": "message", "id": o.id("msg"), "role": "assistant", "content": []any{}}
	return o.event("response.output_item.added", map[string]any{"output_index": len(o.items), "item": item})
}

// openAIError is the body of a request that fails. A type of the scenario's comes
// without the code that goes with the usual one.
func openAIError(model string, s Status) any {
	kind, text, word := "server_error", "The server had an error", any(nil)
	switch s.Code {
	case 400:
		kind, text = "invalid_request_error", "Invalid request"
	case 401:
		kind, text, word = "invalid_request_error", "Incorrect API key provided.", "invalid_api_key"
	case 403:
		kind, text, word = "invalid_request_error", "You are not allowed to use this.", "forbidden"
	case 404:
		kind, word = "invalid_request_error", "model_not_found"
		text = fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)
	case 429:
		kind, text, word = "rate_limit_exceeded", "Rate limit reached for the model", "rate_limit_exceeded"
	case 529:
		text = "Overloaded"
	}
	body := map[string]any{"message": or(s.Message, text), "type": or(s.Type, kind)}
	if s.Type == "" {
		body["param"], body["code"] = nil, word
	}
	return map[string]any{"error": with(body, s.Fields)}
}
