package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

// prompts are those that are easily taken for something else, or cut.
func prompts() []string {
	return []string{
		"--help", "-", "-p", "---\ntitle: front matter\n---\n\nDo it.\n", "- a list\n- of things", "@/etc/passwd", "/help", " blanks \n\n",
		"$HOME `id` \"two\" 'one' %s \\n", strings.Repeat("- 0123456789\n", 200<<10/13),
	}
}

// commandPrompts: every prompt arrives byte for byte, whatever it begins with and however
// long it is, or it is refused for what is the matter with it.
func commandPrompts(t *testing.T, s Subject) (faults []string) {
	p, dir := working(t, s), t.TempDir()
	for _, text := range prompts() {
		req := runtime.Request{Job: "j", Attempt: 1, Task: "scout", Prompt: text, PromptFile: dir + "/prompt.md", Dir: dir, Out: dir, Access: runtime.AccessRead}
		if _, err := s.Adapter.Command(withPrompt(req, "work"), p); err != nil {
			continue // it takes no such request at all
		}
		cmd, err := s.Adapter.Command(req, p)
		if err != nil {
			if !refusesPrompt(s, text, err) {
				faults = append(faults, fmt.Sprintf("a prompt of %d bytes that begins with %.8q is refused: %v", len(text), text, err))
			}
			continue
		}
		if !arrives(req, cmd) {
			faults = append(faults, fmt.Sprintf("a prompt of %d bytes that begins with %.8q does not arrive: %.200q, standard input %.40q", len(text), text, cmd.Argv, cmd.Stdin))
		}
	}
	return faults
}

func withPrompt(req runtime.Request, text string) runtime.Request {
	req.Prompt = text
	return req
}

// refusesPrompt reports whether a refusal is one of a program that takes its prompt only
// as an argument, and says what of it does not fit there.
func refusesPrompt(s Subject, text string, err error) bool {
	switch {
	case !s.PromptInArgv:
		return false
	case len(text) > 100<<10:
		return strings.Contains(err.Error(), fmt.Sprint(len(text)))
	}
	return strings.HasPrefix(text, "-") && strings.Contains(err.Error(), "begins with -")
}

// arrives reports whether the program gets the whole prompt and can take none of it for a
// flag.
func arrives(req runtime.Request, cmd runtime.Command) bool {
	quoted, err := json.Marshal(req.Prompt)
	if err != nil {
		return false
	}
	if string(cmd.Stdin) == req.Prompt || bytes.Contains(cmd.Stdin, quoted) {
		return true
	}
	end := slices.Index(cmd.Argv, "--")
	for i, word := range cmd.Argv {
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case word == req.PromptFile, joined && strings.HasPrefix(flag, "-") && (value == req.Prompt || value == req.PromptFile):
			return true
		case word == req.Prompt:
			return !strings.HasPrefix(word, "-") || end >= 0 && end < i
		}
	}
	return false
}

// commandTurns: a command holds the agent to the turns that are asked for, and to no other
// number, exactly where it says so.
func commandTurns(t *testing.T, s Subject) (faults []string) {
	const turns = 73
	p := working(t, s)
	for _, req := range requests(t, p) {
		req.MaxTurns = 0
		free, err := s.Adapter.Command(req, p)
		if err != nil {
			continue
		}
		req.MaxTurns = turns
		held, err := s.Adapter.Command(req, p)
		given := slices.ContainsFunc(held.Argv, func(word string) bool { return strings.HasSuffix(word, fmt.Sprint(turns)) })
		switch {
		case err != nil:
			faults = append(faults, fmt.Sprintf("a limit of turns is no reason to refuse a job: %v", err))
		case free.MaxTurns != 0:
			faults = append(faults, fmt.Sprintf("it says that it holds the agent to %d turns, and nobody asked for that", free.MaxTurns))
		case held.MaxTurns != 0 && held.MaxTurns != turns, given != (held.MaxTurns == turns):
			faults = append(faults, fmt.Sprintf("asked for %d turns it says that it holds the agent to %d: %q", turns, held.MaxTurns, held.Argv))
		}
	}
	return faults
}
