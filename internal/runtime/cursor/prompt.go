package cursor

import (
	"fmt"
	goruntime "runtime"

	"orchestrate/internal/runtime"
)

// The longest prompt, in bytes, that goes on a command line. One word may have 128 KiB
// on Linux; the whole line 32767 characters on Windows.
const (
	longest        = 100 << 10
	longestWindows = 20 << 10
)

// withFile keeps what comes on its input in a file, opens its folder to the program,
// and tells it there to read its task. The program is "$1".
const withFile = `dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap : INT TERM HUP
cat >"$dir/task.md" || exit 1
"$@" ` + flagAddDir + `="$dir" -- "Read the whole file $dir/task.md. It is your task: do what it says."`

// addPrompt comes last: the prompt is the last word, since help does not say that it
// is read from the input. One that is too long for that goes by way of a file.
func addPrompt(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	limit := longest
	if goruntime.GOOS == "windows" {
		limit = longestWindows
	}
	if len(req.Prompt) <= limit {
		cmd.Argv = append(cmd.Argv, "--", req.Prompt)
		cmd.Limits = append(cmd.Limits, "the prompt is on the command line, where other users of the machine can see it")
		return nil
	}
	if !p.Shows(flagAddDir) {
		return fmt.Errorf("agent (Cursor) cannot be given this prompt of %d bytes: over %d it must go by way of a file, and help does not show %s for that; change the prompt or use another runtime",
			len(req.Prompt), limit, flagAddDir)
	}
	cmd.Stdin = []byte(req.Prompt)
	cmd.Argv = append([]string{"/bin/sh", "-c", withFile, Name}, cmd.Argv...)
	cmd.Limits = append(cmd.Limits, "the prompt does not fit on a command line: the agent is told to read it from a file")
	return nil
}
