package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrate/internal/runtime"
	"orchestrate/internal/spelling"
)

// Limits of what a session may say of its agents.
const (
	MaxAgents     = 200
	MaxAgentsText = 64 << 10 // bytes, of all words together
	// MaxAgentsFile is in bytes too. What is kept is written more widely than what was
	// said, and can be said again.
	MaxAgentsFile = 1 << 20
)

// Invalid is all that is wrong with what a session said of its agents.
type Invalid struct{ Mistakes []string }

func (e *Invalid) Error() string {
	return "the agents of the hosting session: " + strings.Join(e.Mistakes, "\n")
}

// ParseAgents reads what a session says of its agents: one JSON object. All mistakes come
// back together, in an *Invalid, each with its place.
func ParseAgents(data []byte) (*Agents, error) {
	r := reader{}
	var a Agents
	switch {
	case len(data) > MaxAgentsFile:
		r.say("", "more than %d bytes; no more are read", MaxAgentsFile)
	case !utf8.Valid(data):
		r.say("", "the text is not UTF-8")
	default:
		a = r.document(data)
		_, texts := a.Texts()
		if n := len(strings.Join(texts, "")); n > MaxAgentsText {
			r.say("", "%d bytes of words; at most %d may be said of all agents together", n, MaxAgentsText)
		}
	}
	if len(r.mistakes) > 0 {
		return nil, &Invalid{r.mistakes}
	}
	return &a, nil
}

// reader collects what is wrong while it reads.
type reader struct{ mistakes []string }

func (r *reader) say(place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if place != "" {
		text = place + ": " + text
	}
	r.mistakes = append(r.mistakes, text)
}

func (r *reader) document(data []byte) (a Agents) {
	fields, ok := r.object("", data, "schemaVersion", "host", "agents")
	if !ok {
		return a
	}
	a.SchemaVersion = 1
	if raw, ok := fields["schemaVersion"]; ok && string(raw) != "1" {
		r.say("schemaVersion", "found %s; allowed is 1", excerpt(raw))
	}
	a.Host = r.text("host", fields["host"])
	var list []json.RawMessage
	switch raw := fields["agents"]; {
	case raw == nil:
		r.say("agents", "is missing: a list of the session's agents, each with its name")
	case json.Unmarshal(raw, &list) != nil || list == nil:
		r.say("agents", "found %s; allowed is a list", excerpt(raw))
	case len(list) == 0 || len(list) > MaxAgents:
		r.say("agents", "%d agents; allowed are 1 to %d", len(list), MaxAgents)
	default:
		a.Agents = r.agents(list)
	}
	return a
}

func (r *reader) agents(list []json.RawMessage) (all []Agent) {
	first := map[string]int{}
	for i, raw := range list {
		place := fmt.Sprintf("agents[%d]", i)
		a := r.agent(place, raw)
		if j, twice := first[a.Name]; twice && a.Name != "" {
			r.say(place+".name", "%q is the name of agents[%d] too; each agent has its own", a.Name, j)
		}
		first[a.Name] = i
		all = append(all, a)
	}
	return all
}

func (r *reader) agent(place string, data []byte) (a Agent) {
	fields, ok := r.object(place, data, "name", "description", "tools", "model", "access", "boundary", "general")
	if !ok {
		return a
	}
	text := func(key string) string { return r.text(place+"."+key, fields[key]) }
	a.Name, a.Description, a.Model, a.Boundary = text("name"), text("description"), text("model"), text("boundary")
	r.name(place+".name", a.Name)
	a.Access = r.access(place+".access", text("access"))
	a.Tools = r.tools(place+".tools", fields["tools"])
	if raw := fields["general"]; given(raw) && json.Unmarshal(raw, &a.General) != nil {
		r.say(place+".general", "found %s; allowed are true and false", excerpt(raw))
	}
	return a
}

// longestName is how many bytes a name may have.
const longestName = 200

func (r *reader) name(place, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		r.say(place, "is missing: by what the session calls the agent")
	case len(name) > longestName:
		r.say(place, "%d bytes; at most %d are a name", len(name), longestName)
	case name != strings.TrimSpace(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		r.say(place, "found %q; a name has no space around it and no control characters", name)
	}
}

func (r *reader) access(place, word string) runtime.Access {
	allowed := []string{string(runtime.AccessRead), string(runtime.AccessEdit), string(runtime.AccessShell)}
	if word != "" && !slices.Contains(allowed, word) {
		r.say(place, "found %q; allowed are %s, or leave it out%s", word[:min(len(word), 20)], strings.Join(allowed, ", "), didYouMean(word, allowed))
	}
	return runtime.Access(word)
}

func (r *reader) tools(place string, raw json.RawMessage) (tools []string) {
	if !given(raw) {
		return nil
	}
	if json.Unmarshal(raw, &tools) != nil {
		r.say(place, `found %s; allowed is a list of names, ["*"] for all of the session's, or leave it out`, excerpt(raw))
	}
	if tools == nil {
		tools = []string{}
	}
	if i := slices.IndexFunc(tools, func(t string) bool { return strings.TrimSpace(t) == "" }); i >= 0 {
		r.say(fmt.Sprintf("%s[%d]", place, i), "is empty; allowed is the name of a tool")
	}
	return tools
}

func (r *reader) text(place string, raw json.RawMessage) (text string) {
	if given(raw) && json.Unmarshal(raw, &text) != nil {
		r.say(place, "found %s; allowed is a text", excerpt(raw))
	}
	return text
}

// given tells a value from one that is left out, or null.
func given(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }

// object reads one object and holds its keys against those that there are. A key that
// comes twice is a mistake: nobody knows which is meant.
func (r *reader) object(place string, data []byte, keys ...string) (map[string]json.RawMessage, bool) {
	fields := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		r.say(place, "found %s; allowed is an object%s", excerpt(data), brokenAt(err))
		return nil, false
	}
	for dec.More() {
		token, err := dec.Token()
		key, _ := token.(string)
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			r.say(place, "is no JSON%s", brokenAt(err))
			return nil, false
		}
		under := strings.TrimPrefix(place+"."+key, ".")
		if !slices.Contains(keys, key) {
			under = strings.TrimPrefix(place+"."+strconv.Quote(key[:min(len(key), 40)]), ".")
		}
		switch _, twice := fields[key]; {
		case twice:
			r.say(under, "is there twice")
		case !slices.Contains(keys, key):
			r.say(under, "unknown key; allowed are %s%s", strings.Join(keys, ", "), didYouMean(key, keys))
		}
		fields[key] = value
	}
	_, err := dec.Token()
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows the object")
		}
	}
	if err != nil {
		r.say(place, "is no JSON%s", brokenAt(err))
	}
	return fields, err == nil
}

func brokenAt(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}

// excerpt is the beginning of what was found. It tells of what sort it is and repeats no
// text, which may be anybody's.
func excerpt(raw []byte) string {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '"':
		return "a text"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	}
	return string(raw[:min(len(raw), 20)])
}

// didYouMean offers the key or word that was probably meant.
func didYouMean(word string, known []string) string {
	if best := spelling.Nearest(word, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Texts are all that the session said in words, with their places: what is to be looked
// through for secrets.
func (a *Agents) Texts() (places, texts []string) {
	add := func(place, text string) {
		if text != "" {
			places, texts = append(places, place), append(texts, text)
		}
	}
	add("host", a.Host)
	for i, g := range a.Agents {
		place := fmt.Sprintf("agents[%d].", i)
		add(place+"name", g.Name)
		add(place+"description", g.Description)
		add(place+"tools", strings.Join(g.Tools, "\n"))
		add(place+"model", g.Model)
		add(place+"boundary", g.Boundary)
	}
	return places, texts
}

// Encode is agents.json.
func (a *Agents) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(a, "", "  ")
	return append(data, '\n'), err
}
