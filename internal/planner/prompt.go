package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrate/internal/policy"
	"orchestrate/internal/prompts"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Asked is all that a planner is told.
type Asked struct {
	Request  untrusted.Text // request.md
	Form     Form
	Profiles []runtime.Profile
	Internal bool // jobs may go to the hosting session's own agents
	Outline  string
	Before   *Before // nil = it is asked for the first time
}

// Before is an answer that did not hold.
type Before struct {
	Answer   untrusted.Text
	Problems untrusted.Text
}

// floors tells what each task needs of its runtime.
func floors(tasks []string) string {
	by := map[policy.Capability][]string{}
	for _, task := range tasks {
		floor, high := policy.CapabilityFloor(task, "normal"), policy.CapabilityFloor(task, "high")
		if high != floor {
			task += fmt.Sprintf(" (%s when importance is high)", high)
		}
		by[floor] = append(by[floor], task)
	}
	var all []string
	for _, c := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("%s: %s", c, strings.Join(by[c], ", ")))
	}
	return strings.Join(all, "; ")
}

// Prompt is what the planner is asked: its template, filled in. What is fenced was written
// by others, and the request comes last of it.
func Prompt(a Asked) (string, error) {
	return prompts.Fill(prompts.Planner, map[string]string{
		"floors":    floors(a.Form.Tasks),
		"fields":    untrusted.From(a.Form.Fields).Fence("fields"),
		"inventory": untrusted.From(inventory(a.Profiles)).Fence("inventory"),
		"hosted":    hosted(a),
		"workspace": untrusted.From(a.Outline).Fence("workspace"),
		"request":   a.Request.Fence("request"),
		"before":    before(a.Before),
	})
}

// hosted tells which jobs the hosting session's own agents take.
func hosted(a Asked) string {
	const what = " They have no sandbox, cannot be stopped, and take no job with effects outside.\n"
	switch {
	case a.Internal:
		return "\nJobs without a runtime go to the hosting session's own agents (runtime internal) first, where one fits." + what
	case slices.ContainsFunc(a.Profiles, func(p runtime.Profile) bool { return p.Kind == runtime.KindInternal }):
		return "\nThe hosting session's own agents (runtime internal) take only jobs that name that runtime: do so where the request asks for them." + what
	}
	return ""
}

// Bounds in bytes of what is repeated to a planner.
const (
	mostAnswer   = 48 << 10
	mostProblems = 16 << 10
)

// before tells a planner of its own answer that did not hold.
func before(was *Before) string {
	if was == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# Your answer before did not hold\n\nYou have answered this before, and the engine's own validation refused it. Mend what is wrong, keep the rest, and give the whole answer again. What is wrong:\n\n")
	b.WriteString(was.Problems.Through(cutAt(mostProblems)).Fence("problems"))
	b.WriteString("\nYour answer was:\n\n" + was.Answer.Through(cutAt(mostAnswer)).Fence("answer"))
	return b.String()
}

// cutAt leaves the beginning of a text.
func cutAt(most int) func(string) string {
	return func(s string) string {
		if len(s) <= most {
			return s
		}
		return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("\n… %d bytes more are left out\n", len(s)-most)
	}
}
