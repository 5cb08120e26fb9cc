package claude

import (
	"strconv"
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

// classify finds the class of an error: by the HTTP status, then by the stream's
// own error word, then by the message. 0 and "" are unknown.
func classify(status int, word, text string) runtime.Reason {
	if probe.ContainsAny(text, "credit balance", "usage limit", "out of extra usage", "quota") || word == "billing_error" {
		return runtime.ReasonQuota
	}
	switch {
	case status == unauthorized, status == forbidden:
		return runtime.ReasonAuth
	case status == paymentRequired:
		return runtime.ReasonQuota
	case status == tooManyRequests:
		return runtime.ReasonRateLimit
	case status == notFound:
		return runtime.ReasonUnknownModel
	case status >= serverErrors:
		return runtime.ReasonNetwork
	}
	if why := byWord(word); why != "" {
		return why
	}
	return byText(text)
}

func byWord(word string) runtime.Reason {
	switch word {
	case "authentication_failed", "oauth_org_not_allowed":
		return runtime.ReasonAuth
	case "rate_limit":
		return runtime.ReasonRateLimit
	case "model_not_found":
		return runtime.ReasonUnknownModel
	case "server_error", "overloaded", "unknown": // unknown: no answer at all
		return runtime.ReasonNetwork
	case "error_max_budget_usd":
		return runtime.ReasonBudget
	case "error_max_turns":
		return runtime.ReasonTurnCap
	}
	return ""
}

func byText(text string) runtime.Reason {
	switch {
	case probe.ContainsAny(text, "not logged in", "invalid api key", "please run /login"):
		return runtime.ReasonAuth
	case probe.ContainsAny(text, "issue with the selected model"):
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(text, "unable to connect", "connection error", "timed out", "econnre", "enotfound"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// startFailure classifies a line of standard error that says why the program
// does not start, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, "error: unknown option"),
		strings.HasPrefix(text, "error: option"),
		strings.HasPrefix(text, "--agent ") && strings.Contains(text, "not found"):
		return runtime.ReasonUnknownFlag
	case strings.HasPrefix(text, "No conversation found"):
		return runtime.ReasonSession
	case strings.HasPrefix(text, "Error:"), strings.HasPrefix(text, "error:"):
		return runtime.ReasonCrash
	}
	return ""
}

// isRefusal recognizes a tool result that reports a permission boundary rather
// than a tool that failed. The wording is anchored at its beginning: what a tool
// printed must not look like a refusal.
func isRefusal(text string) bool {
	text = strings.TrimPrefix(text, "<tool_use_error>")
	for _, form := range [][2]string{
		{"Claude requested permissions to ", ""},
		{"Permission to use ", "denied"},
		{"Cannot ", "while in plan mode"},
		{"File is in a directory that is denied", ""},
		{"Output redirection to ", "was blocked"},
		{"This command requires approval", ""},
	} {
		if strings.HasPrefix(text, form[0]) && strings.Contains(text, form[1]) {
			return true
		}
	}
	return false
}

func statusText(status int) string {
	if status == 0 {
		return "nothing"
	}
	return strconv.Itoa(status)
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
