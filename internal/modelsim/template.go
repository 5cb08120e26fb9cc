package modelsim

import (
	"regexp"
	"strings"
)

var placeholder = regexp.MustCompile(`\{\{\s*(tool_result|cwd|nonce\s+[A-Za-z0-9_-]+)\s*\}\}`)

// fill replaces the placeholders of a text. An unknown nonce stays as it is
// written, so that a test that looks for it fails.
func (p *player) fill(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(found string) string {
		words := strings.Fields(strings.Trim(found, "{} "))
		switch words[0] {
		case "cwd":
			return p.request.cwd
		case "tool_result":
			if n := len(p.request.Results); n > 0 {
				return p.request.Results[n-1]
			}
			return ""
		}
		if value, ok := p.server.nonces[words[1]]; ok {
			return value
		}
		return found
	})
}

// fillAll is fill for every string of a value.
func (p *player) fillAll(v any) any {
	switch v := v.(type) {
	case string:
		return p.fill(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = p.fillAll(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = p.fillAll(e)
		}
		return out
	}
	return v
}
