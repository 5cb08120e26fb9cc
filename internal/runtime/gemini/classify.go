package gemini

import (
	"strconv"
	"strings"
	"time"

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

// classify finds the class of an error message. The HTTP status is in it where
// there was one. That a quota is exhausted is what the service says of a limit by
// the minute too, so only what speaks of the day or the plan's capacity is terminal.
func classify(message string) runtime.Reason {
	if probe.ContainsAny(message, "daily quota", "exhausted your capacity", "perday", "insufficient_quota") {
		return runtime.ReasonQuota
	}
	if probe.ContainsAny(message, "api_key_invalid") { // comes with status 400
		return runtime.ReasonAuth
	}
	switch status := statedStatus(message); {
	case status == unauthorized, status == forbidden:
		return runtime.ReasonAuth
	case status == paymentRequired:
		return runtime.ReasonQuota
	case status == notFound:
		return runtime.ReasonUnknownModel
	case status == tooManyRequests:
		return runtime.ReasonRateLimit
	case status >= serverErrors:
		return runtime.ReasonNetwork
	}
	return byText(message)
}

func byText(message string) runtime.Reason {
	switch {
	case strings.Contains(message, "Reached max session turns"):
		return runtime.ReasonTurnCap
	case probe.ContainsAny(message, "api key not valid", "auth method", "must specify the gemini_api_key", "authenticat"):
		return runtime.ReasonAuth
	case probe.ContainsAny(message, "is not found for api version", "modelnotfound"):
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(message, "resource has been exhausted", "resource_exhausted", "rate limit", "exceeded your current quota"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(message, "fetch failed", "overloaded", "econn", "enotfound", "socket hang up", "timed out"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// statedStatus reads `"code":401` and "status 429"; 0 when none is stated.
func statedStatus(message string) int {
	for _, before := range []string{`"code":`, "with status "} {
		if _, rest, found := strings.Cut(message, before); found {
			digits := strings.TrimLeft(rest, " ")
			end := strings.IndexFunc(digits+".", func(r rune) bool { return r < '0' || r > '9' })
			status, err := strconv.Atoi(digits[:end])
			if err == nil {
				return status
			}
		}
	}
	return 0
}

// statedDelay reads `"retryDelay":"34s"` and "retry in 34.5s", in milliseconds; 0
// when none is stated.
func statedDelay(message string) int64 {
	for _, before := range []string{`"retryDelay":"`, "retry in ", "retry after ", "reset after "} {
		_, rest, found := strings.Cut(message, before)
		if !found {
			continue
		}
		end := strings.IndexFunc(rest+" ", func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
		delay, err := time.ParseDuration(strings.TrimRight(rest[:end], "."))
		if err == nil && delay > 0 {
			return delay.Milliseconds()
		}
	}
	return 0
}

// refusal reports whether a tool's error is a boundary rather than a tool that
// failed. A tool that is not granted is not in the program's list at all.
func refusal(tool string, why failure) bool {
	switch why.Type {
	case "policy_violation":
		return true
	case "tool_not_registered":
		return isWorkTool(tool)
	}
	return strings.HasPrefix(why.Message, "Path not in workspace")
}

// startFailure classifies a line of standard error that says why the program
// does not start, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	begins := func(parts ...string) bool {
		for _, part := range parts {
			if strings.HasPrefix(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("Unknown argument", "Invalid values:", "Not enough arguments following"):
		return runtime.ReasonUnknownFlag
	case begins("Please set an Auth method", "Invalid auth method selected", "When using Gemini API, you must specify",
		"When using Vertex AI, you must specify", "The enforced authentication type", "The auth type ", "Error authenticating:"):
		return runtime.ReasonAuth
	case begins("Error resuming session:"):
		return runtime.ReasonSession
	case begins("Error starting session:", "Gemini CLI is not running in a trusted directory", "Fatal error:"):
		return runtime.ReasonCrash
	}
	return ""
}

// ignoresPolicy recognizes the line in which the program says that it goes on
// without the limits it was given. A user's own faulty policies are not meant.
func ignoresPolicy(text string) bool {
	return strings.Contains(text, "Ignoring "+flagPolicy) || strings.Contains(text, "[ADMIN] Policy file error")
}

// isNoise recognizes what the program writes to standard error on every run, and
// the stack traces that follow its errors.
func isNoise(text string) bool {
	for _, begin := range []string{
		"Warning: Basic terminal", "Warning: 256-color", "Ripgrep is not available", "[STARTUP]",
		"at ", "status: ", "code: ", "cause: ", "}", "Error executing tool ",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// plain takes terminal colours and blanks around out of a line.
func plain(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		if !found || end < 0 {
			return strings.TrimSpace(b.String())
		}
		s = rest[end+1:]
	}
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
