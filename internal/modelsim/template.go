package modelsim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var placeholder = regexp.MustCompile(`\{\{\s*(tool_result|cwd|nonce\s+[A-Za-z0-9_-]+|in\s+[0-9a-z.]+|find\s+.+?)\s*\}\}`)

var onlyTime = regexp.MustCompile(`^\{\{\s*in\s+[0-9a-z.]+\s*\}\}$`)

// fill replaces the placeholders of a text. An unknown nonce, what is no duration and
// what is not found stay as they are written, so that a test that looks for them fails.
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
		case "in":
			if d, err := time.ParseDuration(words[1]); err == nil {
				return strconv.FormatInt(time.Now().Add(d).Unix(), 10)
			}
			return found
		case "find":
			_, pattern, _ := strings.Cut(strings.TrimSuffix(found, "}}"), "find")
			if value, ok := last(slices.Concat(p.request.User, p.request.Results), strings.TrimSpace(pattern)); ok {
				return value
			}
			return found
		}
		if value, ok := p.server.nonces[words[1]]; ok {
			return value
		}
		return found
	})
}

// last is what the pattern last matched in the texts: its first group, or all of it
// where it has none. The escapes of JSON in it are undone.
func last(texts []string, pattern string) (value string, ok bool) {
	look, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, text := range slices.Backward(texts) {
		if all := look.FindAllStringSubmatch(text, -1); len(all) > 0 {
			m := all[len(all)-1]
			return unescaped(m[min(1, len(m)-1)]), true
		}
	}
	return "", false
}

// unescaped reads what was found in a string of a JSON document.
func unescaped(found string) string {
	var plain string
	if json.Unmarshal([]byte(`"`+found+`"`), &plain) != nil {
		return found
	}
	return plain
}

// fillAll is fill for every string of a value. A time that stands alone becomes a
// number.
func (p *player) fillAll(v any) any {
	switch v := v.(type) {
	case string:
		text := p.fill(v)
		if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && onlyTime.MatchString(v) {
			return seconds
		}
		return text
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
