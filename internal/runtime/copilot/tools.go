package copilot

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// The kinds of permission that a person would be asked for.
const (
	kindWrite = "write"
	kindShell = "shell"
)

// The tools behind each kind. Reading asks nobody inside the working folder.
func reading() []string { return []string{"view", "grep", "glob"} }
func writing() []string { return []string{"create", "edit", "apply_patch"} }
func running() []string { return []string{"bash", "read_bash", "stop_bash", "list_bash"} }

// toolsFor are the tools that each level of access may use.
func toolsFor(access runtime.Access) []string {
	switch access {
	case runtime.AccessEdit:
		return slices.Concat(reading(), writing())
	case runtime.AccessShell:
		return slices.Concat(reading(), writing(), running())
	default:
		return reading()
	}
}

// grant is which tools a job gets, in the program's own terms.
type grant struct {
	offered []string // --available-tools: everything else is not in the agent's list
	allowed []string // --allow-tool: kinds of permission, used without asking
	denied  []string // --deny-tool
}

// grantFor maps a request to tools, or says what cannot be mapped. A rule such as
// shell(go test:*) stands for the tools of its kind, permitted that far.
func grantFor(req runtime.Request) (grant, error) {
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = toolsFor(req.Access)
	}
	var g grant
	for _, rule := range wanted {
		if err := g.offer(rule, req.Access); err != nil {
			return g, err
		}
	}
	for _, rule := range req.DisallowedTools {
		if err := g.deny(rule); err != nil {
			return g, err
		}
	}
	slices.Sort(g.offered)
	g.offered = slices.Compact(g.offered)
	if len(g.offered) == 0 {
		return g, fmt.Errorf("allowed_tools: copilot cannot be run without any tool; leave at least one of %s",
			strings.Join(toolsFor(req.Access), ", "))
	}
	return g, nil
}

func (g *grant) offer(rule string, access runtime.Access) error {
	tools, permission := []string{rule}, ""
	switch {
	case isRule(rule, kindShell):
		tools, permission = running(), rule
	case slices.Contains(running(), rule):
		permission = kindShell
	case slices.Contains(writing(), rule):
		permission = kindWrite
	}
	for _, tool := range tools {
		if !slices.Contains(toolsFor(access), tool) {
			return fmt.Errorf("allowed_tools: %q is not a tool that copilot may get for %q access; possible are %s",
				rule, access, strings.Join(toolsFor(access), ", "))
		}
	}
	g.offered = append(g.offered, tools...)
	if permission != "" && !slices.Contains(g.allowed, permission) {
		g.allowed = append(g.allowed, permission)
	}
	return nil
}

func (g *grant) deny(rule string) error {
	switch {
	case isRule(rule, kindShell), isRule(rule, kindWrite):
		g.denied = append(g.denied, rule)
	case isName(rule):
		g.offered = slices.DeleteFunc(g.offered, func(tool string) bool { return tool == rule })
	default:
		return fmt.Errorf("disallowed_tools: %q is neither the name of a tool of copilot, such as bash, nor a rule, such as shell(git push)", rule)
	}
	return nil
}

// isRule recognizes a kind of permission, with or without what it is narrowed to.
func isRule(rule, kind string) bool {
	rest, ok := strings.CutPrefix(rule, kind)
	return ok && (rest == "" || (strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") && !strings.ContainsAny(rest, ",\n")))
}

// isName refuses what could be more than one name on the command line.
func isName(tool string) bool {
	return tool != "" && strings.Trim(tool, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
