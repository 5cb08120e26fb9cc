package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
	"orchestrate/internal/untrusted"
)

// Bounds of the brief form, so that a run of any size costs its reader little.
const (
	mostBriefJobs  = 30
	mostBriefNeeds = 10
	briefLine      = 240 // characters of what a person is needed for
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
	say("verdict", "%s", cmp.Or(r.Verdict, "none"))
	exit := "none"
	if r.ExitStatus != nil && !r.interim() {
		exit = fmt.Sprint(*r.ExitStatus)
	}
	say("exit", "%s", exit)
	say("jobs", "%s", r.block().Jobs)
	say("cost", "%s", r.Usage)
	r.briefJobs(say)
	needs := r.StillNeeds(brought)
	for i, line := range needs {
		if i == mostBriefNeeds {
			say("person", "and %d more: orchestrate report %s", len(needs)-i, shellword.Quote(name))
			break
		}
		say("person", "%s", untrusted.From(line).Line(briefLine))
	}
	say("next", "%s", r.nextCommand(name, brought))
	return b.String()
}

// briefJobs lists the jobs that somebody may have to look at first, and counts the rest.
func (r Report) briefJobs(say func(word, format string, args ...any)) {
	jobs := slices.Clone(r.Jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(urgency(a), urgency(b)) })
	most := min(len(jobs), mostBriefJobs)
	for _, j := range jobs[:most] {
		say("job", "%s %s %s %s", j.Status.ID, j.Status.Status, cmp.Or(string(j.Status.Reason), "-"), cmp.Or(j.Answer, "-"))
	}
	rest := map[ledger.Status]int{}
	for _, j := range jobs[most:] {
		rest[j.Status.Status]++
	}
	for _, s := range urgent {
		if rest[s] > 0 {
			say("more", "%d %s", rest[s], s)
		}
	}
}

// urgent are the statuses in the order in which their jobs are listed.
var urgent = []ledger.Status{ledger.Failed, ledger.Blocked, ledger.Interrupted, ledger.Running, ledger.Awaiting, ledger.Success, ledger.Queued}

func urgency(j Job) int { return slices.Index(urgent, j.Status.Status) }

// nextCommand is what to type next.
func (r Report) nextCommand(name string, brought map[string]bool) string {
	run := shellword.Quote(name)
	undone := r.Totals.Interrupted > 0 || r.Totals.Queued > 0
	switch {
	case r.Standing == Running:
		return "orchestrate wait --brief " + run
	case r.Standing == CutOff || undone:
		return "orchestrate resume --brief " + run
	case r.Integrate() != "" && slices.ContainsFunc(r.Patches, func(p Patch) bool { return !p.Applied && !brought[p.Job] }):
		return r.Integrate()
	}
	return "orchestrate report " + run
}
