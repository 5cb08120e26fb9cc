package modelsim

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// The parts of an OpenAI chat completions request that rules look at.
type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string        `json:"role"`
		Content openAIContent `json:"content"`
	} `json:"messages"`
	Tools         []chatTool `json:"tools"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

type chatTool struct {
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
	Custom struct {
		Name string `json:"name"`
	} `json:"custom"`
}

func parseChat(_ *url.URL, body []byte) (parsed, error) {
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return parsed{}, fmt.Errorf("not an OpenAI chat completions request: %w", err)
	}
	p := parsed{model: req.Model, stream: req.Stream, usage: req.StreamOptions.IncludeUsage, tools: map[string]offer{}}
	p.json = strings.HasPrefix(req.ResponseFormat.Type, "json")
	for _, m := range req.Messages {
		switch m.Role {
		case "user":
			p.user = append(p.user, m.Content.texts()...)
		case "tool":
			p.results = append(p.results, strings.Join(m.Content.texts(), "\n"))
		}
	}
	for _, t := range req.Tools {
		if t.Custom.Name != "" {
			p.tools[t.Custom.Name] = offer{custom: true}
		} else {
			p.tools[t.Function.Name] = offer{fields: fieldsOf(t.Function.Parameters)}
		}
	}
	return p, nil
}

// chatReply writes an answer in this protocol.
type chatReply struct {
	*answer
	chunk map[string]any // what every part of a stream has
	told  bool           // a stream tells its usage only to who asks for it
	said  string
	calls []map[string]any
}

func newChatReply(a *answer, r *Request) reply {
	return &chatReply{answer: a, told: r.wantsUsage}
}

func (c *chatReply) begin() error {
	c.chunk = map[string]any{"id": c.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": c.model}
	return c.delta(map[string]any{"role": "assistant", "content": ""}, nil)
}

// delta sends one part of the message.
func (c *chatReply) delta(delta map[string]any, finish any) error {
	c.chunk["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	return c.data(c.chunk)
}

func (c *chatReply) text(words []string) error {
	for _, word := range words {
		c.said += word
		if err := c.delta(map[string]any{"content": word}, nil); err != nil {
			return err
		}
		if err := c.pause(); err != nil {
			return err
		}
	}
	return nil
}

// call sends the name first and what it is called with after it.
func (c *chatReply) call(what call) error {
	kind, key, given := "function", "arguments", what.raw
	if what.custom {
		kind, key = "custom", "input"
	} else {
		arguments, err := json.Marshal(what.input)
		if err != nil {
			return err
		}
		given = string(arguments)
	}
	index, id := len(c.calls), c.id("call")
	part := func(piece map[string]any) map[string]any {
		return map[string]any{"tool_calls": []any{piece}}
	}
	head := map[string]any{"index": index, "id": id, "type": kind, kind: map[string]any{"name": what.name, key: ""}}
	if err := c.delta(part(head), nil); err != nil {
		return err
	}
	if err := c.delta(part(map[string]any{"index": index, kind: map[string]any{key: given}}), nil); err != nil {
		return err
	}
	c.calls = append(c.calls, map[string]any{"id": id, "type": kind, kind: map[string]any{"name": what.name, key: given}})
	return nil
}

func (c *chatReply) end() error {
	finish := "stop"
	if len(c.calls) > 0 {
		finish = "tool_calls"
	}
	used := map[string]any{
		"prompt_tokens": c.usage.Input, "completion_tokens": c.usage.Output, "total_tokens": c.usage.Input + c.usage.Output,
	}
	if !c.stream {
		return c.completion(finish, used)
	}
	if err := c.delta(map[string]any{}, finish); err != nil {
		return err
	}
	if c.told {
		c.chunk["choices"], c.chunk["usage"] = []any{}, used
		if err := c.data(c.chunk); err != nil {
			return err
		}
	}
	return c.send("data: [DONE]\n\n")
}

// completion is the answer that is no stream.
func (c *chatReply) completion(finish string, used any) error {
	message := map[string]any{"role": "assistant", "content": c.said}
	if len(c.calls) > 0 {
		message["tool_calls"] = c.calls
		if c.said == "" {
			message["content"] = nil
		}
	}
	return c.whole(map[string]any{
		"id": c.chunk["id"], "object": "chat.completion", "created": 1, "model": c.model, "usage": used,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
	})
}

func (c *chatReply) cut() error { return c.delta(map[string]any{"content": "unfinished"}, nil) }
