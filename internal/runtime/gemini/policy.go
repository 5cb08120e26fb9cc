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
	rules := rule([]string{"*"}, "deny", 1)
	if len(tools) > 0 {
		rules += rule(tools, "allow", 2)
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
	var rules string
	for _, path := range []string{`(?!` + inside + `)(?:/|~|[A-Za-z]:)`, `[^"]*\.\.`} {
		rules += rule(editors(), "deny", 3,
			"argsPattern = "+quoted(`"file_path":"`+path),
			"denyMessage = "+quoted("This job may edit only inside "+dir+", by a path without \"..\"."))
	}
	return rules
}

// rule is one rule for some tools; more holds further lines of it.
func rule(tools []string, decision string, priority int, more ...string) string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = quoted(tool)
	}
	lines := append([]string{
		"[[rule]]", "toolName = [" + strings.Join(names, ", ") + "]",
		"decision = " + quoted(decision), fmt.Sprintf("priority = %d", priority),
	}, more...)
	return strings.Join(lines, "\n") + "\n\n"
}

// quoted is s as a TOML basic string, whose escapes JSON's are a part of.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	// The one character that JSON leaves as it is and TOML does not take.
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007F`)
}

// withPolicy puts the policy "$1" into a file of its own and runs the program
// "$2" with it. The program takes limits from files only, and it goes on without
// any when the file is not there; so the file is made at the last moment, and
// nothing starts unless it was written. A comma would split its name in two. The
// folder is also the program's temp folder, which goes when it goes: to the temp
// folder it writes reports of failed calls that hold the whole conversation.
const withPolicy = `dir=$(mktemp -d) || exit 1
case $dir in *,*) rmdir "$dir"; echo "the temp folder's name holds a comma" >&2; exit 1 ;; esac
trap 'rm -rf "$dir"' EXIT
trap : INT TERM HUP
printf '%s' "$1" >"$dir/job.toml" || exit 1
program=$2
shift 2
TMPDIR=$dir "$program" ` + flagPolicy + `="$dir/job.toml" "$@"`

// limited is the command line of the program under a policy.
func limited(policy, program string, args []string) []string {
	return append([]string{"/bin/sh", "-c", withPolicy, Name, policy, program}, args...)
}
