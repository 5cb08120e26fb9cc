package modelsim

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Request is what the server keeps of one request.
type Request struct {
	N         int       `json:"n"` // counted from 1
	At        time.Time `json:"at"`
	API       string    `json:"api"` // "" for what is no model call
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	Prefix    string    `json:"prefix"`
	UserAgent string    `json:"userAgent"`
	Signed    bool      `json:"signed"` // it carries a key
	Model     string    `json:"model,omitempty"`
	Stream    bool      `json:"stream,omitempty"`
	JSON      bool      `json:"json,omitempty"`    // the answer is to be JSON, asked for by the protocol's means
	User      []string  `json:"user,omitempty"`    // the texts of the user's side, decoded
	Results   []string  `json:"results,omitempty"` // the texts of tool results, decoded
	Tools     []string  `json:"tools,omitempty"`   // offered, sorted
	Nonces    []string  `json:"nonces,omitempty"`  // names of those that are anywhere in the body, sorted
	Rule      string    `json:"rule,omitempty"`    // that answered
	Otherwise bool      `json:"otherwise,omitempty"`
	Status    int       `json:"status"`          // of the answer; 0 = it was not begun
	Error     string    `json:"error,omitempty"` // why the server itself could not answer

	dialect    string // in which it is refused
	offered    map[string]offer
	cwd        string
	wantsUsage bool // in a stream
	sse        bool // the stream is to be one of events
}

// offer is a tool as a request offers it.
type offer struct {
	custom bool              // takes plain text instead of a JSON object
	space  string            // the namespace that it is in
	fields map[string]string // of the JSON object, with their types; nil = not said
}

// parsed is what the protocols' readers have in common.
type parsed struct {
	model   string
	stream  bool
	json    bool
	usage   bool
	sse     bool
	user    []string
	results []string
	tools   map[string]offer
}

// read fills what the body says.
func (r *Request) read(at *url.URL, body []byte, nonces map[string]string) error {
	p, err := protocols[r.API].parse(at, body)
	if err != nil {
		return err
	}
	r.Model, r.Stream, r.User, r.Results, r.offered = p.model, p.stream, p.user, p.results, p.tools
	r.JSON, r.wantsUsage, r.sse = p.json, p.usage, p.sse
	r.Tools = slices.Sorted(maps.Keys(p.tools))
	texts := allStrings(body)
	r.Nonces = present(nonces, texts)
	r.cwd = workingFolder(texts)
	return nil
}

// present names the nonces that are in one of the texts.
func present(nonces map[string]string, texts []string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(nonces)) {
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, nonces[name]) }) {
			names = append(names, name)
		}
	}
	return names
}

// allStrings are the decoded strings of a JSON document, keys left out.
func allStrings(body []byte) []string {
	var doc any
	if json.Unmarshal(body, &doc) != nil {
		return nil
	}
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key])
			}
		}
	}
	walk(doc)
	return out
}

// namesFolder fits the words in which agents name the folder. Where there may be
// several, the first is meant.
var namesFolder = regexp.MustCompile(`(?:[Ww]orking [Dd]irectory:\s*|<cwd>|` +
	`Workspace Directories:\**\s*- |[Ww]orking in the directory:\s*)(/[^\s<]*)`)

// workingFolder is the folder that the agent says it works in, "" if it does not.
func workingFolder(texts []string) string {
	for _, t := range texts {
		if m := namesFolder.FindStringSubmatch(t); m != nil {
			return m[1]
		}
	}
	return ""
}

// fits reports whether the rule answers requests like r.
func (rule Rule) fits(r *Request) bool {
	user := strings.Join(r.User, "\n")
	switch {
	case rule.API != "" && rule.API != r.API,
		rule.Prefix != "" && rule.Prefix != r.Prefix,
		rule.Model != "" && rule.Model != r.Model,
		rule.Turn != nil && *rule.Turn != len(r.Results),
		rule.Tools != nil && *rule.Tools != (len(r.Tools) > 0),
		rule.JSON != nil && *rule.JSON != r.JSON,
		!strings.Contains(user, rule.Contains):
		return false
	}
	return rule.pattern == nil || rule.pattern.MatchString(user)
}

// has reports whether all the named nonces are in the request.
func (r *Request) has(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(r.Nonces, n) })
}
