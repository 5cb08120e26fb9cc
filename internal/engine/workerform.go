package engine

import (
	"fmt"
	"strings"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/spec"
)

// The worker form is a run like any other, kept in the folder of its worker run, whose
// tasks get the person's own words and whom nobody reviews.

// createRun makes the run directory: below plans/reports, or in the worker run.
func (p *Plan) createRun(now time.Time) (*ledger.Run, error) {
	if p.Request.Worker != "" {
		return ledger.CreateIn(p.Root, p.Request.Worker)
	}
	return ledger.Create(p.Root, now)
}

// orderTasks says how runtimes are chosen for a task: the coordinator's usual order breaks
// ties, and a model alone is only that of a runtime which says so.
func (p *Plan) orderTasks(in *route.Input) {
	if p.Spec.Worker {
		in.Order, in.Listed = runtime.WorkerOrder(), true
	}
}

// asIs reports whether a job's prompt is the person's own words, with nothing of how work is
// done here.
func asIs(j *spec.Job) bool { return j.Worker != nil && (j.Worker.AsIs || fed(j)) }

// fed reports whether the job is the person's own command for a prompt.
func fed(j *spec.Job) bool { return j.Worker != nil && j.Worker.Command != "" }

// prompted reports whether the job gets a prompt: each agent does, and such a command.
func prompted(j *spec.Job) bool { return !j.Exec() || fed(j) }

// unfit refuses a prompt that does not reach the command in the way that its text names. i
// is the job's place in the spec.
func unfit(i int, j *spec.Job) []spec.Diagnostic {
	if !fed(j) {
		return nil
	}
	if err := exec.TooLong(j.Command, j.Prompt); err != nil {
		return []spec.Diagnostic{{
			Pos: j.Pos, Field: fmt.Sprintf("jobs[%d].worker.command", i), Rule: "prompt-too-long", Message: fmt.Sprintf("%q: %s", j.ID, err),
		}}
	}
	return nil
}

// handedOver is the prompt byte for byte. What other jobs left for it is named after it, and
// then the form of the answer where the engine reads that.
func handedOver(prompt string, got []handed, form string) string {
	if len(got) == 0 && form == "" {
		return prompt
	}
	var b strings.Builder
	b.WriteString(prompt)
	if !strings.HasSuffix(prompt, "\n") {
		b.WriteByte('\n')
	}
	writeHanded(&b, got)
	writeForm(&b, form)
	return b.String()
}

// unlimited says that the most turns which a job asks for hold nobody to anything: its
// runtime has no such limit.
func unlimited(j *spec.Job, r ledger.Route, cmd runtime.Command) []string {
	if j.MaxTurns == 0 || cmd.MaxTurns > 0 || r.Capability == string(policy.NoCapability) {
		return nil
	}
	return []string{fmt.Sprintf("max_turns %d does not hold: %s has no limit of turns that can be asked for", j.MaxTurns, r.Runtime)}
}
