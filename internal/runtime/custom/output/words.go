package output

import (
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// classify finds the class of a failure in what a program says of it, "" = none of
// the words that programs use for one is there. It is asked only about programs that
// did not complete.
func classify(text string) runtime.Reason {
	for _, class := range [...]struct {
		reason runtime.Reason
		words  []string
	}{
		{runtime.ReasonUnknownFlag, []string{"unknown flag", "unknown option", "unknown argument", "unrecognized option", "unrecognized argument", "flag provided but not defined"}},
		{runtime.ReasonQuota, []string{"quota", "insufficient balance", "insufficient credit", "out of credits", "billing", "payment required"}},
		{runtime.ReasonRateLimit, []string{"rate limit", "rate_limit", "ratelimit", "too many requests"}},
		{runtime.ReasonAuth, []string{
			"unauthorized", "unauthenticated", "not authenticated", "authentication required", "authentication failed", "no auth provided",
			"api key", "api_key", "not logged in", "not signed in", "no providers configured", "please log in",
		}},
		{runtime.ReasonUnknownModel, []string{"unknown model", "model not found", "invalid model", "no such model"}},
		{runtime.ReasonNetwork, []string{
			"econnrefused", "econnreset", "enotfound", "etimedout", "connection refused", "connection reset", "connection error",
			"no such host", "network is unreachable", "network timeout", "network error", "fetch failed", "service unavailable", "bad gateway",
		}},
	} {
		if probe.ContainsAny(text, class.words...) {
			return class.reason
		}
	}
	if probe.ContainsAny(text, "model") && probe.ContainsAny(text, "not found", "does not exist") {
		return runtime.ReasonUnknownModel
	}
	return ""
}
