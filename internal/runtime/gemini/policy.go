package gemini

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// policyFor writes the policy file of one job: every tool is refused, and so
// taken out of the agent's list, except those that are granted. Rules of the
// administrator's rank stand above settings, the user's and the project's
// policies and above all approval modes.
func policyFor(tools []string, req runtime.Request) string {
	rules := rule([]string{"*"}, "deny", 1, "")
	if len(tools) > 0 {
		rules += rule(tools, "allow", 2, "")
	}
	if len(req.ReadDirs) > 0 && slices.ContainsFunc(tools, func(t string) bool { return slices.Contains(editors(), t) }) {
		rules += outsideEdits(req.Dir)
	}
	return rules
}

// outsideEdits refuses edits by any path that could lead out of dir. A folder
// that is opened for reading is open for edits too as far as the program goes.
func outsideEdits(dir string) string {
	inside := regexp.QuoteMeta(strings.Trim(quoted(filepath.ToSlash(dir)), `"`)) + "/"
	return rule(editors(), "deny", 3, `"file_path":"(?!`+inside+`)(?:/|~|[A-Za-z]:)`) +
		rule(editors(), "deny", 3, `"file_path":"[^"]*\.\.`)
}

func rule(tools []string, decision string, priority int, args string) string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = quoted(tool)
	}
	text := fmt.Sprintf("[[rule]]\ntoolName = [%s]\ndecision = %q\npriority = %d\n", strings.Join(names, ", "), decision, priority)
	if len(tools) == 1 {
		text = fmt.Sprintf("[[rule]]\ntoolName = %s\ndecision = %q\npriority = %d\n", names[0], decision, priority)
	}
	if args != "" {
		text += "argsPattern = " + quoted(args) + "\n"
	}
	return text + "\n"
}

// quoted is s as a TOML basic string, whose escapes JSON's are a part of.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withPolicy puts the policy "$1" into a file of its own and runs the program
// "$2" with it. The program takes limits from files only, and it goes on without
// any when the file is not there; so the file is made at the last moment, and
// nothing starts unless it was written. A comma would split its name in two.
const withPolicy = `umask 077
dir=$(mktemp -d) || exit 1
case $dir in *,*) rmdir "$dir"; echo "the temp folder's name holds a comma" >&2; exit 1 ;; esac
trap 'rm -rf "$dir"' EXIT
trap : INT TERM HUP
printf '%s' "$1" >"$dir/job.toml" || exit 1
program=$2
shift 2
"$program" ` + flagPolicy + `="$dir/job.toml" "$@"`

// limited is the command line of the program under a policy.
func limited(policy, program string, args []string) []string {
	return append([]string{"/bin/sh", "-c", withPolicy, Name, policy, program}, args...)
}
