package codex

import (
	"strconv"
	"strings"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// classify finds the class of an error message; codex gives no code beside it.
// The HTTP status is in the message where there was one.
func classify(message string) runtime.Reason {
	if probe.ContainsAny(message, "usage limit", "exceeded your current quota", "insufficient_quota", "quota exceeded", "billing") {
		return runtime.ReasonQuota
	}
	if status, ok := statedStatus(message); ok {
		switch {
		case status == 401 || status == 403:
			return runtime.ReasonAuth
		case status == 402:
			return runtime.ReasonQuota
		case status == 429:
			return runtime.ReasonRateLimit
		case status >= 500:
			return runtime.ReasonNetwork
		}
	}
	switch {
	case probe.ContainsAny(message, "rate limit"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(message, "missing environment variable", "incorrect api key", "not logged in"):
		return runtime.ReasonAuth
	case probe.ContainsAny(message, "model") && probe.ContainsAny(message, "does not exist", "not supported", "not found"):
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(message, "high demand", "stream disconnected", "waiting for network", "connection failed",
		"error sending request", "failed to lookup address", "timed out"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// statedStatus reads "unexpected status 401 …" and "last status: 429 …".
func statedStatus(message string) (int, bool) {
	for _, before := range []string{"unexpected status ", "last status: "} {
		if _, rest, found := strings.Cut(message, before); found {
			word, _, _ := strings.Cut(rest, " ")
			status, err := strconv.Atoi(word)
			return status, err == nil
		}
	}
	return 0, false
}

// statedDelay reads "try again in 1.5s", in milliseconds; 0 when none is stated.
func statedDelay(message string) int64 {
	_, rest, found := strings.Cut(strings.ToLower(message), "try again in ")
	if !found {
		return 0
	}
	word, _, _ := strings.Cut(rest, " ")
	delay, err := time.ParseDuration(strings.TrimRight(word, ".,;:)"))
	if err != nil || delay < 0 {
		return 0
	}
	return delay.Milliseconds()
}

// refusal recognizes the log line of a rejected tool use and cuts out what was
// refused: "… ERROR codex_core::tools::router: error=patch rejected: …".
func refusal(text string) (boundary string, ok bool) {
	_, said, found := strings.Cut(text, "error=")
	if !found || !strings.Contains(text, "ERROR") || !probe.ContainsAny(said, "rejected", "reject command") {
		return "", false
	}
	return said, true
}

// startFailure classifies a line of standard error that says why the program
// does not start, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, "error: unexpected argument"), strings.HasPrefix(text, "error: invalid value"),
		strings.HasPrefix(text, "error: unrecognized subcommand"):
		return runtime.ReasonUnknownFlag
	case strings.HasPrefix(text, "Error") && strings.Contains(text, "no rollout found for thread"):
		return runtime.ReasonSession
	case strings.HasPrefix(text, "Error"), strings.HasPrefix(text, "error:"),
		strings.HasPrefix(text, "Not inside a trusted directory"), strings.HasPrefix(text, "No prompt provided"):
		return runtime.ReasonCrash
	}
	return ""
}

// plain takes terminal colours out of a log line.
func plain(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return b.String()
		}
		s = rest[end+1:]
	}
}
