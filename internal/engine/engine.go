// Package engine tells the story of a run: Read reads and orders, Plan also probes and
// routes; Run and Resume dispatch, judge and report. Each step is a room of its own;
// this package only calls them in order and hands one's result to the next.
package engine

import (
	"context"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox"
)

// Engine is what stays the same for every run of this process.
type Engine struct {
	Adapters []runtime.Adapter
	Host     runtime.Host // how probes reach the machine
	// Supervisor starts the process that will own an attempt's tree.
	Supervisor func(context.Context) (Supervisor, error)
	Operator   policy.Operator
	// Sandbox tests, live, what this host's sandbox enforces; nil = nothing is.
	Sandbox func(context.Context) sandbox.Level
	Self    string   // absolute path of this program, which serves as Go's build cache in a sandbox; "" = it does not
	Env     []string // this process's environment; jobs get a part of it
	Home    string   // of the account, as the system knows it, whatever HOME says; "" = not known
	Now     func() time.Time
}

// Request says what a person asked for.
type Request struct {
	Spec     string // path
	Cwd      string // absolute
	Rehearse bool   // the stand-in replaces every agent
	Script   string // of the stand-in; "" = it rehearses without one
	Internal bool   // the hosting session's own agents are candidates for unpinned jobs
	// Agents is what a hosting session said of its own agents; nil = none told us.
	Agents *handoff.Agents
	// Worker is the worker run, absolute, that the spec was written for and that keeps the run;
	// "" = none.
	Worker string
	Yes    bool // the person approves what stands in the spec, without being asked
}

// Observer is told how a run goes, in this order: where it is, what was planned, and
// every record once it is in the ledger.
type Observer struct {
	Begun   func(runID, dir string)
	Planned func(*Plan)
	Record  func(ledger.Record)
}

// Controls are what a person can still do to a run under way, beside ending its
// context: that stops what runs politely; and how they are asked.
type Controls struct {
	Kill  <-chan struct{} // closed: what runs gets no more grace
	Leave <-chan struct{} // closed: this engine goes, what runs goes on
	// Left ends the process once the ledger is safe after Leave.
	Left func()
	// Ask puts a question to a person; nil = nobody can be asked. It returns when ctx ends.
	Ask func(context.Context, Question) Answer
}

// Result is a run that has ended.
type Result struct {
	Dir        string   // absolute
	Completion string   // the completion block
	NextSteps  []string // what a person can do now, a line each; files are named from Dir
	Exit       int      // exit status, see ExitOK and those beside it
}

// Ending is how a run came to its end.
type Ending string

// The ways a run ends.
const (
	EndedWhole       Ending = ""            // everything that could settle has settled
	EndedInterrupted Ending = "interrupted" // by the person
	EndedWall        Ending = "wall"        // the wall budget
)

func (e *Engine) adapter(name string) (runtime.Adapter, bool) {
	for _, a := range e.Adapters {
		if a.Name() == name {
			return a, true
		}
	}
	return nil, false
}

// names are those of all runtimes.
func (e *Engine) names() (all []string) {
	for _, a := range e.Adapters {
		all = append(all, a.Name())
	}
	return append(all, runtime.Internal)
}

// environments says which part of our environment the processes of each runtime
// get, by name.
func (e *Engine) environments(profiles []runtime.Profile) map[string]ledger.Environment {
	all := map[string]ledger.Environment{}
	for _, p := range profiles {
		a, ok := e.adapter(p.Runtime)
		if !ok {
			continue
		}
		_, passed, withheld := environ.Filter(e.Env, a.SignInEnv(), nil)
		all[p.Runtime] = ledger.Environment{Passed: append([]string{}, passed...), Withheld: append([]string{}, withheld...)}
	}
	return all
}
