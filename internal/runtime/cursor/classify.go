package cursor

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/untrusted"
)

// classify finds the class of an error from its message. Only few are published.
func classify(text string) runtime.Reason {
	switch {
	case probe.ContainsAny(text, "usage limit", "quota", "spend limit"):
		return runtime.ReasonQuota
	case probe.ContainsAny(text, "authentication required", "not logged in", "unauthenticated", "invalid api key"):
		return runtime.ReasonAuth
	case probe.ContainsAny(text, "cannot use this model"):
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(text, "rate limit", "resource_exhausted"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(text, "econnre", "enotfound", "getaddrinfo", "fetch failed", "timed out", "[unavailable]"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// startFailure classifies a line of standard error that says why the program does
// not start or gives up, and is "" for any other line.
func startFailure(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, "error: unknown option"):
		return runtime.ReasonUnknownFlag
	case strings.Contains(text, "Workspace Trust Required"):
		return runtime.ReasonPermission
	case strings.HasPrefix(text, "Error:"), strings.HasPrefix(text, "Authentication required"),
		strings.HasPrefix(text, "Cannot use this model"), strings.HasPrefix(text, "ActionRequiredError:"),
		strings.HasPrefix(text, "ConnectError:"):
		return classify(text)
	}
	return ""
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
