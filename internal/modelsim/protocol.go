package modelsim

import (
	"net/http"
	"net/url"
	"strings"
)

// protocol is one of the wire formats that the server speaks.
type protocol struct {
	serves  func(path string) bool
	parse   func(at *url.URL, body []byte) (parsed, error)
	reply   func(a *answer, r *Request) reply
	failure func(model string, s Status) any // the body of a request that fails
}

var protocols = map[string]protocol{
	Anthropic: {
		serves:  func(path string) bool { return strings.HasSuffix(path, "/messages") },
		parse:   parseAnthropic,
		reply:   func(a *answer, _ *Request) reply { return &anthropicReply{answer: a} },
		failure: anthropicError,
	},
	OpenAI: {
		serves:  func(path string) bool { return strings.HasSuffix(path, "/responses") },
		parse:   parseOpenAI,
		reply:   func(a *answer, r *Request) reply { return &openAIReply{answer: a, spaces: r.offered} },
		failure: openAIError,
	},
	OpenAIChat: {
		serves:  func(path string) bool { return strings.HasSuffix(path, "/chat/completions") },
		parse:   parseChat,
		reply:   newChatReply,
		failure: openAIError,
	},
	Gemini: {
		serves:  func(path string) bool { return geminiMethod(path) != "" },
		parse:   parseGemini,
		reply:   newGeminiReply,
		failure: geminiError,
	},
}

// spoken is the protocol of a model call, "" for any other request.
func spoken(req *http.Request) string {
	if req.Method != http.MethodPost {
		return ""
	}
	for name, p := range protocols {
		if p.serves(req.URL.Path) {
			return name
		}
	}
	return ""
}

// errorBody is a failure in the words of the protocol.
func errorBody(api, model string, s Status) any {
	if p, ok := protocols[api]; ok {
		return p.failure(model, s)
	}
	return anthropicError(model, s)
}

// or is the text that a scenario gives, else the one that fits.
func or(given, fitting string) string {
	if given != "" {
		return given
	}
	return fitting
}

// with adds what a scenario wants to have in an error.
func with(body, more map[string]any) map[string]any {
	for key, value := range more {
		body[key] = value
	}
	return body
}
