package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
	"orchestrate/internal/untrusted"
)

// Bounds of the brief form, so that a run of any size costs its reader little.
const (
	mostBriefJobs  = 30
	mostBriefNeeds = 10
	briefLine      = 240  // characters of what a person is needed for
	briefStep      = 1000 // and of what to do about it
)

// Brief is the run in a few lines for an agent: a word and what it says on each. dir is
// the run directory, from which answers are named; name is what a RUN argument says;
// brought are the jobs whose work was integrated since.
func (r Report) Brief(dir, name string, brought map[string]bool) string {
	var b strings.Builder
	say := func(word, format string, args ...any) {
		fmt.Fprintf(&b, "%s %s\n", word, untrusted.From(fmt.Sprintf(format, args...)).Line(0))
	}
	say("run", "%s", r.RunID)
	say("dir", "%s", dir)
	say("phase", "%s", cmp.Or(r.Standing, Ended))
	say("verdict", "%s", r.briefVerdict())
	exit, file := "none", ""
	if r.ExitStatus != nil && !r.interim() {
		exit, file = fmt.Sprint(*r.ExitStatus), ledger.ReportFile
	}
	say("exit", "%s", exit)
	say("report", "%s", cmp.Or(file, "none"))
	say("jobs", "%s", r.block().Jobs)
	say("cost", "%s", r.Usage)
	r.briefJobs(say)
	needs := r.StillNeeds(brought)
	for i, line := range needs {
		if i == mostBriefNeeds {
			say("person", "and %d more: see %s", len(needs)-i, cmp.Or(file, "orchestrate report "+shellword.Quote(name)))
			break
		}
		say("person", "%s", briefNeed(line))
	}
	say("next", "%s", r.next(name, brought))
	return b.String()
}

// briefVerdict is the verdict, marked where a stand-in took part.
func (r Report) briefVerdict() string {
	if r.Verdict == "" || r.Verdict == arbiter.Rehearsal {
		return cmp.Or(r.Verdict, "none")
	}
	return r.Verdict + r.mark()
}

// briefNeed is what a person is needed for, cut where it is long: of two parts, what is to
// be done about it is the one to keep.
func briefNeed(line string) string {
	cause, step, ok := strings.Cut(line, nextMark)
	cause = untrusted.From(cause).Line(briefLine)
	if !ok {
		return cause
	}
	return cause + nextMark + untrusted.From(step).Line(briefStep)
}

// briefJobs lists the jobs that somebody may have to look at first, and counts the rest.
func (r Report) briefJobs(say func(word, format string, args ...any)) {
	jobs := slices.Clone(r.needed())
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(urgency(a), urgency(b)) })
	most := min(len(jobs), mostBriefJobs)
	for _, j := range jobs[:most] {
		say("job", "%s %s %s %s", j.Status.ID, j.Status.Status, cmp.Or(string(j.Status.Reason), "-"), cmp.Or(j.Answer, "-"))
	}
	rest := map[ledger.Status]int{}
	for _, j := range jobs[most:] {
		rest[j.Status.Status]++
	}
	rest[ledger.Skipped] = r.Totals.Skipped
	for _, s := range urgent {
		if rest[s] > 0 {
			say("more", "%d %s", rest[s], s)
		}
	}
}

// urgent are the statuses in the order in which their jobs are listed.
var urgent = []ledger.Status{ledger.Failed, ledger.Blocked, ledger.Interrupted, ledger.Awaiting, ledger.Running, ledger.Success, ledger.Queued, ledger.Skipped}

func urgency(j Job) int { return slices.Index(urgent, j.Status.Status) }
