package pi

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// reading are the tools that change nothing.
func reading() []string { return []string{"read", "grep", "find", "ls"} }

// toolsFor are the tools that each level of access may use.
func toolsFor(access runtime.Access) []string {
	switch access {
	case runtime.AccessEdit:
		return append(reading(), "edit", "write")
	case runtime.AccessShell:
		return append(reading(), "edit", "write", "bash")
	default:
		return reading()
	}
}

// boundaryTools are those whose absence from the list is a boundary: they write,
// or run what writes. That a model calls any other tool which does not exist is a
// slip of the model.
func boundaryTools() []string { return []string{"edit", "write", "bash", "powershell", "codemode"} }

// granted are the tools of one job, or an error that says which of them it cannot
// have. The program ignores names that it does not know, so none is passed on.
func granted(req runtime.Request) ([]string, error) {
	possible := toolsFor(req.Access)
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = possible
	}
	for _, tool := range wanted {
		if !slices.Contains(possible, tool) {
			return nil, fmt.Errorf("allowed_tools: %q is not a tool that pi may get for %q access; possible are %s",
				tool, req.Access, strings.Join(possible, ", "))
		}
	}
	for _, tool := range req.DisallowedTools {
		if !isName(tool) {
			return nil, fmt.Errorf("disallowed_tools: %q is not the plain name of a tool of pi, such as bash", tool)
		}
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(tool string) bool {
		return slices.Contains(req.DisallowedTools, tool)
	}), nil
}

func isName(tool string) bool {
	return tool != "" && strings.Trim(tool, letters+digits+"_") == ""
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)
