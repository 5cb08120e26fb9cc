package opencode

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/untrusted"
)

// classify finds the class of an error event: by what it says about quotas, by
// the HTTP status, by the error's name, then by the message.
func classify(f failure) runtime.Reason {
	message := f.Data.Message
	if probe.ContainsAny(message, "insufficient_quota", "exceeded your current quota", "quota exceeded", "usage limit", "credit balance", "billing") {
		return runtime.ReasonQuota
	}
	if why := byStatus(f.Data.Status); why != "" {
		return why
	}
	switch {
	case f.Name == "ProviderAuthError", probe.ContainsAny(message, "api key is missing", "incorrect api key", "invalid api key"):
		return runtime.ReasonAuth
	case f.Name == "ProviderModelNotFoundError":
		return runtime.ReasonUnknownModel
	case probe.ContainsAny(message, "rate limit", "too many requests"):
		return runtime.ReasonRateLimit
	case probe.ContainsAny(message, "unable to connect", "connection", "econnre", "enotfound", "timed out", "socket", "network"):
		return runtime.ReasonNetwork
	}
	return runtime.ReasonCrash
}

// byStatus is "" for a status that says nothing. net/http has names for them and
// would add its start-up to every supervisor.
func byStatus(status int) runtime.Reason {
	switch {
	case status == 401, status == 403:
		return runtime.ReasonAuth
	case status == 402:
		return runtime.ReasonQuota
	case status == 404:
		return runtime.ReasonUnknownModel
	case status == 429:
		return runtime.ReasonRateLimit
	case status >= 500:
		return runtime.ReasonNetwork
	}
	return ""
}

// statedDelay is the wait that the service asked for, in ms; 0 when none is stated.
func statedDelay(f failure) int64 {
	const day = 24 * 60 * 60 * 1000
	for _, header := range []struct {
		name string
		ms   float64
	}{{"retry-after-ms", 1}, {"retry-after", 1000}} {
		n, err := strconv.ParseFloat(f.Data.Headers[header.name], 64)
		if delay := n * header.ms; err == nil && delay > 0 && delay < day {
			return int64(delay)
		}
	}
	return 0
}

// Beginnings of the error of a refused tool use: nobody was there to be asked, or
// a rule refuses it. They are anchored, since what a tool printed must not look
// like a refusal.
const (
	saidRejected = "The user rejected permission to use this specific tool call"
	saidRule     = "The user has specified a rule which prevents you from using this specific tool call"
)

// refused cuts what was asked for and refused out of the notice that names it.
func refused(text string) (boundary string, ok bool) {
	text, ok = strings.CutPrefix(text, "! permission requested: ")
	boundary, found := strings.CutSuffix(text, "; auto-rejecting")
	return boundary, ok && found
}

// refusing shortens the error of a use that a rule refuses to the rules that may
// have done it. It lists everything that bears on the tool, and what is said last
// decides: so what was refused before a refusal of everything does not matter.
func refusing(said string) string {
	_, list, _ := strings.Cut(said, "relevant rules ")
	var rules table
	if json.Unmarshal([]byte(list), &rules) != nil {
		var only rule // kilo names one without a list around it
		if json.Unmarshal([]byte(list), &only) != nil {
			return said
		}
		rules = table{only}
	}
	var parts []string
	for _, r := range rules {
		if r == (rule{permAll, everything, deny}) {
			parts = nil
		}
		if r.Action == deny {
			parts = append(parts, fmt.Sprintf("%s %q", r.Permission, r.Pattern))
		}
	}
	if len(parts) == 0 {
		return said
	}
	return "refused by a rule for " + strings.Join(parts, ", ")
}

// startFailure classifies a line of standard error that says why the program
// does not start or does not do what was asked, and is "" for any other line. An
// unknown flag is answered with the whole help and no reason.
func startFailure(name, text string) runtime.Reason {
	switch {
	case text == usageLine(name), strings.HasPrefix(text, "! agent ") && strings.Contains(text, "Falling back"):
		return runtime.ReasonUnknownFlag
	case strings.HasPrefix(text, "Error: Session not found"):
		return runtime.ReasonSession
	case strings.HasPrefix(text, "Error:"):
		var f failure
		f.Data.Message = text
		return classify(f)
	}
	return ""
}

// plain takes terminal colours out of a text.
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

func clip(s string) untrusted.Text {
	return untrusted.From(probe.Bounded(strings.TrimSpace(s), evidenceLimit))
}
