package engine

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
)

// markVariable marks the processes of one attempt, and nothing that a person starts
// from command.txt: its value is nowhere but in their environment and the lock.
const markVariable = "ORCHESTRATE_ATTEMPT"

// newMark is a value that no other attempt has. In capitals some would look like a key of
// AWS and be masked in the lock, by which a dead supervisor's processes are found.
func newMark() string { return strings.ToLower(rand.Text()) }

// whereabouts tells a job's program where it is: its run, which attempt it is, the
// folders of the job's directory that are there for it, and the item that it is for, if any.
func whereabouts(runID string, job *spec.Job, n int, dir string) []string {
	env := []string{
		"ORCHESTRATE_RUN=" + runID,
		"ORCHESTRATE_JOB=" + job.ID,
		"ORCHESTRATE_OUT=" + filepath.Join(dir, ledger.ArtifactsDir),
		"ORCHESTRATE_INPUTS=" + filepath.Join(dir, ledger.InputsDir),
		"ORCHESTRATE_ATTEMPT_NUMBER=" + strconv.Itoa(n),
	}
	if job.Item != nil && job.Item.Value != nil {
		env = append(env, "ORCHESTRATE_ITEM="+itemText(job))
	}
	return env
}

// itemText is what a program is told of the item that its job is for, "" = there is none, or
// it is not known.
func itemText(j *spec.Job) string {
	if j.Item == nil || j.Item.Value == nil {
		return ""
	}
	return pattern.Text(j.Item.Value)
}

// commandText is command.txt: what a person pastes into a shell, wherever it is,
// to do the same again. cwd is where the program works, env what it is told beside
// the command's own, prompt the absolute path of the prompt, "" = it gets none. The
// text is redacted before it is written.
func commandText(cwd string, env []string, c runtime.Command, prompt string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cd %s && ", shellword.Quote(cwd))
	for _, e := range append(env[:len(env):len(env)], c.Env...) {
		name, value, _ := strings.Cut(e, "=")
		if name == exec.PromptVariable && prompt != "" { // which may be long, and is there
			fmt.Fprintf(&b, "%s=\"$(cat %s)\" ", name, shellword.Quote(prompt))
			continue
		}
		fmt.Fprintf(&b, "%s=%s ", name, shellword.Quote(value))
	}
	b.WriteString(shellword.Join(c.Argv))
	switch {
	case len(c.Stdin) == 0:
		b.WriteString(" </dev/null")
	case prompt != "":
		b.WriteString(" <" + shellword.Quote(prompt))
	}
	b.WriteByte('\n')
	return b.String()
}

// promptPath is where a job's prompt is kept, "" when it has none.
func promptPath(prompt, dir string) string {
	if prompt == "" {
		return ""
	}
	return filepath.Join(dir, ledger.PromptFile)
}
