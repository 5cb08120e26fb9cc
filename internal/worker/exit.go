package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/workspace"
)

// Exit codes of a task, as coordinators know them.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitBlocked     = 3
	ExitTurnCap     = 8
	ExitTimeout     = 124
	ExitNoLaunch    = 127
	ExitInterrupted = 130
)

// ExitCode is the exit code of a task that has settled.
func ExitCode(s ledger.JobStatus) int {
	switch {
	case s.Status.Well():
		return ExitOK
	case s.Status == ledger.Interrupted:
		return ExitInterrupted
	}
	switch s.Reason {
	case runtime.ReasonSession: // also where only its program could find that out
		return ExitBlocked
	case runtime.ReasonTurnCap:
		return ExitTurnCap
	case runtime.ReasonTimeout, runtime.ReasonFirstOutput:
		return ExitTimeout
	case runtime.ReasonSpawn, runtime.BlockedNoRoute:
		return ExitNoLaunch
	}
	if s.Status == ledger.Blocked {
		return ExitBlocked
	}
	return ExitFailed
}

// Next is what to do about a task that has settled in a call, "" where it is well. signIn is
// how a person signs in to its runtime, "" = not known.
func Next(s ledger.JobStatus, call, signIn string) string {
	if s.Status.Well() {
		return ""
	}
	resume := "orchestrate resume " + call
	for _, step := range []string{nextOfRuntime(s, resume, signIn), nextOfLimits(s, resume), nextOfPattern(s), nextOfBlock(s, resume)} {
		if step != "" {
			return step
		}
	}
	return "read worker.log; dispatch it again once if that was transient, else with another prompt"
}

// evidenceRunes bounds what a next step repeats of the evidence.
const evidenceRunes = 300

// nextOfRuntime is for what the runtime itself ran into.
func nextOfRuntime(s ledger.JobStatus, resume, signIn string) string {
	switch s.Reason {
	case runtime.ReasonAuth:
		if signIn == "" {
			signIn = "sign in to " + s.Runtime + ", as `orchestrate doctor` says"
		}
		return "stop, a person has to act: " + signIn + "; then dispatch it again"
	case runtime.ReasonRateLimit:
		return "transient: wait" + back(s, " until %s") + ", then dispatch it again; other tasks of " + s.Runtime + " run into it too"
	case runtime.ReasonNetwork:
		return "transient: check the network, then dispatch it again"
	case runtime.ReasonQuota:
		return fmt.Sprintf("the quota of %s is used up: go on with %s%s, or with another adapter", s.Runtime, resume, back(s, " after %s"))
	case runtime.ReasonSpawn:
		return "put right what kept it from starting (" + s.ReasonEvidence.Line(evidenceRunes) + "), then dispatch it again; orchestrate doctor shows which programs there are"
	case runtime.ReasonUnknownModel:
		return "choose a model that `orchestrate doctor --json` lists for " + s.Runtime + ", or none"
	case runtime.ReasonModelMismatch:
		return "another model answered than was asked for: name that one, or none"
	case runtime.ReasonUnknownFlag:
		return "this version of " + s.Runtime + " is not known: orchestrate doctor shows which it is; update it, or take another adapter"
	}
	return ""
}

// back says when a limit ends, if the runtime said so.
func back(s ledger.JobStatus, format string) string {
	if s.EndedAt == nil {
		return ""
	}
	at, ok := policy.ResetTime(s.ReasonEvidence, s.EndedAt.Local(), time.LoadLocation)
	if !ok {
		return ""
	}
	return fmt.Sprintf(format, at.Local().Format("2006-01-02 15:04"))
}

// nextOfLimits is for what a limit or a person ended, and for what was missing at the end.
func nextOfLimits(s ledger.JobStatus, resume string) string {
	switch s.Reason {
	case runtime.ReasonTurnCap:
		return "dispatch it again with a higher max_turns or a narrower scope; --resume-from goes on where it stopped"
	case runtime.ReasonTimeout, runtime.ReasonFirstOutput:
		return "dispatch it again with a narrower scope or a longer timeout"
	case runtime.ReasonCancelled, runtime.ReasonCutOff:
		return resume + " goes on with it"
	case runtime.ReasonPermission:
		return "it was refused something: word the prompt so that it is not needed, or let it write"
	case runtime.ReasonWroteObserving:
		return "it changed files and may not: look at them, undo what you do not want, and let it write if it is to"
	case runtime.ReasonEmptyOutput, runtime.ReasonNoCompletion:
		return "read worker.log, and ask for a final answer in the prompt"
	case runtime.ReasonMissingOutput:
		return "read output.txt, and ask for the file by its name"
	case runtime.ReasonCheckFailed:
		return "go on with it by --resume-from, with what the check found"
	}
	return ""
}

// nextOfPattern is for tasks that judge or gather.
func nextOfPattern(s ledger.JobStatus) string {
	switch s.Reason {
	case runtime.ReasonBadAnswer:
		return "read output.txt: the answer does not hold what it must; say its form in the prompt"
	case runtime.ReasonNotVerified:
		return "read what the judges say and what worker.log of the work has; then tell the person"
	case runtime.ReasonTooFew:
		return "see to the tasks that failed, then batch with --retry-failed"
	}
	return ""
}

// nextOfBlock is for what never began.
func nextOfBlock(s ledger.JobStatus, resume string) string {
	switch s.Reason {
	case runtime.BlockedNoRoute, runtime.BlockedCapability:
		return "no runtime can take it (" + s.ReasonEvidence.Line(evidenceRunes) + "): orchestrate doctor shows what is there and signed in"
	case runtime.BlockedRiskControls: // another runtime, or a sign-in, would change nothing about it
		return nextOfPlace(s)
	case runtime.BlockedDependency:
		return "see to the task that it waits for"
	case runtime.BlockedExpansion:
		return "read the answer that the list is taken from, and ask there for the list alone"
	case runtime.BlockedSession:
		return nextOfSession(s)
	case runtime.BlockedTreeUnproven:
		return "end what still runs, then " + resume
	}
	return ""
}

// nextOfPlace is for a task that cannot be held, or its work not be told, where it is to run.
func nextOfPlace(s ledger.JobStatus) string {
	what := s.ReasonEvidence.Line(0)
	if strings.Contains(what, workspace.ErrNotRepo.Error()) || strings.Contains(what, workspace.ErrNoCommit.Error()) {
		return "make that folder a git repository with a commit (git init && git add -A && git commit), or let it only read: it leaves an answer, and files in its artifacts/"
	}
	return "put right what keeps it from running here (" + s.ReasonEvidence.Line(evidenceRunes) + "), or let it only read"
}

// nextOfSession is for a task whose session is in use, or gone.
func nextOfSession(s ledger.JobStatus) string {
	switch run, inUse := ledger.UserOf(s.ReasonEvidence.Line(0)); {
	case run != "":
		return "wait until who goes on with its session has ended (orchestrate wait " + run + "), then dispatch it again"
	case inUse:
		return "wait until that has ended, then dispatch it again"
	}
	return "start a fresh task, with what it needs to know in its prompt"
}

// signIn is how a person signs in to the runtime that a task was refused by, as its
// profile in the call says.
func signIn(callDir string, s ledger.JobStatus) string {
	if s.Reason != runtime.ReasonAuth {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(callDir, ledger.RuntimesFile))
	var all ledger.Runtimes
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return "" // then doctor is named, which asks anew
	}
	for _, p := range all.Profiles {
		if p.Runtime == s.Runtime {
			return p.NextStep
		}
	}
	return ""
}
