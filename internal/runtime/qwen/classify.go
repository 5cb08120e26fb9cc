package qwen

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

// apiError is how the program begins the message of a failed model call, in the
// place of an answer too.
const apiError = "[API Error: "

// turnsReached is how the program begins to say that its number of turns is used up.
const turnsReached = "Reached max session turns"

// classify finds the class of an error from its message, which holds the HTTP
// status in "[API Error: 401 …]".
func classify(text string) runtime.Reason {
	if probe.ContainsAny(text, "quota", "insufficient balance", "billing") {
		return runtime.ReasonQuota
	}
	status := statusOf(text)
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
	}
	return byText(text)
}

func byText(text string) runtime.Reason {
	switch {
	case probe.ContainsAny(text, "no auth type is selected", "authentication required", "incorrect api key", "invalid api key"):
		return runtime.ReasonAuth
	case probe.ContainsAny(text, "rate limit"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(text, "connection error", "fetch failed", "timed out", "econnre", "enotfound"):
		return runtime.ReasonNetwork
	case strings.HasPrefix(text, "Run aborted: "):
		return runtime.ReasonBudget
	case strings.Contains(text, turnsReached):
		return runtime.ReasonTurnCap
	}
	return runtime.ReasonCrash
}

// statusOf is the HTTP status that an API error begins with; 0 is unknown.
func statusOf(text string) int {
	rest, ok := strings.CutPrefix(text, apiError)
	if !ok {
		return 0
	}
	word, _, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(word)
	if err != nil {
		return 0
	}
	return status
}

// startFailure classifies a line of standard error that says why the program
// does not start or gives up, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, unknownArguments):
		return runtime.ReasonUnknownFlag
	case strings.HasPrefix(text, apiError), strings.HasPrefix(text, "No auth type is selected"),
		strings.HasPrefix(text, "Run aborted: "), strings.HasPrefix(text, `"message": "`+turnsReached):
		return classify(text)
	case strings.HasPrefix(text, "No saved session found"):
		return runtime.ReasonSession
	case strings.HasPrefix(text, "No input provided"),
		strings.HasPrefix(text, "Error:"):
		return runtime.ReasonCrash
	}
	return ""
}

// unknownArguments is what the program says of a flag that it does not know,
// before the whole of its help.
const unknownArguments = "Unknown arguments:"

// expected are the notices that come with what was asked for: the safe mode, and
// a search tool that is not executable where npm unpacked it.
func expected(text string) bool {
	return strings.HasPrefix(text, "⚠ SAFE MODE") || strings.HasPrefix(text, "Ripgrep not available:")
}

// isRefusal recognizes a tool result that reports a permission boundary rather
// than a tool that failed. The wording is anchored at its beginning: what a tool
// printed must not look like a refusal.
func isRefusal(text string) bool {
	for _, form := range [][2]string{
		{"Qwen Code requires permission to use ", "declined"},
		{"This \"", "was denied by permission rules"},
	} {
		if strings.HasPrefix(text, form[0]) && strings.Contains(text, form[1]) {
			return true
		}
	}
	return false
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
