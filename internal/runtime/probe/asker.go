package probe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	return a.put(ctx, runtime.Question{Argv: append([]string{a.Path}, args...), Stdin: stdin, Env: a.Env})
}

// AskBare is Ask for what shows who the program is: a stranger of the same name gets
// none of the person's keys.
func (a *Asker) AskBare(ctx context.Context, args ...string) runtime.Answer {
	return a.put(ctx, runtime.Question{Argv: append([]string{a.Path}, args...), Env: a.Env, Bare: true})
}

// AskIn is Ask with dir as the working folder, by way of a shell, since a host
// runs every question in a scratch folder of its own choice.
func (a *Asker) AskIn(ctx context.Context, dir string, args ...string) runtime.Answer {
	return a.within(ctx, nil, []string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, dir}, args)
}

// conversation keeps the program's input open until it has given "$0" replies,
// which are lines that carry one of the numbers 1 to 9 as their "id". It works in
// the scratch folder: the reader of the replies opens the pipe `done` once, which
// is what the writer of the questions waits for.
const conversation = `rm -f done; mkfifo done || exit 1
{ cat; read -r _ <done; } | "$@" | {
	n=0
	while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in *'"id":'[1-9][,}]*) n=$((n + 1)); [ "$n" -eq "$0" ] && : >done ;; esac
	done
	[ "$n" -ge "$0" ] || : >done
}`

// Converse is Ask for a program that leaves at the end of its input without
// answering what it was asked just before: its input is closed after it has
// given that many replies. It goes by way of a shell.
func (a *Asker) Converse(ctx context.Context, questions []byte, replies int, args ...string) runtime.Answer {
	return a.within(ctx, questions, []string{"/bin/sh", "-c", conversation, strconv.Itoa(replies)}, args)
}

// within asks by way of the shell that lead calls.
func (a *Asker) within(ctx context.Context, stdin []byte, lead, args []string) runtime.Answer {
	argv := slices.Concat(lead, []string{a.Path}, args)
	return a.put(ctx, runtime.Question{Argv: argv, Lead: len(lead), Stdin: stdin, Env: a.Env})
}

func (a *Asker) put(ctx context.Context, q runtime.Question) runtime.Answer {
	answer := a.Host.Run(ctx, q)
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

// ContainsAny reports whether one of the parts, which are in lower case, is in text,
// in whatever case.
func ContainsAny(text string, parts ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
