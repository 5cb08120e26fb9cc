package copilot

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/untrusted"
)

// HTTP statuses that mean something here. net/http has names for them and would
// add its start-up to every supervisor.
const (
	unauthorized    = 401
	paymentRequired = 402
	forbidden       = 403
	notFound        = 404
	tooManyRequests = 429
	serverErrors    = 500
)

// classify finds the class of an error: by what the message says of an allowance,
// by the HTTP status, by the stream's own error word, then by the message. 0 and ""
// are unknown.
func classify(status int, word, text string) runtime.Reason {
	if probe.ContainsAny(text, "quota", "premium request", "billing") || word == "quota" {
		return runtime.ReasonQuota
	}
	switch {
	case status == unauthorized, status == forbidden:
		return runtime.ReasonAuth
	case status == paymentRequired:
		return runtime.ReasonQuota
	case status == tooManyRequests:
		return runtime.ReasonRateLimit
	case status == notFound && probe.ContainsAny(text, "model"):
		return runtime.ReasonUnknownModel
	case status >= serverErrors:
		return runtime.ReasonNetwork
	case word == "authentication":
		return runtime.ReasonAuth
	}
	return byText(text)
}

func byText(text string) runtime.Reason {
	switch {
	case probe.ContainsAny(text, "no authentication information", "classic personal access tokens", "authentication failed", "authentication required"):
		return runtime.ReasonAuth
	case probe.ContainsAny(text, "rate limit"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(text, "last error: 5", "error sending request", "connection", "timed out"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// startFailure classifies a line of standard error that says why the program does
// not start, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, "error:"), strings.HasPrefix(text, "No such agent:"):
		return runtime.ReasonUnknownFlag
	case strings.HasPrefix(text, "Error: No session, task, or name matched"):
		return runtime.ReasonSession
	case strings.HasPrefix(text, "Error:"), strings.HasPrefix(text, "No prompt provided"):
		return byText(text)
	}
	return ""
}

// isRefusal recognizes a tool that was not run because of a permission boundary
// rather than one that failed.
func isRefusal(code, text string) bool {
	return code == "denied" || strings.HasPrefix(text, "Permission denied because ") ||
		strings.HasPrefix(text, "Permission to run this tool was denied")
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
