package claude

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// grant is which tools a job gets, in the program's own terms.
type grant struct {
	offered []string // --tools: everything else is not in the agent's list
	allowed []string // --allowedTools: used without asking
	denied  []string // --disallowedTools
	limits  []string
}

// toolsFor are the tools that each level of access may use.
func toolsFor(access runtime.Access) []string {
	reading := []string{"Read", "Grep", "Glob", "WebSearch", "WebFetch"}
	switch access {
	case runtime.AccessEdit:
		return append(reading, "Edit", "Write", "NotebookEdit")
	case runtime.AccessShell:
		return append(reading, "Edit", "Write", "NotebookEdit", "Bash")
	default:
		return reading
	}
}

// asks are the tools that the program would ask a person about, so that a grant
// must allow them explicitly. Edits inside the cwd are covered by the edit mode.
func asks() []string { return []string{"WebSearch", "WebFetch", "Bash"} }

// ownSet is what a job gets when its spec names no tools: files only, the web
// for research, a shell where the access says so.
func ownSet(req runtime.Request) []string {
	return slices.DeleteFunc(toolsFor(req.Access), func(tool string) bool {
		web := tool == "WebSearch" || tool == "WebFetch"
		return tool == "NotebookEdit" || (web && req.Task != "research")
	})
}

// grantFor maps a request to tools, or says what cannot be mapped.
func grantFor(req runtime.Request) (grant, error) {
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = ownSet(req)
	}
	var g grant
	for _, rule := range wanted {
		tool, scoped := toolName(rule)
		if !slices.Contains(toolsFor(req.Access), tool) {
			return g, fmt.Errorf("allowed_tools: %q is not a tool that claude may get for %q access; possible are %s",
				rule, req.Access, strings.Join(toolsFor(req.Access), ", "))
		}
		if slices.Contains(req.DisallowedTools, tool) {
			continue
		}
		g.offered = append(g.offered, tool)
		if scoped || slices.Contains(asks(), tool) {
			g.allowed = append(g.allowed, rule)
		}
	}
	slices.Sort(g.offered)
	g.offered = slices.Compact(g.offered)
	g.denied = req.DisallowedTools
	for _, rule := range append(slices.Clone(g.allowed), g.denied...) {
		if err := checkRule(rule); err != nil {
			return g, err
		}
	}
	if slices.Contains(g.offered, "Bash") {
		g.limits = append(g.limits, runtime.LimitShell)
	}
	if req.Leaves && req.AllowedTools == nil {
		if err := g.leavesIn(req.Out); err != nil {
			return g, err
		}
	}
	return g, g.readDirs(req.ReadDirs)
}

// leavesIn lets a reader write files in one folder. A rule for edits holds for every tool
// that writes one; whatever it does not name would need an approval that nobody gives.
func (g *grant) leavesIn(dir string) error {
	rule, err := pathRule("Edit", dir)
	g.offered = append(g.offered, "Edit", "Write")
	g.allowed = append(g.allowed, rule)
	slices.Sort(g.offered)
	return err
}

// readDirs opens folders outside the cwd for reading by a rule. --add-dir would
// open them for edits too.
func (g *grant) readDirs(dirs []string) error {
	for _, dir := range dirs {
		rule, err := pathRule("Read", dir)
		if err != nil {
			return err
		}
		g.allowed = append(g.allowed, rule)
	}
	return nil
}

// pathRule allows a tool for all that is in a folder.
func pathRule(tool, dir string) (string, error) {
	if strings.ContainsAny(dir, `(),*?[]{}!\`) {
		return "", fmt.Errorf("claude cannot be given the folder %q to %s: its name holds a character that has a meaning in permission rules; rename it", dir, strings.ToLower(tool))
	}
	return tool + "(//" + strings.TrimPrefix(filepath.ToSlash(dir), "/") + "/**)", nil
}

// toolName splits "Bash(go test *)" into the tool and whether a scope follows.
func toolName(rule string) (name string, scoped bool) {
	name, _, scoped = strings.Cut(rule, "(")
	return strings.TrimSpace(name), scoped
}

// checkRule refuses what could not be a single rule on the command line.
func checkRule(rule string) error {
	name, scoped := toolName(rule)
	if name == "" || strings.ContainsAny(name, " ,\t\n-") || (scoped && !strings.HasSuffix(rule, ")")) {
		return fmt.Errorf("%q is not a tool rule of claude, such as Read or Bash(go test *)", rule)
	}
	return nil
}
