package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
)

// Build makes the report.
func Build(in Input) Report {
	s := in.State
	r := Report{
		SchemaVersion: ledger.SchemaVersion, RunID: s.RunID, RunDir: in.RunDir, SpecPath: in.SpecPath,
		SpecDigest: s.SpecDigest, Base: s.Base, Standing: cmp.Or(in.Standing, Ended), Verdict: s.Verdict, ExitStatus: s.ExitStatus, Planned: in.Planned,
		StartedAt: s.StartedAt, EndedAt: s.EndedAt, Judgement: in.Judgement,
		Approvals: orEmpty(in.Approvals), KeptTrees: orEmpty(in.KeptTrees), Notes: orEmpty(in.Notes), Suggestions: orEmpty(in.Suggestions), Budget: in.Budget,
		Jobs: make([]Job, 0, len(s.Jobs)), Patches: patches(in), Reproduce: reproduce(in), Unresolved: []string{},
	}
	end := in.Now
	if s.EndedAt != nil {
		end = *s.EndedAt
	}
	r.asOf = end
	r.DurationMs = max(0, end.Sub(s.StartedAt).Milliseconds()) // the clock may have been set back
	for _, j := range s.Jobs {
		r.addJob(in, j)
	}
	r.addArbiter(in)
	if j := in.Judgement; j != nil {
		r.Unresolved = lines(j.UnresolvedQuestions)
		r.Rehearsal = r.Rehearsal || j.Rehearsal
		if r.Verdict == "" {
			r.Verdict = j.Verdict
		}
	}
	switch {
	case r.interim():
		r.Verdict, r.ExitStatus, r.EndedAt = "", nil, nil
		r.stopping = !s.Stopping.Empty()
	case r.Verdict == "":
		r.Verdict = arbiter.Blocked // a run that nobody judged
	}
	r.Rehearsal = r.Rehearsal || r.Verdict == arbiter.Rehearsal
	r.NeedsPerson = needsPerson(r, in)
	r.Block = r.block()
	return r
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// addJob takes a job in and counts it.
func (r *Report) addJob(in Input, j ledger.JobState) {
	st, ok := in.Jobs[j.ID]
	if !ok {
		st = unstarted(j)
	}
	job := Job{Status: st, Earlier: orEmpty(in.Earlier[j.ID]), NextStep: in.NextSteps[j.ID], After: orEmpty(in.After[j.ID]), Dir: in.Dirs[j.ID]}
	if answer := ledger.JobPath(j.ID, ledger.OutputFile); (st.Attempts > 0 || in.Patterns[j.ID].Gathers && st.Status.Settled()) && in.exists(answer) {
		job.Answer = answer
	}
	if s, ok := in.Sessions[j.ID]; ok {
		job.Session = &s
	}
	if p, ok := in.Patterns[j.ID]; ok {
		job.Pattern = &p
	}
	job.Continues = in.Continues[j.ID]
	r.Jobs = append(r.Jobs, job)
	r.Rehearsal = r.Rehearsal || st.Rehearsal
	r.Totals.add(job)
	for _, c := range st.Checks {
		r.Checks.add(c.Status)
	}
	for _, a := range append([]ledger.JobStatus{st}, job.Earlier...) {
		r.Usage.add(a)
	}
}

// addArbiter takes in the arbiter's own attempts. It is no job of the spec, so
// only its cost counts.
func (r *Report) addArbiter(in Input) {
	n := len(in.Arbiter)
	if n == 0 {
		return
	}
	r.Arbiter = &Job{After: []string{}, Status: in.Arbiter[n-1], Earlier: orEmpty(in.Arbiter[: n-1 : n-1])}
	if answer := ledger.JobPath(ledger.ArbiterJob, ledger.OutputFile); in.exists(answer) {
		r.Arbiter.Answer = answer
	}
	for _, a := range in.Arbiter {
		r.Usage.add(a)
	}
}

// rows are the jobs that were needed, those that are alike told once, and, last, the arbiter
// where it was asked.
func (r Report) rows() []Job {
	jobs := alike(r.needed())
	if r.Arbiter == nil {
		return jobs
	}
	return append(jobs[:len(jobs):len(jobs)], *r.Arbiter)
}

// unstarted is the status of a job that has no status.json yet.
func unstarted(j ledger.JobState) ledger.JobStatus {
	return ledger.JobStatus{
		SchemaVersion: ledger.SchemaVersion, ID: j.ID, Status: j.Status, Reason: j.Reason, ReasonEvidence: j.Evidence,
		Runtime: j.Runtime, Model: j.Model, Attempts: j.Attempt, StartedAt: j.StartedAt, EndedAt: j.EndedAt,
	}
}

func (in Input) exists(rel string) bool { return in.Exists == nil || in.Exists(rel) }

func (t *Totals) add(j Job) {
	s := j.Status.Status
	switch {
	case s == ledger.Skipped:
		t.Skipped++
		return
	case j.gathers():
		if s == ledger.Failed || s == ledger.Blocked {
			t.Unmet++
		}
		return
	}
	t.Total++
	switch s {
	case ledger.Success:
		t.Succeeded++
	case ledger.Failed:
		t.Failed++
	case ledger.Blocked:
		t.Blocked++
	case ledger.Interrupted:
		t.Interrupted++
	default:
		t.Queued++
	}
}

func (c *Checks) add(status string) {
	switch status {
	case check.Passed:
		c.Passed++
	case check.Failed:
		c.Failed++
	case check.TimedOut:
		c.Timeout++
	case check.ForArbiter:
		c.ForArbiter++
	case check.Scripted:
		c.Scripted++
	default:
		c.NotRun++
	}
}

// add counts one attempt. A plain program uses no model, so it has no unknown
// usage either.
func (u *Usage) add(a ledger.JobStatus) {
	if a.Attempts == 0 || a.Runtime == "exec" {
		return
	}
	if a.Usage == nil {
		if a.Status == ledger.Running || a.Status == ledger.Awaiting {
			u.running++
		} else {
			u.UnknownJobs++
		}
		return
	}
	sum(&u.Known.InputTokens, a.Usage.InputTokens)
	sum(&u.Known.OutputTokens, a.Usage.OutputTokens)
	sum(&u.Known.CostUSD, a.Usage.CostUSD)
}

func sum[N int64 | float64](total **N, n *N) {
	if n == nil {
		return
	}
	v := *n
	if *total != nil {
		v += **total
	}
	*total = &v
}

// patches fills in how each patch that is there is applied, or undone where it
// is in the checkout already.
func patches(in Input) []Patch {
	all := []Patch{}
	for _, p := range in.Patches {
		if !in.exists(p.Path) {
			continue
		}
		if p.Applied {
			p.Undo = in.integrate("apply -R", p)
		} else {
			p.Apply = in.integrate("apply", p)
		}
		all = append(all, p)
	}
	return all
}

// integrate is the command that applies a patch or undoes it: from the file, or
// from the commit where the file is only a copy to read.
func (in Input) integrate(verb string, p Patch) string {
	if !p.DisplayOnly {
		return in.gitApply(verb, p.Path)
	}
	git := "git"
	if in.GitTop != "" && in.GitTop != "." {
		git = "git -C " + quote(in.GitTop)
	}
	return fmt.Sprintf("%s diff --binary %s %s | %s %s", git, quote(p.Base), quote(p.Commit), git, verb)
}

func (in Input) gitApply(verb, patch string) string {
	file := path.Join(in.RunDir, patch)
	if in.GitTop == "" || in.GitTop == "." {
		return "git " + verb + " " + quote(file)
	}
	// git skips what lies outside the folder it is called in
	return fmt.Sprintf("git -C %s %s \"$PWD\"/%s", quote(in.GitTop), verb, quote(file))
}

func reproduce(in Input) []Command {
	again := "orchestrate run " + quote(in.SpecPath)
	if in.Rehearse {
		again = "orchestrate rehearse " + quote(in.SpecPath)
	}
	if path.Base(in.SpecPath) == ledger.RequestMDFile && path.Base(path.Dir(in.SpecPath)) == ledger.DraftDir {
		again = `orchestrate "$(cat ` + quote(in.SpecPath) + `)"` // the run made a spec from it
	}
	if in.Rehearse && in.Script != "" {
		again += " --script " + quote(in.Script)
	}
	if in.Internal {
		again += " --internal"
	}
	if in.Agents {
		again += " --agents " + quote(path.Join(in.RunDir, ledger.AgentsFile))
	}
	all := []Command{}
	switch {
	case !in.Worker:
		all = append(all, Command{Command: again})
	case in.Given != "":
		all = append(all, Command{Command: in.Given})
	}
	for _, j := range in.State.Jobs {
		if c := strings.TrimSpace(in.Commands[j.ID]); c != "" {
			all = append(all, Command{Job: j.ID, Command: c})
		} else if _, ok := in.Sessions[j.ID]; ok {
			all = append(all, Command{Job: j.ID, Command: in.request(j.ID)})
		}
	}
	return all
}

// quote is shellword.Quote for a path, which no program can take for a flag.
func quote(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return shellword.Quote(path)
}

// needsPerson lists what only a person can settle, the most pressing first.
func needsPerson(r Report, in Input) []string {
	list := []string{}
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, line := range []string{openNeeds(r), r.budgetNeeds()} { // whether it goes on at all
		if line != "" {
			say("%s", line)
		}
	}
	for _, a := range r.Approvals {
		if a.By == "flag" {
			say("job %s (%s) was approved by a flag, without being shown: see %s", a.Job, a.Effect, ledger.ApprovalsFile)
		}
	}
	if line := verdictNeeds(r); line != "" {
		say("%s", withNext(line, in.VerdictStep))
	}
	told := map[string]Job{}
	for _, j := range alike(r.Jobs) {
		told[j.Status.ID] = j
	}
	for _, j := range r.Jobs {
		if line := jobNeeds(told[j.Status.ID]); line != "" && (!r.interim() || j.Status.Status.Settled()) {
			say("%s", line)
		}
		if line := r.sessionNeeds(j); line != "" {
			say("%s", line)
		}
	}
	for _, change := range in.Checkout {
		say("%s", change)
	}
	for _, p := range r.Patches {
		if p.Applied {
			say("what job %s did is already in your checkout, for you to look at; %s shows the command that undoes it", p.Job, r.command())
		}
	}
	return append(list, r.waiting(nil)...)
}

// manyPatches are so many that those which wait are told in one line.
const manyPatches = 3

// waiting says which patches wait, but for those of jobs whose work was brought where it
// belongs.
func (r Report) waiting(brought map[string]bool) []string {
	var each []string
	for _, p := range r.Patches {
		if !p.Applied && !brought[p.Job] {
			each = append(each, r.waits(p))
		}
	}
	if n := len(each); n >= manyPatches {
		return []string{fmt.Sprintf("the patches of %d jobs wait to be integrated: %s", n, cmp.Or(r.Integrate(), r.command()+" shows the commands"))}
	}
	return each
}

func (r Report) waits(p Patch) string {
	return fmt.Sprintf("the patch of job %s waits to be integrated: %s", p.Job, cmp.Or(r.Integrate(), r.command()+" shows the command"))
}

// StillNeeds is what needs a person now that the work of some jobs was brought where it
// belongs: a report is of the run's end.
func (r Report) StillNeeds(brought map[string]bool) []string {
	then := r.waiting(nil)
	list := slices.DeleteFunc(slices.Clone(r.NeedsPerson), func(line string) bool { return slices.Contains(then, line) })
	return append(list, r.waiting(brought)...)
}

// Integrate is the command that takes over the patches that wait; "" where none does, or
// the verdict does not allow it.
func (r Report) Integrate() string {
	waits := slices.ContainsFunc(r.Patches, func(p Patch) bool { return !p.Applied })
	if !waits || r.Verdict != arbiter.Pass && r.Verdict != arbiter.Unreviewed {
		return ""
	}
	command := "orchestrate integrate " + quote(r.RunID)
	if slices.ContainsFunc(r.Patches, func(p Patch) bool { return p.Applied }) {
		command += " --branch " + quote("orchestrate-"+r.RunID) // the checkout is not clean: a job worked in it
	}
	return command
}

func verdictNeeds(r Report) string {
	switch r.Verdict {
	case arbiter.Fail:
		return "the verdict is fail: see in " + ledger.ReportFile + " why, before using anything of this run"
	case arbiter.Blocked:
		if r.Judgement != nil && len(r.Judgement.Why) > 0 {
			return "the verdict is blocked: " + r.Judgement.Why[0]
		}
		return "the verdict is blocked: nobody has judged this run"
	case arbiter.Unreviewed:
		if r.Judgement != nil && slices.Contains(r.Judgement.Why, arbiter.InWorkerForm) {
			return "worker form: nobody has reviewed these results"
		}
		return "nobody has reviewed this run, as the spec asked; only the checks speak for it"
	}
	return ""
}

func jobNeeds(j Job) string {
	s := j.Status
	if j.skipped() && j.Pattern != nil && j.Pattern.Kind == spec.PatternJoin {
		return withNext(fmt.Sprintf("job %s has no result: %s", s.ID, s.ReasonEvidence.Line(maxStep)), "see whether there was nothing to be found, or whoever made the list went wrong")
	}
	if s.ID == "" || s.Status.Well() || s.Reason == runtime.BlockedDependency {
		return "" // it is told with another; a dependency with the job that is waited for
	}
	line := "job " + s.ID + " is " + string(s.Status)
	if len(j.Alike) > 0 {
		line = fmt.Sprintf("jobs %s %s, are %s", s.ID, j.withOthers(), s.Status)
	}
	if s.Reason != "" {
		line += ": " + string(s.Reason)
	}
	return withNext(line, j.NextStep)
}

// nextMark parts what is wrong from what to do about it.
const nextMark = "; next: "

func withNext(line, step string) string {
	if step == "" {
		return line
	}
	return line + nextMark + step
}
