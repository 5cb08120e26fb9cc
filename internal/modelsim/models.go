package modelsim

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// errNotListed says that a model is not among those of the scenario.
var errNotListed = errors.New("the scenario lists no such model")

// released stands for the time at which a listed model came out.
const released = "2026-01-01T00:00:00Z"

// models answers for the list, or for one model of it, in the dialect of whoever
// asks. ok is false for a path that is about something else.
func (s *Server) models(req *http.Request, gemini bool) (body any, ok bool, err error) {
	at := strings.TrimSuffix(req.URL.Path, "/")
	if path.Base(at) == "models" {
		return s.modelList(gemini), true, nil
	}
	_, id, found := strings.Cut(at, "/models/")
	if !found || req.Method != http.MethodGet {
		return nil, false, nil
	}
	if !slices.Contains(s.scenario.Models, id) {
		return nil, true, fmt.Errorf("%s: %w", id, errNotListed)
	}
	if gemini {
		return geminiModel(id), true, nil
	}
	return plainModel(id), true, nil
}

// asksGemini knows the dialect by the key's header or by the version in the path,
// under which the service has a corner for OpenAI's dialect as well.
func asksGemini(req *http.Request) bool {
	versioned := strings.Contains(req.URL.Path, "/v1beta/models") || strings.Contains(req.URL.Path, "/v1alpha/models")
	return versioned || req.Header.Get("X-Goog-Api-Key") != ""
}

func (s *Server) modelList(gemini bool) any {
	list := []map[string]any{}
	if gemini {
		for _, id := range s.scenario.Models {
			list = append(list, geminiModel(id))
		}
		return map[string]any{"models": list}
	}
	for _, id := range s.scenario.Models {
		list = append(list, plainModel(id))
	}
	out := map[string]any{"object": "list", "data": list, "has_more": false, "first_id": nil, "last_id": nil}
	if n := len(list); n > 0 {
		out["first_id"], out["last_id"] = list[0]["id"], list[n-1]["id"]
	}
	return out
}

// plainModel is a model as Anthropic and OpenAI describe one, in both's words.
func plainModel(id string) map[string]any {
	return map[string]any{
		"id": id, "object": "model", "created": 1, "owned_by": "modelsim",
		"type": "model", "display_name": id, "created_at": released,
	}
}

func geminiModel(id string) map[string]any {
	return map[string]any{
		"name": "models/" + id, "baseModelId": id, "version": "1", "displayName": id,
		"inputTokenLimit": 1 << 20, "outputTokenLimit": 1 << 16,
		"supportedGenerationMethods": []string{generate, "countTokens"},
	}
}
