package exec

import (
	"fmt"
	"regexp"
	"slices"

	"orchestrate/internal/runtime"
)

// The variables by which a person's command finds its prompt, beside standard input. The
// prompt never becomes part of the command's text, which a shell would read.
const (
	PromptVariable = "WORKER_PROMPT"      // the prompt itself, where it fits
	FileVariable   = "WORKER_PROMPT_FILE" // absolute path of a file that holds it
)

// mostInVariable is the longest prompt, in bytes, that goes into a variable: Linux allows
// 128 KiB for one, with its name.
const mostInVariable = 100 << 10

// namesPrompt finds the variable in a command's text, and not the one of the file.
var namesPrompt = regexp.MustCompile(PromptVariable + `($|[^A-Za-z0-9_])`)

// feed hands the command its prompt.
func feed(cmd runtime.Command, req runtime.Request) (runtime.Command, error) {
	cmd.Stdin = []byte(req.Prompt)
	cmd.Env = []string{FileVariable + "=" + req.PromptFile}
	if len(req.Prompt) <= mostInVariable {
		cmd.Env = append(cmd.Env, PromptVariable+"="+req.Prompt)
		return cmd, nil
	}
	return cmd, TooLong(req.Argv, req.Prompt)
}

// TooLong says why a command cannot get its prompt in the way that its text names, nil = it
// can. The command may still read it from standard input or from the file.
func TooLong(argv []string, prompt string) error {
	if len(prompt) <= mostInVariable || !slices.ContainsFunc(argv, namesPrompt.MatchString) {
		return nil
	}
	return fmt.Errorf("the command uses $%s, and the prompt has %d bytes: over %d it does not fit into a variable; use $%s, or read standard input",
		PromptVariable, len(prompt), mostInVariable, FileVariable)
}
