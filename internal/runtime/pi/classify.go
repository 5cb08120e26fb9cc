package pi

import (
	"regexp"
	"slices"
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

// classify finds the class of a failed model call from its message.
func classify(text string) runtime.Reason {
	if probe.ContainsAny(text, "exceeded your current quota", "insufficient_quota", "insufficient balance", "usage limit", "billing") {
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
	case probe.ContainsAny(text, "no api key", "authentication"):
		return runtime.ReasonAuth
	case probe.ContainsAny(text, "rate limit"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(text, "connection error", "fetch failed", "terminated", "socket", "timed out", "timeout", "econn", "enotfound"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// statusOf is the HTTP status of a failed model call; 0 is unknown. Each of the
// protocols that the program speaks puts it differently: "401: {…}", "401 {…}",
// "openai API error (401): …", {"error":{"code":401,…}}.
func statusOf(text string) int {
	form := regexp.MustCompile(`^(?:[\w.-]+ API error \(|\{"error":\{"code":)?(\d{3})\b`)
	found := form.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	status, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return status
}

// startFailure classifies a line of standard error that says why the program does
// not start or gives up, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, "Error: Unknown option:"):
		return runtime.ReasonUnknownFlag
	case strings.HasPrefix(text, `Error: Model "`), strings.HasPrefix(text, "Error: Unknown provider"):
		return runtime.ReasonUnknownModel
	case strings.HasPrefix(text, "No API key found for "):
		return runtime.ReasonAuth
	case strings.HasPrefix(text, "No session found matching"), strings.HasPrefix(text, "Session found in different project:"):
		return runtime.ReasonSession
	case strings.HasPrefix(text, "Error:"):
		return runtime.ReasonCrash
	}
	return ""
}

// isRefusal recognizes a call of a tool that the job was not granted, which the
// program answers as it does any call of a tool that does not exist.
func isRefusal(tool, text string) bool {
	return text == "Tool "+tool+" not found" && slices.Contains(boundaryTools(), tool)
}

// evidenceLimit bounds, in bytes, the texts kept as evidence or in short form.
const evidenceLimit = 400

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
