package handoff

import "orchestrate/internal/runtime"

// Runtime is the name by which a spec pins the hosting session's own agents.
const Runtime = runtime.Internal

// Stated is the level of proof that a job has ended which the hosting session carried out:
// its own word.
const Stated = "stated"

// NextCommand is what to type to be given a job of a run.
func NextCommand(run string) string { return "orchestrate next " + run + " --wait 50s --json" }

// SubmitCommand is what to type to hand in the result of an attempt.
func SubmitCommand(run, job, attempt string) string {
	return "orchestrate submit " + run + " " + job + " --attempt " + attempt + " --result FILE"
}
