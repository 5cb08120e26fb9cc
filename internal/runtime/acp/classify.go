package acp

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// authRequired is the protocol's code for "nobody is signed in".
const authRequired = -32000

// ClassOf finds the class of an error that the agent answered with: by what it says
// about quotas, by its code, which some agents take from HTTP, then by its words. A
// status of 500 is what some give to everything, so there the words come first.
func ClassOf(code int, message string) runtime.Reason {
	if probe.ContainsAny(message, "insufficient_quota", "quota exceeded", "exceeded your current quota", "exhausted your", "usage limit", "credit balance", "insufficient balance", "billing") {
		return runtime.ReasonQuota
	}
	if code == authRequired {
		return runtime.ReasonAuth
	}
	statuses := []int{code, statedStatus(message)}
	for _, status := range statuses {
		if why := byStatus(status); why != "" {
			return why
		}
	}
	why := byText(message)
	if why == runtime.ReasonCrash && slices.ContainsFunc(statuses, func(status int) bool { return status >= 500 && status < 600 }) {
		return runtime.ReasonNetwork
	}
	return why
}

// byStatus is "" for a status that does not say enough. net/http has names for them
// and would add its start-up to every supervisor.
func byStatus(status int) runtime.Reason {
	switch status {
	case 401, 403:
		return runtime.ReasonAuth
	case 402:
		return runtime.ReasonQuota
	case 429:
		return runtime.ReasonRateLimit
	}
	return ""
}

func byText(message string) runtime.Reason {
	switch {
	case probe.ContainsAny(message, "rate limit", "rate_limit", "too many requests", "resource_exhausted"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(message, "authenticat", "unauthorized", "invalid api key", "incorrect api key", "api key not valid", "api_key_invalid", "api key is missing", "not logged in", "not signed in"):
		return runtime.ReasonAuth
	case probe.ContainsAny(message, "model") && probe.ContainsAny(message, "not found", "not_found", "notfound", "does not exist", "unknown model", "invalid model", "not supported"):
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(message, "unable to connect", "connection error", "connection refused", "fetch failed", "overloaded", "timed out", "econnre", "enotfound", "socket hang up", "network"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// statedStatus reads an HTTP status where it is called one; 0 when there is none.
func statedStatus(message string) int {
	lower := strings.ToLower(message)
	for _, before := range []string{"api error: ", `"code":`, `"status":`, `"statuscode":`, "status code ", "with status ", "http "} {
		_, rest, found := strings.Cut(lower, before)
		if !found {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		end := strings.IndexFunc(rest+".", func(r rune) bool { return r < '0' || r > '9' })
		if status, err := strconv.Atoi(rest[:end]); err == nil && status >= 400 && status < 600 {
			return status
		}
	}
	return 0
}

// StatedDelay reads the wait that the service asked for, as in "retry in 34.5s" or
// "retry after 20", in milliseconds; 0 when none is stated.
func StatedDelay(message string) int64 {
	const day = 24 * time.Hour
	lower := strings.ToLower(message)
	for _, before := range []string{`"retrydelay":"`, "retry in ", "retry after ", "try again in ", "reset after ", `"retry-after":"`} {
		_, rest, found := strings.Cut(lower, before)
		if !found {
			continue
		}
		end := strings.IndexFunc(rest+" ", func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
		number := strings.TrimRight(rest[:end], ".")
		if _, err := strconv.ParseFloat(number, 64); err == nil {
			number += "s"
		}
		if delay, err := time.ParseDuration(number); err == nil && delay > 0 && delay < day {
			return delay.Milliseconds()
		}
	}
	return 0
}
