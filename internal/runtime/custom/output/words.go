package output

import (
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/probe"
)

// classify finds the class of a failure in what a program says of it, "" = none of
// the words that programs use for one is there. It is asked only about programs that
// did not complete.
func classify(text string) runtime.Reason {
	switch {
	case probe.ContainsAny(text, "unknown flag", "unknown option", "unknown argument", "unrecognized option", "unrecognized argument", "flag provided but not defined"):
		return runtime.ReasonUnknownFlag
	case probe.ContainsAny(text, "no auth provided", "no providers configured", "please log in", "no api key"):
		return runtime.ReasonAuth
	}
	if why := acp.ClassOf(0, text); why != runtime.ReasonCrash {
		return why
	}
	return ""
}
