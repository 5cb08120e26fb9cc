package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// Facts is all that the end of an attempt is judged by: what the supervisor saw,
// what the decoder understood (in Exit.Outcome), and what the engine found.
type Facts struct {
	Exit supervise.Exit
	Exec bool // a plain program: exit 0 is its completion event, and it may say nothing
	// Session says that the hosting session did it: there was no process, so no exit status,
	// and its word is the completion event.
	Session bool
	Stale   string // what has changed under a late result of the session, "" = nothing

	Resumed string // id of the session that it had to go on with, where the runtime keeps ids; "" = none

	Pin    string          // the model that was asked for; "" = none
	Models []runtime.Model // the live list, for aliases

	Answer untrusted.Text // the final answer, wherever it came from
	Stderr untrusted.Text // the beginning of its standard error, as kept

	// Findings of the engine, each line naming what and where; empty = kept.
	Budget         string   // the budget that ended the attempt
	Lost           string   // the supervisor itself failed: what is known
	Unproven       bool     // its processes are not proven to have ended
	InjectedSecret []string // secrets in its patch or artifacts, by rule and place
	WroteObserving []string // paths that an observing job changed
	Ownership      []string // changed paths outside owned_paths
	MissingOutputs []string // declared outputs that are missing, empty or other than declared
	ChecksCut      bool     // the run was stopped before all checks had run
	FailedChecks   []string // checks that did not pass
}

// Settlement is how an attempt ended.
type Settlement struct {
	Status   ledger.Status
	Reason   runtime.Reason
	Evidence untrusted.Text // the line that says so
}

// Classify settles an attempt. The first that applies decides:
//
//  1. the supervisor failed: interrupted, for it was not the job's doing; crash
//     where what it left is not proven to have ended
//  2. stopped by the budget: budget; by a person: interrupted
//  3. it could not be started: spawn
//  4. the runtime refused a tool use: permission, even when the attempt then ran
//     into its timeout, because the refusal is the cause
//  5. stopped at a limit: timeout, first_output. An error flag that our own signal
//     provoked does not hide this
//  6. the runtime's error flag: its class, whatever the exit status; a limit of a plan
//     is quota, in whatever class the runtime put it
//  7. no completion event: no_completion; crash when it ended before it began, over
//     its command line or over a configuration file that it could not read
//  8. completion without the flag, but an exit status other than 0 that our signal
//     did not cause: crash
//  9. what the engine found: crash for a process tree that is not proven gone, so
//     that nothing it left can be looked at; stale_result; session for one that began
//     another session than it was told to go on with; model_mismatch, injected_secret,
//     wrote_while_observing, ownership_violation, empty_output, missing_output,
//     check_failed
func Classify(f Facts) Settlement {
	for _, rule := range []func(Facts) (runtime.Reason, untrusted.Text){stopped, refused, limited, flagged, uncompleted, found} {
		reason, evidence := rule(f)
		switch reason {
		case "":
			continue
		case runtime.ReasonCancelled, runtime.ReasonCutOff, runtime.ReasonLeaseLapsed:
			return Settlement{ledger.Interrupted, reason, evidence}
		}
		return Settlement{ledger.Failed, reason, evidence}
	}
	return Settlement{Status: ledger.Success}
}

func stopped(f Facts) (runtime.Reason, untrusted.Text) {
	switch {
	case f.Lost != "" && f.Unproven:
		return runtime.ReasonCrash, untrusted.From("the supervisor failed: " + f.Lost)
	case f.Lost != "":
		return runtime.ReasonCutOff, untrusted.From("the supervisor failed: " + f.Lost)
	case f.Exit.Stop == supervise.StopCancelled && f.Budget != "":
		return runtime.ReasonBudget, untrusted.From(f.Budget)
	case f.Exit.Stop == supervise.StopCancelled:
		return runtime.ReasonCancelled, untrusted.From("stopped on request")
	case f.Exit.SpawnError != "":
		return runtime.ReasonSpawn, untrusted.From(f.Exit.SpawnError)
	}
	return "", untrusted.Text{}
}

func refused(f Facts) (runtime.Reason, untrusted.Text) {
	o := f.Exit.Outcome
	if len(o.Denials) == 0 {
		return "", untrusted.Text{}
	}
	var lines []untrusted.Text
	for _, d := range o.Denials {
		lines = append(lines, untrusted.Sprintf("%s refused: %s", d.Tool, d.Boundary))
	}
	return runtime.ReasonPermission, untrusted.Join(lines, "; ")
}

func limited(f Facts) (runtime.Reason, untrusted.Text) {
	var last untrusted.Text
	if e := f.Exit.Outcome.Evidence; !e.Empty() {
		last = untrusted.Sprintf("; the last it said: %s", e)
	}
	switch f.Exit.Stop {
	case supervise.StopTimeout:
		return runtime.ReasonTimeout, untrusted.Sprintf("stopped at its timeout after %d ms%s", f.Exit.DurationMs, last)
	case supervise.StopFirstOutput:
		return runtime.ReasonFirstOutput, untrusted.Sprintf("said nothing at all within first_output_timeout (%d ms)%s", f.Exit.DurationMs, last)
	}
	return "", untrusted.Text{}
}

func flagged(f Facts) (runtime.Reason, untrusted.Text) {
	o := f.Exit.Outcome
	if !o.ErrorFlag && f.Exit.Stop != supervise.StopSettled {
		return "", untrusted.Text{}
	}
	return limitOf(cmp.Or(o.Reason, runtime.ReasonCrash), o.Evidence), cmp.Or(o.Evidence, untrusted.From("the runtime's error flag is set ("+howItEnded(f.Exit)+")"))
}

// limitOf tells the limit of a plan or a day, after which no waiting in this run helps,
// from that of a minute. Services answer both in the same way, and only the words for
// a person differ.
func limitOf(why runtime.Reason, said untrusted.Text) runtime.Reason {
	low := strings.ToLower(said.Unshown())
	plan := anyIn(low, "usage limit", "hour limit", "daily limit", "weekly limit", "monthly limit", "session limit", "your limit") ||
		strings.Contains(low, "limit reached") && !strings.Contains(low, "rate limit")
	if plan && (why == runtime.ReasonRateLimit || why == runtime.ReasonCrash && strings.Contains(low, "reset")) {
		return runtime.ReasonQuota
	}
	return why
}

// uncompleted is about the completion event and the exit status.
func uncompleted(f Facts) (runtime.Reason, untrusted.Text) {
	if f.Exec {
		return execEnd(f.Exit)
	}
	o := f.Exit.Outcome
	switch {
	case o.Completed && (f.Session || clean(f.Exit)):
		return "", untrusted.Text{}
	case o.Completed && o.Reason != "": // the exit status is its completion, and was none
		return limitOf(o.Reason, o.Evidence), cmp.Or(o.Evidence, untrusted.From(howItEnded(f.Exit)))
	case o.Completed:
		return runtime.ReasonCrash, untrusted.From("completed without its error flag, but " + howItEnded(f.Exit))
	case o.Reason != "":
		return limitOf(o.Reason, o.Evidence), cmp.Or(o.Evidence, untrusted.From(howItEnded(f.Exit)))
	case usageError(f.Exit):
		return runtime.ReasonCrash, untrusted.Sprintf("ended before it began, as after a usage error: %s%s", howItEnded(f.Exit), tail(o.Evidence))
	}
	if line := tornConfig(f); line != "" {
		return runtime.ReasonCrash, untrusted.From("ended before it began, over a configuration file that it could not read, as when another start writes it: " + line)
	}
	return runtime.ReasonNoCompletion, untrusted.Sprintf("no completion event; %s%s", howItEnded(f.Exit), tail(o.Evidence))
}

// execEnd settles a plain program by its exit status. 126 and 127 are what a
// shell or env answers when the program it was to run is not there.
func execEnd(e supervise.Exit) (runtime.Reason, untrusted.Text) {
	switch {
	case clean(e):
		return "", untrusted.Text{}
	case e.ExitCode != nil && (*e.ExitCode == 126 || *e.ExitCode == 127):
		return runtime.ReasonSpawn, untrusted.From(howItEnded(e) + ": the program could not be run")
	}
	return runtime.ReasonCrash, untrusted.From(howItEnded(e))
}

func clean(e supervise.Exit) bool { return e.Signal == "" && e.ExitCode != nil && *e.ExitCode == 0 }

// usageError recognises a command line that was refused: exit status 2, or 64 of
// sysexits, and nothing begun.
func usageError(e supervise.Exit) bool {
	return e.ExitCode != nil && (*e.ExitCode == 2 || *e.ExitCode == 64) && !e.Outcome.WorkBegun && e.Outcome.SessionID == ""
}

// tornConfig is the line in which a program says that a configuration file of its own
// cannot be read; "" when it began after all, or says nothing of the kind. Programs
// that share such a file tear it when they start at once: that is nothing which the
// job did.
func tornConfig(f Facts) string {
	if clean(f.Exit) || f.Exit.Outcome.WorkBegun || f.Exit.Outcome.SessionID != "" {
		return ""
	}
	for line := range strings.Lines(f.Stderr.Unshown()) {
		low := strings.ToLower(line)
		if anyIn(low, "config", "settings", "auth.json") && anyIn(low, "corrupt", "parse", "parsing", "unterminated", "unexpected end", "json at position", "invalid json", "invalid toml") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func anyIn(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

func howItEnded(e supervise.Exit) string {
	switch {
	case e.Signal != "":
		return "ended by signal " + e.Signal
	case e.ExitCode != nil:
		return fmt.Sprintf("exit status %d", *e.ExitCode)
	}
	return "exit status unknown"
}

// found applies what the engine found, in the order in which it matters.
func found(f Facts) (runtime.Reason, untrusted.Text) {
	observed := f.Exit.Outcome.ObservedModel
	switch {
	case f.Unproven:
		return runtime.ReasonCrash, untrusted.From("its processes are not proven to have ended, so what it left was not looked at")
	case f.Stale != "":
		return runtime.ReasonStaleResult, untrusted.From("it came late, and what it builds on has changed: " + f.Stale)
	case f.Resumed != "" && f.Exit.Outcome.SessionID != "" && !strings.EqualFold(f.Exit.Outcome.SessionID, f.Resumed):
		return runtime.ReasonSession, untrusted.Sprintf("it had to go on with session %s and began another one, %s, which knows nothing of what was said there", f.Resumed, f.Exit.Outcome.SessionID)
	case !PinHolds(f.Pin, observed, f.Models):
		return runtime.ReasonModelMismatch, untrusted.Sprintf("asked for model %q, %q answered", f.Pin, observed)
	case len(f.InjectedSecret) > 0:
		return runtime.ReasonInjectedSecret, untrusted.From("it left a secret: " + list(f.InjectedSecret))
	case len(f.WroteObserving) > 0:
		return runtime.ReasonWroteObserving, untrusted.From("an observing job changed " + list(f.WroteObserving))
	case len(f.Ownership) > 0:
		return runtime.ReasonOwnership, untrusted.From("changed outside owned_paths: " + list(f.Ownership))
	case !f.Exec && f.Answer.Blank():
		return runtime.ReasonEmptyOutput, untrusted.From("completed, but with an empty final answer")
	case len(f.MissingOutputs) > 0:
		return runtime.ReasonMissingOutput, untrusted.From("declared output: " + list(f.MissingOutputs))
	case f.ChecksCut && f.Budget != "":
		return runtime.ReasonBudget, untrusted.From(f.Budget + ", before its checks had run")
	case f.ChecksCut:
		return runtime.ReasonCancelled, untrusted.From("cancelled before its checks had run")
	case len(f.FailedChecks) > 0:
		return runtime.ReasonCheckFailed, untrusted.From("check: " + list(f.FailedChecks))
	}
	return "", untrusted.Text{}
}

// list shows the first few of many.
func list(items []string) string {
	const most = 5
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

func tail(evidence untrusted.Text) untrusted.Text {
	if evidence.Empty() {
		return evidence
	}
	return untrusted.Sprintf("; %s", evidence)
}
