package exec

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

// The prompt reaches a person's command byte for byte by its standard input, by the file
// and, where it fits, by a variable; it is nowhere in the command's own words.
func TestACommandGetsItsPrompt(t *testing.T) {
	long := "---\n" + strings.Repeat("0123456789abcdef", 200<<10/16) + "\n"
	for name, c := range map[string]struct {
		text, prompt string
		variable     bool
		says         string // of the error, "" = none
	}{
		"by all three":            {`cli "$WORKER_PROMPT"`, "--help; rm -rf $HOME `x` 'y'\n", true, ""},
		"an empty one":            {`cli "$WORKER_PROMPT"`, "", true, ""},
		"a long one by input":     {"cli", long, false, ""},
		"a long one by file":      {`cli "$WORKER_PROMPT_FILE" ${WORKER_PROMPT_FILE:-x}`, long, false, ""},
		"as long as it may be":    {`cli "$WORKER_PROMPT"`, strings.Repeat("x", 100<<10), true, ""},
		"a long one by name":      {`cli "$WORKER_PROMPT"`, long, false, "use $WORKER_PROMPT_FILE, or read standard input"},
		"in braces":               {`cli ${WORKER_PROMPT} "$WORKER_PROMPT_FILE"`, long, false, "102400"},
		"at the end of a text":    {`cli $WORKER_PROMPT`, long, false, "does not fit into a variable"},
		"another variable's name": {`cli $WORKER_PROMPTS`, long, false, ""},
	} {
		argv := []string{"sh", "-c", c.text}
		cmd, err := New().Command(runtime.Request{Argv: argv, Fed: true, Prompt: c.prompt, PromptFile: "/run/j/prompt.md"}, runtime.Profile{})
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil || !slices.Equal(cmd.Argv, argv) || string(cmd.Stdin) != c.prompt || !slices.Contains(cmd.Env, "WORKER_PROMPT_FILE=/run/j/prompt.md") {
			t.Errorf("%s: argv %q, error %v", name, cmd.Argv, err)
		}
		if got := slices.Contains(cmd.Env, "WORKER_PROMPT="+c.prompt); got != c.variable {
			t.Errorf("%s: in the variable %t, want %t", name, got, c.variable)
		}
	}
}
