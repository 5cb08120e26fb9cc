package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/check"
	"orchestrate/internal/gate"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// Nothing fails and nothing is blocked without a next step for a person. What a
// block can say of itself is better than what is here; this is the table for all
// else. Files are named from the run directory.

// trouble is what a next step may have to name.
type trouble struct {
	job    *spec.Job
	status ledger.JobStatus
	signIn string           // what the runtime's newest profile says to do; "" = nothing
	until  time.Time        // its runtime gets no jobs before that; zero = that is not known
	run    string           // id of the run
	denied []untrusted.Text // what the sandbox refused its newest attempt
	draft  bool             // the run made a spec from a request: see draftStep
	files  handoff.Files    // of the run: they name the attempt that the hosting session may have
}

// maxEvidence bounds what a next step quotes, in characters.
const maxEvidence = 300

// again is for what only a changed spec can mend.
const again = ", then run the spec again"

// resume is the command that does the job again in this run. The arbiter is asked again
// by any; --retry-failed would have failed jobs done once more, too.
func (t trouble) resume() string {
	command := "orchestrate resume " + t.run
	if t.status.Status == ledger.Failed && t.status.Reason != runtime.ReasonQuota && t.status.ID != ledger.ArbiterJob {
		command += " --retry-failed"
	}
	return "`" + command + "`"
}

// then is for what is mended outside the spec.
func (t trouble) then() string { return ", then " + t.resume() }

// nextStep is what a person can do about a job that did not succeed.
func (t trouble) nextStep() string {
	if t.draft {
		return t.draftStep()
	}
	return t.step()
}

func (t trouble) step() string {
	if p := t.status.Proof; p != nil && !p.Gone {
		if p.Level == handoff.Stated {
			return statedStep(t.files, t.run, t.status.ID)
		}
		return "end what is left of its processes (" + t.file(ledger.ExitFile) + " lists them)" + t.then()
	}
	for _, table := range []func() string{t.aboutSession, t.aboutRuntime, t.aboutLimits, t.aboutWork, t.aboutPattern, t.aboutBlock} {
		if step := table(); step != "" {
			return step + t.refused()
		}
	}
	return "see " + t.file(ledger.StatusFile) + t.then() + t.refused()
}

// refused is the hint at the sandbox, for a job that failed.
func (t trouble) refused() string {
	if t.status.Status != ledger.Failed {
		return ""
	}
	return refusedHint(t.denied)
}

func (t trouble) file(name string) string { return ledger.JobPath(t.status.ID, name) }

// evidence is the line kept with the reason, as data.
func (t trouble) evidence() string {
	return t.status.ReasonEvidence.Line(maxEvidence)
}

// aboutRuntime is for what the runtime itself could not do.
func (t trouble) aboutRuntime() string {
	name := t.status.Runtime
	switch t.status.Reason {
	case runtime.ReasonRateLimit:
		return t.resume() + t.back(" after %s", " later") + t.retrying("; `retry: {max_attempts: 3, backoff: 1m, on: [rate_limit]}` waits by itself") + "; or name another runtime" + t.whereToName()
	case runtime.ReasonQuota:
		return fmt.Sprintf("%s when the quota of %s is back%s (%s), or name another runtime%s", t.resume(), name, t.back(", after %s", ""), t.evidence(), t.whereToName())
	case runtime.ReasonNetwork:
		return "see " + t.file(ledger.StderrFile) + ", check the network and the proxy variables" + t.then() + t.retrying("; `retry: {max_attempts: 3, on: [network]}` tries again by itself")
	case runtime.ReasonCrash:
		return "see " + t.file(ledger.StderrFile) + " and " + t.file(ledger.StdoutFile) + " for what went wrong" + t.then()
	case runtime.ReasonSpawn:
		return "put right what kept it from starting (" + t.evidence() + ")" + t.then()
	case runtime.ReasonAuth:
		if t.signIn != "" {
			return t.signIn
		}
		return "sign in to " + name + " again (`orchestrate doctor` shows whether that worked)" + t.then()
	case runtime.ReasonUnknownModel:
		return "choose one of the models that `orchestrate doctor --json` lists for " + name + ", or leave model out" + again
	case runtime.ReasonUnknownFlag:
		return "type `orchestrate doctor` to see which " + name + " this is; update it or name another runtime" + again
	case runtime.ReasonModelMismatch:
		return fmt.Sprintf("leave model out, or pin the model that answers (%s)%s", cmp.Or(t.status.ObservedModel, "it did not say which"), again)
	}
	return ""
}

// back says when the runtime takes jobs again, as it said itself; unknown is for when
// it did not.
func (t trouble) back(known, unknown string) string {
	at := t.until
	if ended := t.status.EndedAt; at.IsZero() && ended != nil {
		at, _ = policy.ResetTime(t.status.ReasonEvidence, ended.Local(), time.LoadLocation)
	}
	if at.IsZero() {
		return unknown
	}
	return fmt.Sprintf(known, pointInTime(at))
}

// whereToName says where the spec takes a second runtime; "" when it has one there.
func (t trouble) whereToName() string {
	switch {
	case t.status.ID == ledger.ArbiterJob:
		return " under arbiter"
	case len(t.job.Fallbacks) > 0:
		return ""
	}
	return " in fallback_runtime"
}

// retrying is a hint at retry, "" where the job lists its failure there already or, as
// the arbiter, has no such field.
func (t trouble) retrying(hint string) string {
	listed := t.job.Retry.MaxAttempts > 1 && slices.Contains(t.job.Retry.On, string(t.status.Reason))
	if listed || t.status.ID == ledger.ArbiterJob {
		return ""
	}
	return hint
}

// aboutLimits is for what the spec's limits or a person ended.
func (t trouble) aboutLimits() string {
	switch t.status.Reason {
	case runtime.ReasonTimeout:
		return fmt.Sprintf("raise its timeout (now %s), or see in %s and %s what it was doing", t.job.Timeout, t.file(ledger.StdoutFile), t.file(ledger.EventsFile))
	case runtime.ReasonFirstOutput:
		return fmt.Sprintf("raise first_output_timeout (now %s) or leave it out, and see %s", t.job.FirstOutputTimeout, t.file(ledger.StderrFile))
	case runtime.ReasonBudget:
		return t.resume() + " goes on with the budget counted anew; or raise it in the spec" + again
	case runtime.ReasonCancelled:
		return t.resume() + " goes on with it"
	case runtime.ReasonCutOff:
		return "it was cut off (" + t.evidence() + "): " + t.resume() + " goes on with it"
	case runtime.ReasonPermission:
		return "it was refused something (" + t.evidence() + "): allow the tool in allowed_tools, give the job an effect that covers it, or word the prompt so that it is not needed"
	}
	return ""
}

// aboutWork is for what the engine found in the work.
func (t trouble) aboutWork() string {
	switch t.status.Reason {
	case runtime.ReasonNoCompletion:
		return "see " + t.file(ledger.StdoutFile) + " and " + t.file(ledger.StderrFile) + ": it ended without saying that it was done"
	case runtime.ReasonEmptyOutput:
		return "see " + t.file(ledger.EventsFile) + " for what it did, and ask in the prompt for a final answer"
	case runtime.ReasonMissingOutput:
		if t.job.Exec() {
			return "see " + t.file(ledger.StdoutFile) + " and " + t.file(ledger.StderrFile) + " for what it did; let its command write the file, or take it out of outputs"
		}
		return "see " + t.file(ledger.OutputFile) + " for what it says it did; ask for the file by name in the prompt, or take it out of outputs"
	case runtime.ReasonCheckFailed:
		return "see " + strings.Join(t.failedChecks(), ", ")
	case runtime.ReasonOwnership:
		if strings.Contains(t.evidence(), inSubmodule) {
			return "its work is kept in its tree; have that done by a run from inside the submodule (cd SUBMODULE && orchestrate run SPEC), or say in the prompt that it must stay as it is"
		}
		if step := t.aboutTrespass(); step != "" {
			return step
		}
		return "see " + t.file(ledger.PatchFile) + "; widen owned_paths, or say in the prompt what must stay as it is"
	case runtime.ReasonWroteObserving:
		return "look at what it changed (" + t.evidence() + ") and undo what you do not want; a job that is to write needs an effect such as scoped-write; if you changed that yourself meanwhile, " + t.resume() + " does the job again"
	case runtime.ReasonInjectedSecret:
		return "keep the secret out of its reach; if it is none, put the fingerprint that the reason names under secrets.allow in the operator's configuration" + again + t.secretKept()
	}
	return ""
}

// failedChecks are the files with the output of the checks that did not pass.
func (t trouble) failedChecks() (files []string) {
	for _, c := range t.status.Checks {
		if !check.OK(c) {
			files = append(files, cmp.Or(c.Output, c.Name))
		}
	}
	if files == nil {
		files = append(files, t.file(ledger.ChecksDir)+" ("+t.evidence()+")") // what they did, not how they ended
	}
	return files
}

// aboutBlock is for jobs that never began, where the block said nothing itself.
func (t trouble) aboutBlock() string {
	switch t.status.Reason {
	case runtime.BlockedDependency:
		return "see to the job that it waits for (" + t.evidence() + ")" + t.then()
	case runtime.BlockedNoRoute, runtime.BlockedCapability, runtime.BlockedRiskControls, runtime.BlockedIndependence:
		return "type `orchestrate doctor` to see what can take jobs here, and `orchestrate plan SPEC` for why none takes this one"
	case runtime.BlockedTreeUnproven:
		return "look at what still runs (" + t.evidence() + "), end it" + t.then()
	case runtime.BlockedApproval:
		return gate.AskUser
	case runtime.BlockedNoAnswer:
		return t.resume() + " asks it once more and keeps the jobs' work (" + t.file(ledger.OutputFile) + " is what it answered); or name another runtime or model under arbiter" + again
	case "":
		return "it did not begin: " + t.resume() + " goes on with it"
	}
	return ""
}

// nextStepOf is the next step of one job, "" when nothing is amiss.
func (r *run) nextStepOf(j *jobRun) string {
	switch {
	case j.status == nil:
		return r.queuedStep(j)
	case j.status.Status.Well():
		return ""
	case j.next != "":
		return j.next
	}
	t := r.troubleOf(j.planned.Job, *j.status)
	t.denied = j.denied
	return t.nextStep()
}

func (r *run) troubleOf(job *spec.Job, s ledger.JobStatus) trouble {
	until, _ := (*backend)(r).Held(s.Runtime)
	return trouble{job: job, status: s, signIn: r.profile(s.Runtime).NextStep, until: until, run: r.led.ID, draft: NoFurther(r.led) != nil, files: r.led}
}

// queuedStep says why a job did not begin, as far as that is known.
func (r *run) queuedStep(j *jobRun) string {
	for i := range r.plan.Jobs {
		o := r.jobs[r.plan.Jobs[i].Job.ID]
		if o.status != nil && o.status.Reason == runtime.ReasonQuota && o.status.Runtime == j.route.Runtime {
			return r.troubleOf(j.planned.Job, *o.status).nextStep()
		}
	}
	t := trouble{job: j.planned.Job, run: r.led.ID}
	if why := r.heldByBudget(); why != "" {
		return "it did not begin, because " + why + "; " + t.resume() + " goes on with the budget counted anew"
	}
	name := j.route.Runtime
	switch until, held := (*backend)(r).Held(name); {
	case held && until.IsZero():
		return fmt.Sprintf("it did not begin, because %s is out of quota: %s when that is back, or name another runtime%s", name, t.resume(), t.whereToName())
	case until.After(r.eng.Now()):
		return fmt.Sprintf("it did not begin, because %s gets no jobs until %s: %s after that goes on with it", name, pointInTime(until), t.resume())
	}
	return t.nextStep()
}

// verdictStep is what a person can do about a verdict of fail or blocked; "" when
// the jobs' own next steps say it all.
func (r *run) verdictStep(j ledger.Judgement) string {
	n := len(r.arbiters)
	switch {
	case j.Verdict == arbiter.Fail && len(j.Why) > 0:
		return "see " + ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile) + "; its first reason: " + untrusted.From(j.Why[0]).Line(maxEvidence)
	case j.Verdict != arbiter.Blocked || r.early(context.Background()) != "":
		return ""
	case r.arbiterNext != "":
		return r.arbiterNext
	case r.plan.Arbiter.Block != nil:
		return r.plan.Arbiter.Block.NextStep
	case n > 0 && r.arbiters[n-1].Status != ledger.Success:
		return r.troubleOf(r.plan.Arbiter.Job, r.arbiters[n-1]).nextStep()
	case n > 0:
		return "settle what it leaves open: " + ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile) + " says what, " +
			ledger.JobPath(ledger.ArbiterJob, ledger.EvidenceFile) + " is what it was shown"
	}
	return ""
}

// nextSteps are those of the whole run, one line each. Jobs with the same step
// share a line; a job that waits for another is told with that one.
func (r *run) nextSteps(verdict string) []string {
	var steps []string
	ids := map[string][]string{}
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		step := r.nextStepOf(j)
		if step == "" || j.status != nil && j.status.Reason == runtime.BlockedDependency {
			continue
		}
		if ids[step] == nil {
			steps = append(steps, step)
		}
		ids[step] = append(ids[step], j.planned.Job.ID)
	}
	for i, step := range steps {
		steps[i] = some(ids[step]) + ": " + step
	}
	steps = shortened(steps)
	if verdict != "" {
		steps = append(steps, "verdict: "+verdict)
	}
	for i := range steps {
		steps[i] = r.redact.String(steps[i])
	}
	return steps
}

// mostSteps bounds the jobs' next steps after a run, so that its result is on the screen.
const mostSteps = 10

// shortened is that many of the jobs' steps, and where the rest is.
func shortened(steps []string) []string {
	n := len(steps) - mostSteps
	if n <= 0 {
		return steps
	}
	return append(steps[:mostSteps:mostSteps], fmt.Sprintf("and %d more: see %s", n, ledger.ReportFile))
}

// takeOver is the step after a run whose work waits for somebody.
func takeOver(rep report.Report) []string {
	command := rep.Integrate()
	if command == "" {
		return nil
	}
	var ids []string
	for _, p := range rep.Patches {
		if !p.Applied {
			ids = append(ids, p.Job)
		}
	}
	return []string{some(ids) + ": `" + command + "` shows what changed and brings it onto your branch"}
}
