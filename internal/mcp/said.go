package mcp

import (
	"errors"
	"fmt"
	"strings"

	"orchestrate/internal/engine"
	"orchestrate/internal/shellword"
)

const (
	exitOK          = engine.ExitOK
	exitFailed      = engine.ExitFailed
	exitUsage       = engine.ExitUsage
	exitBlocked     = engine.ExitBlocked
	exitAwaiting    = engine.ExitAwaiting
	exitRunning     = engine.ExitRunning
	exitWall        = engine.ExitWall
	exitInterrupted = engine.ExitInterrupted
)

// Said is what every result has.
type Said struct {
	ExitStatus int      `json:"exitStatus" jsonschema:"of the command; of a run: 0 all well, 1 failed, 3 blocked, 4 jobs await you, 5 still running, 124 and 130 ended early"`
	Meaning    string   `json:"meaning" jsonschema:"what that status means here"`
	Next       []string `json:"next" jsonschema:"what to do next, in order"`
	Messages   string   `json:"messages,omitempty" jsonschema:"what the command told a person"`
}

func said(o Outcome, meaning string, next ...string) Said {
	messages, _ := cut(strings.TrimSpace(o.Err), mostMessages, "the command in a terminal")
	return Said{ExitStatus: o.Exit, Meaning: meaning, Next: append([]string{}, next...), Messages: messages}
}

// add says one thing more than the command did.
func (s *Said) add(message string) {
	s.Messages = strings.TrimSpace(s.Messages + "\n" + message)
}

// ofRun says what the exit status of a run means; verdict is "" where that is not known.
func ofRun(exit int, verdict string) string {
	if verdict != "" {
		verdict = "; its verdict is " + verdict
	}
	switch exit {
	case exitOK:
		return "the run has ended and all jobs succeeded" + verdict
	case exitFailed:
		return "the run has ended and a job or the verdict failed" + verdict
	case exitBlocked:
		return "the run has ended and something is blocked by approval, route or arbiter" + verdict
	case exitAwaiting:
		return "jobs await you, the hosting session: nothing else goes on with them"
	case exitRunning:
		return "the run still goes on"
	case exitWall:
		return "the run was ended by its wall budget"
	case exitInterrupted:
		return "the run was interrupted, or its engine is gone and nobody carries it on"
	}
	return fmt.Sprintf("exit status %d", exit)
}

// then says what to do about a run that stands so.
func then(exit int, run string) []string {
	call := func(format string) string { return fmt.Sprintf(format, run) }
	report := call("call report {run: %q}, and say what it says")
	switch exit {
	case exitRunning:
		return []string{call("call wait {run: %q} again")}
	case exitAwaiting:
		return []string{call("call next {run: %q} for one request, let the agent that it names do it, call submit with its attempt id; again until nothing is handed out, then wait")}
	case exitBlocked:
		return []string{report, call("if a job is blocked for an approval: call approve {run: %q}, which asks the user")}
	case exitInterrupted, exitWall:
		return []string{report, "ask the user whether it is to go on: orchestrate resume " + shellword.Quote(run)}
	}
	return []string{report}
}

// allTaken is what it means that a run waits for jobs which nobody else is given.
const allTaken = "jobs are with you, the hosting session, and each of them is taken: the run goes on when they are handed in"

// handIn says what to do about such a run.
func handIn(run string) []string {
	return []string{
		fmt.Sprintf("hand in what your agents have finished: submit {run: %q, job, attempt, result}, or failed for one that has ended without an answer; messages says what is taken, and until when", run),
		fmt.Sprintf("while they are at it: call next {run: %q}, which waits for another job, or for one that somebody let go", run),
	}
}

// failed is a command that gave no result, for a model: what happened, and what to do.
func failed(tool string, o Outcome, next string) error {
	text := strings.TrimSpace(o.Err)
	if text == "" {
		text = fmt.Sprintf("the command ended with exit status %d and said nothing", o.Exit)
	}
	text, _ = cut(strings.TrimPrefix(text, "orchestrate: "), mostErrors, "the command in a terminal")
	switch {
	case o.Exit == exitUsage && next == "":
		next = "put right what is named and call " + tool + " again"
	case next == "":
		next = "if that does not say what to do, call doctor, or ask the user"
	}
	return fmt.Errorf("%s did not work (exit status %d): %s\nnext: %s", tool, o.Exit, text, next)
}

// errAway is what a call ends with that its client has cancelled.
var errAway = errors.New("cancelled by the client; runs go on")
