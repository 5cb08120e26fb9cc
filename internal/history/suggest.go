package history

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"orchestrate/internal/figure"
)

// Enough is the least number of comparable jobs on each side before anything is
// suggested.
const Enough = 30

// roomy is how many times p90 a timeout is before it is called long.
const roomy = 10

// mostSuggestions bounds them: who compares enough groups finds a difference somewhere.
const mostSuggestions = 5

// Declared is a timeout that a spec gives jobs of a task.
type Declared struct {
	Runtime, Model, Task string
	Timeout              time.Duration
}

// Suggest says in words what groups (by runtime, model and task) show beyond chance: of
// the same task one succeeds clearly more often than another, or takes far less time than
// it is given. It is for a person; nothing in this program acts on it. about says which
// groups are of interest, nil = all.
func Suggest(groups []Group, declared []Declared, about func(Group) bool) []string {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g Group) bool { return !g.comparable() })
	out := append(contrasts(groups, about), roominess(groups, declared)...)
	return out[:min(len(out), mostSuggestions)]
}

// comparable reports whether a group is of enough jobs of one known agent.
func (g Group) comparable() bool {
	return g.N >= Enough && g.Rate != nil && g.Runtime != nil && g.Model != nil && g.Task != nil &&
		*g.Runtime != execRuntime && *g.Model != "" && *g.Task != ""
}

// contrasts compares, per task, the one that is surest to succeed with all others whose
// interval ends below the beginning of its own.
func contrasts(groups []Group, about func(Group) bool) (out []string) {
	best := map[string]Group{}
	for _, g := range groups {
		if b, ok := best[*g.Task]; !ok || *g.Low > *b.Low {
			best[*g.Task] = g
		}
	}
	for _, task := range slices.Sorted(maps.Keys(best)) {
		b := best[task]
		for _, g := range groups {
			if *g.Task != task || *g.High >= *b.Low || about != nil && !about(b) && !about(g) {
				continue
			}
			out = append(out, fmt.Sprintf("for task %s, %s succeeded in %s and %s in %s%s: the intervals do not overlap",
				task, b.who(), b.rate(), g.who(), g.rate(), g.mostly()))
		}
	}
	return out
}

// roominess names timeouts that are far longer than nine of ten successful jobs took.
func roominess(groups []Group, declared []Declared) (out []string) {
	for _, d := range declared {
		for _, g := range groups {
			if *g.Runtime != d.Runtime || *g.Model != d.Model || *g.Task != d.Task || g.took == nil || g.took.N < Enough {
				continue
			}
			p90 := time.Duration(g.took.P90) * time.Millisecond
			if d.Timeout < roomy*p90 || d.Timeout <= time.Minute {
				continue
			}
			text := fmt.Sprintf("for task %s, nine of ten of the %d successful jobs of %s took at most %s, and the timeout is %s: a shorter one would end a hang sooner",
				d.Task, g.took.N, g.who(), figure.Took(p90), figure.Took(d.Timeout))
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

func (g Group) who() string { return *g.Runtime + " with model " + *g.Model }

func (g Group) rate() string {
	return fmt.Sprintf("%d of %d jobs (95 %% Wilson interval %s)", g.Succeeded, g.N, g.Interval())
}

// Interval is the rate's in whole percent; "" where there is none.
func (g Group) Interval() string {
	if g.Low == nil {
		return ""
	}
	return fmt.Sprintf("%.0f-%.0f %%", *g.Low*100, *g.High*100)
}

// mostly names the most frequent reason of what did not succeed.
func (g Group) mostly() string {
	top, n := "", 0
	for _, reason := range slices.Sorted(maps.Keys(g.Reasons)) {
		if g.Reasons[reason] > n {
			top, n = reason, g.Reasons[reason]
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", most often for %s (%d)", top, n)
}
