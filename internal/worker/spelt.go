package worker

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/spec"
)

// speltOtherwise refuses an id that differs from that of an earlier task only in case: where
// the file system ignores case the two have one folder.
func (m *Manifest) speltOtherwise(calls []Call, ids []string) (diags []spec.Diagnostic) {
	before, known := map[string]string{}, map[string]bool{}
	for _, c := range calls {
		for _, j := range c.State.Jobs {
			before[strings.ToLower(j.ID)], known[j.ID] = j.ID, true
		}
	}
	for _, id := range ids {
		was := before[strings.ToLower(id)]
		if was == "" || known[id] {
			continue
		}
		d := spec.Diagnostic{Rule: "id", Message: fmt.Sprintf(
			"this worker run has a task %q already, and where case is ignored the folder of %q is the same; spell it like that, or take another id", was, id)}
		if i := slices.IndexFunc(m.jobs, func(j job) bool { return j.ID == id }); i >= 0 {
			d.Field = fmt.Sprintf("jobs[%d].id", i)
		}
		diags = append(diags, d)
	}
	return m.place(diags)
}
