package engine

import (
	"runtime"
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

// manyJobs are so many that what is made of all of them at once, and dropped, is a good part
// of what the engine takes.
const manyJobs = 100

// clearAway gives back what a step that looks at all jobs has dropped before the next one
// begins: on a busy machine the collector comes too late by itself.
func (r *run) clearAway() {
	if len(r.plan.Jobs) >= manyJobs {
		runtime.GC()
	}
}
