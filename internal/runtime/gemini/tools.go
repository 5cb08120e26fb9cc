package gemini

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// shell is the program's shell tool.
const shell = "run_shell_command"

// toolsFor are the tools that each level of access may use.
func toolsFor(access runtime.Access) []string {
	tools := []string{"read_file", "list_directory", "glob", "grep_search", "google_web_search", "web_fetch"}
	switch access {
	case runtime.AccessEdit:
		return append(tools, editors()...)
	case runtime.AccessShell:
		return append(append(tools, editors()...), shell)
	default:
		return tools
	}
}

// editors are the tools that write a file.
func editors() []string { return []string{"write_file", "replace"} }

// isWorkTool reports whether the program has a tool of that name for which a
// refusal is a boundary, and not just a name that the model made up.
func isWorkTool(name string) bool {
	return slices.Contains(toolsFor(runtime.AccessShell), name)
}

// ownSet is what a job gets when its spec names no tools: files only, the web for
// research, a shell where the access says so.
func ownSet(req runtime.Request) []string {
	return slices.DeleteFunc(toolsFor(req.Access), func(tool string) bool {
		return (tool == "google_web_search" || tool == "web_fetch") && req.Task != "research"
	})
}

// grantFor names the tools that the agent gets, or says what cannot be mapped.
func grantFor(req runtime.Request) ([]string, error) {
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = ownSet(req)
	}
	denied := make([]string, 0, len(req.DisallowedTools))
	for _, rule := range req.DisallowedTools {
		tool, err := toolNamed(rule, runtime.AccessShell)
		if err != nil {
			return nil, fmt.Errorf("disallowed_tools: %w", err)
		}
		denied = append(denied, tool)
	}
	granted := make([]string, 0, len(wanted))
	for _, rule := range wanted {
		tool, err := toolNamed(rule, req.Access)
		if err != nil {
			return nil, fmt.Errorf("allowed_tools: %w", err)
		}
		if !slices.Contains(denied, tool) {
			granted = append(granted, tool)
		}
	}
	slices.Sort(granted)
	return slices.Compact(granted), nil
}

// toolNamed is the program's name for a tool of a spec. "shell" is understood,
// since that is by what a spec asks for one.
func toolNamed(rule string, access runtime.Access) (string, error) {
	if strings.Contains(rule, "(") {
		return "", fmt.Errorf("%q: gemini's tools are given whole here, without a rule in parentheses", rule)
	}
	tool := rule
	if strings.EqualFold(rule, "shell") {
		tool = shell
	}
	if !slices.Contains(toolsFor(access), tool) {
		return "", fmt.Errorf("%q is not a tool that gemini may get for %q access; possible are %s",
			rule, access, strings.Join(toolsFor(access), ", "))
	}
	return tool, nil
}
