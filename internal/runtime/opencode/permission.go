package opencode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// Actions of a permission rule. A third one asks, which is a refusal where
// nobody answers.
const (
	allow = "allow"
	deny  = "deny"
)

// Permissions that the rules treat in their own way.
const (
	permAll     = "*"
	permRead    = "read"
	permEdit    = "edit" // every tool that writes a file
	permShell   = "bash"
	permOutside = "external_directory" // any path outside the folder, for every tool
)

// everything is the pattern that any input of a tool matches.
const everything = "*"

// named are the permissions that are always written out: where the user's
// configuration names one too, the program merges the two and keeps the user's
// for what is not named here.
func named() []string {
	return []string{
		permRead, permEdit, permShell, permOutside, "glob", "grep", "list", "task", "todowrite", "todoread",
		"webfetch", "websearch", "codesearch", "lsp", "skill", "question", "doom_loop",
	}
}

// rule is one entry, as the program's agent list prints it.
type rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// table is a permission table; of the rules that match, the last one decides.
type table []rule

// toolsFor are the tools, by the name of their permission, that each level of
// access may use.
func toolsFor(access runtime.Access) []string {
	reading := []string{permRead, "glob", "grep", "list", "webfetch", "websearch"}
	switch access {
	case runtime.AccessEdit:
		return append(reading, permEdit)
	case runtime.AccessShell:
		return append(reading, permEdit, permShell)
	default:
		return reading
	}
}

// ownSet is what a job gets when its spec names no tools: files only, the web
// for research, a shell where the access says so.
func ownSet(req runtime.Request) []string {
	return slices.DeleteFunc(toolsFor(req.Access), func(tool string) bool {
		web := tool == "webfetch" || tool == "websearch"
		return web && req.Task != "research"
	})
}

// tableFor maps a request to the table that holds it, or says what cannot be
// mapped. root is the folder that the program takes for the whole project.
func tableFor(req runtime.Request, root string) (table, error) {
	granted, err := grants(req)
	if err != nil {
		return nil, err
	}
	t := table{{permAll, everything, deny}}
	for _, name := range named() {
		t = append(t, rule{name, everything, deny})
	}
	t = append(t, granted...)
	for _, r := range granted {
		switch r.Permission {
		case permEdit:
			t, err = t.editsIn(req.Dir, root)
		case permRead:
			t = append(t, rule{permRead, "*.env", deny}, rule{permRead, "*.env.*", deny}, rule{permRead, "*.env.example", allow})
		}
		if err != nil {
			return nil, err
		}
	}
	t, err = t.reach(req)
	if err != nil {
		return nil, err
	}
	for _, word := range req.DisallowedTools {
		r, err := parseRule(word, deny)
		switch {
		case err != nil:
			return nil, err
		case !slices.Contains(named(), r.Permission):
			return nil, fmt.Errorf("disallowed_tools: %q is no permission of this program; those are %s", word, strings.Join(named(), ", "))
		}
		t = append(t, r)
	}
	return t, nil
}

// grants are the rules for the tools that the request wants.
func grants(req runtime.Request) (granted table, err error) {
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = ownSet(req)
	}
	for _, word := range wanted {
		r, err := parseRule(word, allow)
		switch {
		case err != nil:
			return nil, err
		case !slices.Contains(toolsFor(req.Access), r.Permission):
			return nil, fmt.Errorf("allowed_tools: %q is not a tool that may be given for %q access; possible are %s",
				word, req.Access, strings.Join(toolsFor(req.Access), ", "))
		}
		granted = append(granted, r)
	}
	return granted, nil
}

// parseRule reads "bash" or "bash(go test *)".
func parseRule(word, action string) (rule, error) {
	name, scope, scoped := strings.Cut(word, "(")
	pattern := everything
	if scoped {
		pattern = strings.TrimSuffix(scope, ")")
	}
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
	if name == "" || !plain || (scoped && (pattern == "" || !strings.HasSuffix(scope, ")"))) {
		return rule{}, fmt.Errorf("%q is not a tool rule, such as read or bash(go test *)", word)
	}
	if name == permEdit && pattern != everything {
		return rule{}, fmt.Errorf("the tool rule %q cannot be kept: edits are bounded by the job's folder, not by a pattern", word)
	}
	return rule{name, pattern, action}, nil
}

// editsIn bounds edits to dir. The program matches paths relative to root, and
// counts all of root as inside, so a folder further down has to be named.
func (t table) editsIn(dir, root string) (table, error) {
	t = slices.DeleteFunc(t, func(r rule) bool { return r.Permission == permEdit })
	if dir == root {
		return append(t, rule{permEdit, everything, allow}, rule{permEdit, "../*", deny}), nil
	}
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, fmt.Errorf("edits cannot be bounded to %s: %w", dir, err)
	}
	if err := literal(below); err != nil {
		return nil, err
	}
	return append(t, rule{permEdit, everything, deny}, rule{permEdit, filepath.ToSlash(below) + "/*", allow}), nil
}

// reach opens folders outside for reading: edits stay bounded by their own rule.
// Where there is a shell, which goes anywhere, a bound would only stop commands
// that happen to name a path.
func (t table) reach(req runtime.Request) (table, error) {
	if req.Access == runtime.AccessShell {
		return append(t, rule{permOutside, everything, allow}), nil
	}
	for _, dir := range req.ReadDirs {
		if err := literal(dir); err != nil {
			return nil, err
		}
		t = append(t, rule{permOutside, strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/*", allow})
	}
	return t, nil
}

// literal refuses a path that would be read as a pattern.
func literal(path string) error {
	if strings.ContainsAny(path, `*?`) {
		return fmt.Errorf("the folder %q cannot stand in a permission rule: its name holds a character that has a meaning there; rename it", path)
	}
	return nil
}

// scoped reports whether a rule of the request holds for a pattern only.
func scoped(req runtime.Request) bool {
	for _, word := range append(slices.Clone(req.AllowedTools), req.DisallowedTools...) {
		if strings.Contains(word, "(") {
			return true
		}
	}
	return false
}

// allows reports whether the table itself holds this very rule as a grant.
func (t table) allows(permission, pattern string) bool {
	return slices.Contains(t, rule{permission, pattern, allow})
}

// encode is the table in the form of the program's configuration. The order of
// its keys is the order of the rules, so it cannot be a Go map.
func (t table) encode() string {
	var keys []string
	patterns := map[string][]string{}
	for _, r := range t {
		if !slices.Contains(keys, r.Permission) {
			keys = append(keys, r.Permission)
		}
		own := patterns[r.Permission]
		own = slices.DeleteFunc(own, func(entry string) bool { return strings.HasPrefix(entry, quoted(r.Pattern)+":") })
		patterns[r.Permission] = append(own, quoted(r.Pattern)+":"+quoted(r.Action))
	}
	var entries []string
	for _, key := range keys {
		value := "{" + strings.Join(patterns[key], ",") + "}"
		// A plain word takes the place of whatever patterns the user's own table
		// has for it; an object would be merged with them.
		if only := patterns[key]; len(only) == 1 && strings.HasPrefix(only[0], quoted(everything)+":") {
			value = strings.TrimPrefix(only[0], quoted(everything)+":")
		}
		entries = append(entries, quoted(key)+":"+value)
	}
	return "{" + strings.Join(entries, ",") + "}"
}

// quoted is s as a JSON string.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
