package arbiter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/untrusted"
)

// The verdicts on a run.
const (
	Pass       = "pass"
	Fail       = "fail"
	Blocked    = "blocked"
	Unreviewed = "unreviewed" // checks-only, as asked for
	Rehearsal  = "rehearsal"  // it would have passed, but nobody really worked
)

// The modes of the arbiter.
const (
	ModeRequired   = "required"
	ModeChecksOnly = "checks-only"
)

// InWorkerForm is why a run of the worker form is unreviewed.
const InWorkerForm = "worker form: nobody reviewed these results"

// Case is everything that the verdict on a run depends on.
type Case struct {
	Mode         string
	WorkerForm   bool   // the worker form asked for it, in which nobody reviews
	Rehearsal    bool   // some job, or the arbiter, was the stand-in
	Early        string // why there is nothing to judge, or not yet: jobs not settled, none succeeded
	Obstacle     string // why no arbiter could be asked: no route
	Unusable     string // why the arbiter's answer cannot be used: its run failed, or its form
	Runtime      string // of the arbiter, "" = none was asked
	Model        string
	Independence string
	// RequireIndependent refuses an arbiter that is not known to be of another family
	// than all producers. A rehearsal, in which nobody judges, is not asked.
	RequireIndependent bool
	Findings           []ledger.Finding      // of Layer1
	ChangedJudges      []ledger.ChangedJudge // what the workers changed of what judges them
	Judged             []Asked               // the jobs that the arbiter was asked about
	Answer             *Verdict              // nil when there is none
	Jobs               []ledger.JobVerdict   // Answer's, as Verify returned them
	// Own reports whether what is cited, and there, shows what the job itself did: not what
	// it started from, nor a file that it left alone. Of a job that changes nothing what it
	// saw is all that there is. Refs are without the job; nil = nothing does.
	Own func(job string, c Citation) bool
}

// Judge draws the conclusion. In this order: where there is nothing to judge yet
// for the arbiter it is blocked; a broken rule of layer 1 is fail; checks-only is
// unreviewed, and so is the worker form, tasks that just failed or not; no arbiter, no usable answer, or one of an arbiter that is not as
// independent as was required is blocked; anything that the arbiter found wrong, an
// assertion among it, is fail; anything it left open, or cited without its being
// there, is blocked; the rest is pass. In a rehearsal pass and
// unreviewed are called rehearsal. RunID and At are left to the caller.
func Judge(c Case) ledger.Judgement {
	j := record(c)
	j.Verdict, j.Why = conclude(c)
	if c.WorkerForm && j.Verdict != Unreviewed {
		j.Why = append(j.Why, InWorkerForm)
	}
	if c.Rehearsal && (j.Verdict == Pass || j.Verdict == Unreviewed) {
		j.Verdict = Rehearsal
		j.Why = append(j.Why, "the stand-in took part; nothing here counts as a review")
	}
	return j
}

func conclude(c Case) (verdict string, why []string) {
	for _, f := range c.Findings {
		why = append(why, broken(f))
	}
	switch {
	case c.Early != "":
		return Blocked, append([]string{c.Early}, why...)
	case c.WorkerForm && c.onlyFailed():
		return Unreviewed, append([]string{InWorkerForm}, why...)
	case len(c.Findings) > 0:
		return Fail, why
	case c.Mode == ModeChecksOnly:
		return Unreviewed, []string{"mode checks-only: nobody reviewed the work"}
	case c.Obstacle != "":
		return Blocked, []string{c.Obstacle}
	case c.Unusable != "":
		return Blocked, []string{c.Unusable}
	case c.Answer == nil:
		return Blocked, []string{"the arbiter gave no answer"}
	case c.dependent():
		why = []string{"an independent arbiter is required, and this one is " + cmp.Or(c.Independence, "not known to be one")}
		return Blocked, append(append(why, wrong(c)...), open(c)...)
	}
	if why = wrong(c); len(why) > 0 {
		return Fail, append(why, open(c)...)
	}
	if why = open(c); len(why) > 0 {
		return Blocked, why
	}
	return Pass, []string{}
}

// onlyFailed reports whether nothing more is wrong than that some jobs did not succeed. In
// the worker form each stands for itself.
func (c Case) onlyFailed() bool {
	return !slices.ContainsFunc(c.Findings, func(f ledger.Finding) bool { return f.Rule != RuleJobFailed })
}

// dependent reports that the arbiter is not as independent as was asked for.
func (c Case) dependent() bool {
	return c.RequireIndependent && !c.Rehearsal && !route.IsIndependent(c.Independence)
}

func broken(f ledger.Finding) string {
	if f.Job == "" {
		return fmt.Sprintf("%s: %s", f.Rule, f.Detail)
	}
	return fmt.Sprintf("%s: job %s: %s", f.Rule, f.Job, f.Detail)
}

// wrong is what the arbiter holds against the work.
func wrong(c Case) (why []string) {
	if c.Answer.Overall == Fail {
		why = append(why, "the arbiter says fail")
	}
	for _, j := range c.Jobs {
		if j.Verdict == "fail" {
			why = append(why, fmt.Sprintf("job %s fails: %s", j.Job, j.Why))
		}
		for _, a := range j.Assertions {
			if a.Holds == "no" {
				why = append(why, fmt.Sprintf("job %s: the assertion %q does not hold: %s", j.Job, a.Name, a.Why))
			}
		}
	}
	for _, q := range Questions() {
		if a := answerTo(c.Answer, q.N); a.Answer != "" && a.Answer != "unsure" && a.Answer != q.Passes {
			why = append(why, fmt.Sprintf("question %d (%s) is answered %s: %s", q.N, q.Text, a.Answer, a.Why))
		}
	}
	for _, list := range []struct {
		what  string
		items []untrusted.Text
	}{
		{"contradiction", c.Answer.Contradictions},
		{"unsupported claim", c.Answer.UnsupportedClaims},
		{"safety gap", c.Answer.SafetyGaps},
	} {
		for _, item := range list.items {
			why = append(why, fmt.Sprintf("%s: %s", list.what, item))
		}
	}
	return why
}

// open is what keeps the answer from being one that can be believed.
func open(c Case) (why []string) {
	if c.Answer.Overall != Pass && c.Answer.Overall != Fail {
		why = append(why, "the arbiter says blocked")
	}
	if len(c.Judged) == 0 {
		why = append(why, "no job was judged")
	}
	for _, a := range c.Judged {
		why = append(why, openJob(c, a)...)
	}
	for _, q := range Questions() {
		if a := answerTo(c.Answer, q.N); a.Answer == "" || a.Answer == "unsure" {
			why = append(why, fmt.Sprintf("question %d (%s) is left open: %s", q.N, q.Text, a.Why))
		}
	}
	for _, item := range c.Answer.UnresolvedQuestions {
		why = append(why, fmt.Sprintf("unresolved question: %s", item))
	}
	return why
}

func openJob(c Case, a Asked) (why []string) {
	id := a.Job
	i := slices.IndexFunc(c.Jobs, func(j ledger.JobVerdict) bool { return j.Job == id })
	if i < 0 {
		return []string{fmt.Sprintf("job %s has no verdict", id)}
	}
	j := c.Jobs[i]
	if j.Verdict != "pass" && j.Verdict != "fail" {
		why = append(why, fmt.Sprintf("job %s is left open: %s", id, j.Why))
	}
	why = append(why, openAssertions(j, a.Asserts)...)
	for _, cited := range j.Citations {
		if !cited.Found {
			why = append(why, fmt.Sprintf("job %s: the cited %s %q is not there, so its claim is unsupported", id, cited.Kind, cited.Ref))
		}
	}
	if j.Verdict == "pass" && !slices.ContainsFunc(j.Citations, func(cited ledger.Citation) bool { return c.owned(id, cited) }) {
		why = append(why, fmt.Sprintf("job %s passes without evidence of its own that is there", id))
	}
	return why
}

// owned reports whether a citation shows what the job did: what another job left proves
// nothing about this one.
func (c Case) owned(job string, cited ledger.Citation) bool {
	what, ok := strings.CutPrefix(cited.Ref, job+":")
	return ok && cited.Found && c.Own != nil && c.Own(job, Citation{cited.Kind, what})
}

// openAssertions are those of a job that the arbiter neither affirms nor denies.
func openAssertions(j ledger.JobVerdict, names []string) (why []string) {
	for _, name := range names {
		i := slices.IndexFunc(j.Assertions, func(a ledger.Assertion) bool { return a.Name == name })
		if i < 0 {
			why = append(why, fmt.Sprintf("job %s: nothing is said of the assertion %q", j.Job, name))
		}
	}
	for _, a := range j.Assertions {
		if a.Holds != "yes" && a.Holds != "no" {
			why = append(why, fmt.Sprintf("job %s: the assertion %q is left open: %s", j.Job, a.Name, a.Why))
		}
	}
	return why
}

// answerTo is the answer to question n, or one that says nothing.
func answerTo(v *Verdict, n int) Answer {
	for _, a := range v.Questions {
		if a.N == n {
			return a
		}
	}
	return Answer{N: n}
}

// record is the judgement without its conclusion.
func record(c Case) ledger.Judgement {
	j := ledger.Judgement{
		SchemaVersion: 1, Mode: c.Mode, Rehearsal: c.Rehearsal, Runtime: c.Runtime, Model: c.Model,
		Independence: c.Independence, RequireIndependent: c.RequireIndependent, Findings: filled(c.Findings), ChangedJudges: filled(c.ChangedJudges), Jobs: filled(c.Jobs), Questions: []ledger.Answer{},
		Contradictions: []untrusted.Text{}, UnsupportedClaims: []untrusted.Text{}, SafetyGaps: []untrusted.Text{}, UnresolvedQuestions: []untrusted.Text{},
	}
	if c.Answer == nil {
		return j
	}
	j.Overall = c.Answer.Overall
	j.Contradictions, j.UnsupportedClaims = filled(c.Answer.Contradictions), filled(slices.Concat(c.Answer.UnsupportedClaims, unfounded(c.Jobs)))
	j.SafetyGaps, j.UnresolvedQuestions = filled(c.Answer.SafetyGaps), filled(c.Answer.UnresolvedQuestions)
	for _, q := range Questions() {
		if a := answerTo(c.Answer, q.N); a.Answer != "" {
			j.Questions = append(j.Questions, ledger.Answer{N: q.N, Question: q.Text, Answer: a.Answer, Why: a.Why, Passes: a.Answer == q.Passes})
		}
	}
	return j
}

// unfounded names the claims whose evidence is not there.
func unfounded(jobs []ledger.JobVerdict) (claims []untrusted.Text) {
	for _, j := range jobs {
		for _, c := range j.Citations {
			if !c.Found {
				claims = append(claims, untrusted.Sprintf("job %s: cited %s %s, which is not there", j.Job, c.Kind, c.Ref))
			}
		}
	}
	return claims
}

// filled makes an absent list an empty one, as it is written.
func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MayCheckOnly reports whether mode checks-only is allowed: every job is a plain
// program, or none is above R1. risks are the jobs' tiers by policy, R0 to R3. The worker
// form, which nobody reviews, does not ask.
func MayCheckOnly(execOnly bool, risks []string) bool {
	return execOnly || len(risks) == 0 || slices.Max(risks) <= "R1"
}
