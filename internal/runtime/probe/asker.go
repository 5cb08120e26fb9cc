package probe

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
)

// Asker puts questions to one program and keeps each answer as evidence.
type Asker struct {
	Host runtime.Host
	Path string   // absolute path of the program
	Env  []string // extra NAME=value of every question

	evidence []runtime.Evidence
}

// Ask runs the program with args; stdin is given whole and closed, nil is empty.
func (a *Asker) Ask(ctx context.Context, stdin []byte, args ...string) runtime.Answer {
	answer := a.Host.Run(ctx, runtime.Question{
		Argv:  append([]string{a.Path}, args...),
		Stdin: stdin,
		Env:   a.Env,
	})
	a.evidence = append(a.evidence, answer.Evidence)
	return answer
}

// Summarize replaces the answer kept for the last question by the facts that
// were taken from it, where the whole of it is long or tells about a person.
func (a *Asker) Summarize(facts string) {
	if n := len(a.evidence); n > 0 {
		a.evidence[n-1].Answer = facts
	}
}

// Evidence is what was asked so far, in order.
func (a *Asker) Evidence() []runtime.Evidence { return a.evidence }

// Trouble says why an answer cannot be used at all, or "" when the program ran
// to its end. The exit status is not judged: several status commands use it.
func Trouble(what string, answer runtime.Answer) string {
	switch {
	case answer.TimedOut:
		return fmt.Sprintf("%s gave no answer within the probe's time limit", what)
	case answer.Err != nil:
		return fmt.Sprintf("%s could not be asked: %v", what, answer.Err)
	}
	return ""
}

// Text is both streams of an answer, trimmed, standard output first.
func Text(answer runtime.Answer) string {
	return strings.TrimSpace(string(answer.Stdout) + "\n" + string(answer.Stderr))
}

// FirstLine is the first line of s that is not blank.
func FirstLine(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
