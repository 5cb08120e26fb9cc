package report

import (
	"fmt"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// Many jobs may be blocked by one thing: all of a list that cannot be used, or all that waited
// for a job that failed. They are told once, or a report would be as long as the list could
// have been.

// mostAlone are jobs that are blocked alike and still told one by one.
const mostAlone = 2

// mostNamed are the jobs that are named of those which are told with another.
const mostNamed = 10

// cause is what jobs are blocked by, and what is to be done about it.
type cause struct {
	reason         runtime.Reason
	evidence, next string
}

// cause is what blocks the job; none where it is not blocked, or was worked at before.
func (j Job) cause() (c cause, ok bool) {
	s := j.Status
	return cause{s.Reason, s.ReasonEvidence.Line(0), j.NextStep}, s.Status == ledger.Blocked && s.Attempts == 0
}

// alike are these jobs, where of those that are blocked by the same thing only the first
// stands, with the ids of the others.
func alike(jobs []Job) []Job {
	ids := map[cause][]string{}
	for _, j := range jobs {
		if c, ok := j.cause(); ok {
			ids[c] = append(ids[c], j.Status.ID)
		}
	}
	var all []Job
	for _, j := range jobs {
		c, ok := j.cause()
		if same := ids[c]; ok && len(same) > mostAlone {
			if same[0] != j.Status.ID {
				continue
			}
			j.Alike = same[1:]
		}
		all = append(all, j)
	}
	return all
}

// others names the jobs that are told with this one, "" = none are.
func (j Job) others() string {
	n := len(j.Alike)
	if n <= mostNamed {
		return strings.Join(j.Alike, ", ")
	}
	return fmt.Sprintf("%s … %s", strings.Join(j.Alike[:mostNamed-1], ", "), j.Alike[n-1])
}

// withOthers says how many are told with the job, "" = none.
func (j Job) withOthers() string {
	if len(j.Alike) == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more alike: %s", len(j.Alike), j.others())
}
