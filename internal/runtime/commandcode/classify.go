package commandcode

import (
	"regexp"
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
	notFound        = 404
	tooManyRequests = 429
	serverErrors    = 500
)

// statusForm is how the program begins an error of the model's service that it has
// no text of its own for.
var statusForm = regexp.MustCompile(`^Error: (\d{3}) `)

// classify finds the class of an error from its message: the program's own texts,
// one per exit status, or the service's with the HTTP status before it.
func classify(text string) runtime.Reason {
	switch {
	case strings.HasPrefix(text, "Error: --session "):
		return runtime.ReasonSession
	case probe.ContainsAny(text, "insufficient credits", "usage limit", "today's limit", "spend limit", "quota"):
		return runtime.ReasonQuota
	case probe.ContainsAny(text, "not authenticated", "authentication failed", "invalid api key", "has no api key"):
		return runtime.ReasonAuth
	case probe.ContainsAny(text, "rate limit"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(text, "unknown model", "model not in plan"):
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(text, "unable to connect", "api server encountered an error", "failed to process successful response"):
		return runtime.ReasonNetwork
	}
	return byStatus(text)
}

func byStatus(text string) runtime.Reason {
	m := statusForm.FindStringSubmatch(text)
	if m == nil {
		return runtime.ReasonCrash
	}
	status, err := strconv.Atoi(m[1])
	switch {
	case err != nil:
		return runtime.ReasonCrash
	case status == unauthorized:
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
	return runtime.ReasonCrash
}

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
