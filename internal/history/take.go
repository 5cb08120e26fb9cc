package history

import (
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// take is what one runtime and model made of a job, over all its attempts at it; or what
// became of a job whoever did it.
type take struct {
	line      *Line
	runtime   string
	model     string
	agent     string
	status    ledger.Status
	reason    runtime.Reason
	attempts  int
	ms        int64
	cost      *float64 // nil = not all attempts reported it
	tokens    *int64
	exec      bool // a plain program, which costs nothing
	concluded bool // the run's verdict is about this work
}

// execRuntime names the one that is no agent.
const execRuntime = "exec"

// all are the attempts of a job, oldest first.
func (l *Line) all() []Attempt {
	last := Attempt{l.Runtime, l.Model, l.Status, l.Reason, l.DurationMs, l.Usage}
	return append(slices.Clone(l.Earlier), last)
}

// takeWhole is what became of the job.
func (l *Line) takeWhole() take {
	t := takeOf(l, l.all())
	t.agent, t.concluded = l.Agent, true
	return t
}

// takes are those of each runtime and model that had a part in the job: one that it
// was moved away from did not do it, whoever did after that.
func (l *Line) takes() (out []take) {
	all := l.all()
	type who struct{ runtime, model string }
	var order []who
	by := map[who][]Attempt{}
	for _, a := range all {
		w := who{a.Runtime, a.Model}
		if by[w] == nil {
			order = append(order, w)
		}
		by[w] = append(by[w], a)
	}
	for _, w := range order {
		t := takeOf(l, by[w])
		if w == (who{l.Runtime, l.Model}) {
			last := all[len(all)-1]
			t.status, t.reason, t.agent, t.concluded = last.Status, last.Reason, l.Agent, true
		}
		out = append(out, t)
	}
	return out
}

// takeOf sums attempts up. The last one decides.
func takeOf(l *Line, all []Attempt) take {
	last := all[len(all)-1]
	t := take{
		line: l, runtime: last.Runtime, model: last.Model, status: last.Status, reason: last.Reason,
		attempts: len(all), exec: last.Runtime == execRuntime, cost: new(float64), tokens: new(int64),
	}
	for _, a := range all {
		t.ms += a.DurationMs
		t.addUsage(a.Usage)
	}
	return t
}

// addUsage adds what an attempt reported; one that did not, or nothing that can be
// meant, makes the sum unknown.
func (t *take) addUsage(u *runtime.Usage) {
	if u == nil || u.CostUSD == nil || *u.CostUSD < 0 {
		t.cost = nil
	} else if t.cost != nil {
		*t.cost += *u.CostUSD
	}
	if u == nil || u.InputTokens == nil || u.OutputTokens == nil || min(*u.InputTokens, *u.OutputTokens) < 0 {
		t.tokens = nil
	} else if t.tokens != nil {
		*t.tokens += *u.InputTokens + *u.OutputTokens
	}
}
