package modelsim

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

const (
	generate       = "generateContent"
	streamGenerate = "streamGenerateContent"
)

// geminiMethod is what a path asks a model for, "" if it is no call of one.
func geminiMethod(path string) string {
	_, method := geminiCall(path)
	if method == generate || method == streamGenerate {
		return method
	}
	return ""
}

// geminiCall splits …/models/NAME:METHOD, whose name may have a colon of its own.
func geminiCall(path string) (model, method string) {
	_, call, _ := strings.Cut(path, "/models/")
	colon := strings.LastIndex(call, ":")
	if colon < 0 {
		return "", ""
	}
	return call[:colon], call[colon+1:]
}

// The parts of a generateContent request that rules look at.
type geminiRequest struct {
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []geminiFunction `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		MIME       string          `json:"responseMimeType"`
		Schema     json.RawMessage `json:"responseSchema"`
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type geminiPart struct {
	Text     string `json:"text"`
	Thought  bool   `json:"thought"`
	Response *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type geminiFunction struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	JSONSchema json.RawMessage `json:"parametersJsonSchema"`
}

func parseGemini(at *url.URL, body []byte) (parsed, error) {
	var req geminiRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return parsed{}, fmt.Errorf("not a Gemini generateContent request: %w", err)
	}
	model, method := geminiCall(at.Path)
	p := parsed{model: model, stream: method == streamGenerate, sse: at.Query().Get("alt") == "sse", tools: map[string]offer{}}
	p.json = req.Config.MIME == "application/json" || req.Config.Schema != nil || req.Config.JSONSchema != nil
	for _, content := range req.Contents {
		for _, part := range content.Parts {
			switch {
			case part.Response != nil:
				p.results = append(p.results, strings.Join(allStrings(part.Response.Response), "\n"))
			case content.Role != "model" && part.Text != "" && !part.Thought:
				p.user = append(p.user, part.Text)
			}
		}
	}
	for _, tool := range req.Tools {
		for _, f := range tool.Functions {
			schema := f.JSONSchema
			if schema == nil {
				schema = f.Parameters
			}
			p.tools[f.Name] = offer{fields: fieldsOf(schema)}
		}
	}
	return p, nil
}

// geminiReply writes an answer in this protocol: whole, as a stream of events, or
// as a JSON array that grows.
type geminiReply struct {
	*answer
	sse   bool
	name  string
	sent  int   // parts of a stream
	parts []any // of the whole answer
}

func newGeminiReply(a *answer, r *Request) reply {
	if !r.sse {
		a.media = "application/json"
	}
	return &geminiReply{answer: a, sse: r.sse}
}

func (g *geminiReply) begin() error {
	g.name = g.id("response")
	return nil
}

// response is one part of a stream, or all of an answer. Only the last one says
// that the answer is finished.
func (g *geminiReply) response(parts []any, last bool) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if last {
		candidate["finishReason"] = "STOP"
	}
	return map[string]any{
		"candidates": []any{candidate}, "modelVersion": g.model, "responseId": g.name,
		"usageMetadata": map[string]any{
			"promptTokenCount": g.usage.Input, "candidatesTokenCount": g.usage.Output, "totalTokenCount": g.usage.Input + g.usage.Output,
		},
	}
}

func (g *geminiReply) part(part map[string]any, last bool) error {
	if !g.stream {
		return nil
	}
	g.sent++
	response := g.response([]any{part}, last)
	if g.sse {
		return g.data(response)
	}
	text, err := json.Marshal(response)
	if err != nil {
		return err
	}
	before := ",\r\n"
	if g.sent == 1 {
		before = "["
	}
	return g.send(before + string(text))
}

func (g *geminiReply) text(words []string) error {
	g.parts = append(g.parts, map[string]any{"text": strings.Join(words, "")})
	for _, word := range words {
		if word == "" {
			continue
		}
		if err := g.part(map[string]any{"text": word}, false); err != nil {
			return err
		}
		if err := g.pause(); err != nil {
			return err
		}
	}
	return nil
}

func (g *geminiReply) call(c call) error {
	input := c.input
	if c.custom {
		input = map[string]any{"input": c.raw}
	}
	part := map[string]any{"functionCall": map[string]any{"name": c.name, "args": input}}
	g.parts = append(g.parts, part)
	return g.part(part, false)
}

// end finishes with a part that has no text, as the service does.
func (g *geminiReply) end() error {
	if !g.stream {
		return g.whole(g.response(g.parts, true))
	}
	if err := g.part(map[string]any{"text": ""}, true); err != nil || g.sse {
		return err
	}
	return g.send("]")
}

func (g *geminiReply) cut() error { return g.part(map[string]any{"text": "unfinished"}, false) }

// geminiError is the body of a request that fails.
func geminiError(model string, s Status) any {
	kind, text := "INTERNAL", "An internal error has occurred."
	switch s.Code {
	case 400:
		kind, text = "INVALID_ARGUMENT", "Invalid request"
	case 401:
		kind, text = "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."
	case 403:
		kind, text = "PERMISSION_DENIED", "The caller does not have permission"
	case 404:
		kind = "NOT_FOUND"
		text = fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent.", model)
	case 429:
		kind, text = "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."
	case 503, 529:
		kind, text = "UNAVAILABLE", "The model is overloaded."
	}
	body := map[string]any{"code": s.Code, "message": or(s.Message, text), "status": or(s.Type, kind)}
	if s.RetryAfter > 0 {
		body["details"] = []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%ds", s.RetryAfter),
		}}
	}
	return map[string]any{"error": with(body, s.Fields)}
}
