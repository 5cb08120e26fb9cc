package qwen

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// toolShell is the tool that runs commands.
const toolShell = "run_shell_command"

// toolsFor are the tools that each level of access may use.
func toolsFor(access runtime.Access) []string {
	reading := []string{"read_file", "list_directory", "glob", "grep_search", "zoom_image", "todo_write", "web_fetch"}
	switch access {
	case runtime.AccessEdit:
		return append(reading, "edit", "write_file", "notebook_edit")
	case runtime.AccessShell:
		return append(reading, "edit", "write_file", "notebook_edit", toolShell)
	default:
		return reading
	}
}

// beyond are the tools that no job gets: they start other agents and programs,
// leave the working tree or wait for a person.
func beyond() []string {
	return []string{
		"agent", "ask_user_question", "cron_create", "cron_delete", "cron_list", "enter_worktree", "exit_plan_mode",
		"exit_worktree", "list_agents", "loop_wakeup", "monitor", "read_mcp_resource", "record_artifact", "save_memory",
		"send_message", "skill", "task_stop", "tool_call", "tool_search",
	}
}

// asks are the tools that the program would ask a person about, so that a grant
// must allow them explicitly. Edits are covered by the approval mode.
func asks() []string { return []string{"web_fetch", toolShell} }

// ownSet is what a job gets when its spec names no tools: files only, the web for
// research, a shell where the access says so.
func ownSet(req runtime.Request) []string {
	return slices.DeleteFunc(toolsFor(req.Access), func(tool string) bool {
		return tool == "notebook_edit" || tool == "zoom_image" || (tool == "web_fetch" && req.Task != "research")
	})
}

// grant is which tools a job gets, in the program's own terms.
type grant struct {
	allowed  []string // --allowed-tools: used without asking
	excluded []string // --exclude-tools: not offered
}

// grantFor maps a request to tools, or says what cannot be mapped. The program is
// told what to take away: everything known by name that was not granted.
func grantFor(req runtime.Request) (grant, error) {
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = ownSet(req)
	}
	var g grant
	for _, tool := range req.DisallowedTools {
		if !isName(tool) {
			return g, fmt.Errorf("disallowed_tools: %q is not the plain name of a tool of qwen, such as web_fetch", tool)
		}
	}
	var offered []string
	for _, tool := range wanted {
		if !slices.Contains(toolsFor(req.Access), tool) {
			return g, fmt.Errorf("allowed_tools: %q is not a tool that qwen may get for %q access; possible are %s",
				tool, req.Access, strings.Join(toolsFor(req.Access), ", "))
		}
		if slices.Contains(req.DisallowedTools, tool) {
			continue
		}
		offered = append(offered, tool)
		if slices.Contains(asks(), tool) {
			g.allowed = append(g.allowed, tool)
		}
	}
	for _, tool := range slices.Concat(toolsFor(runtime.AccessShell), beyond(), req.DisallowedTools) {
		if !slices.Contains(offered, tool) {
			g.excluded = append(g.excluded, tool)
		}
	}
	slices.Sort(g.excluded)
	g.excluded = slices.Compact(g.excluded)
	return g, nil
}

// isName refuses what could be more than one name on the command line.
func isName(tool string) bool {
	return tool != "" && strings.Trim(tool, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
