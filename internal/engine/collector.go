package engine

import (
	"runtime/debug"

	"orchestrate/internal/runtime/environ"
)

// whileJobsRun is how far, in percent, memory may grow beyond what is in use while jobs
// run. Reading a spec and telling of a run make far more than they keep, so the program
// begins with less; in between what is kept hardly changes, and looking for the rest more
// often only costs time.
const whileJobsRun = 50

// atEase has the collector take its time until back is called. Who set GOGC has decided.
func (r *run) atEase() (back func()) {
	if environ.Value(r.eng.Env, "GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(whileJobsRun)
	return func() { debug.SetGCPercent(before) }
}
