package history

import (
	"slices"
	"time"
)

// Filter is what a person wants to see; what is empty lets everything through.
type Filter struct {
	Runtimes []string   `json:"runtime"`
	Models   []string   `json:"model"`
	Agents   []string   `json:"agent"`
	Tasks    []string   `json:"task"`
	Runs     []string   `json:"run"`
	Statuses []string   `json:"status"`
	Reasons  []string   `json:"reason"`
	Verdicts []string   `json:"verdict"`
	Since    *time.Time `json:"since"`
}

func (f Filter) lets(t take) bool {
	for _, c := range []struct {
		wanted []string
		is     string
	}{
		{f.Runtimes, t.runtime},
		{f.Models, t.model},
		{f.Agents, t.agent},
		{f.Tasks, t.line.Task},
		{f.Runs, t.line.RunID},
		{f.Statuses, string(t.status)},
		{f.Reasons, string(t.reason)},
		{f.Verdicts, t.line.Verdict},
	} {
		if len(c.wanted) > 0 && !slices.Contains(c.wanted, c.is) {
			return false
		}
	}
	return f.Since == nil || !t.line.At.Before(*f.Since)
}

// byOutcome reports whether it asks for jobs that ended in some way: how many of those
// succeeded says nothing.
func (f Filter) byOutcome() bool { return len(f.Statuses)+len(f.Reasons)+len(f.Verdicts) > 0 }

// byRuntime reports whether it asks for a runtime's own part in a job.
func (f Filter) byRuntime() bool { return len(f.Runtimes)+len(f.Models) > 0 }
