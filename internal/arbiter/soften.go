package arbiter

import (
	"encoding/json"
	"fmt"

	"orchestrate/internal/untrusted"
)

// Softened lists where an answer that was only to be given in another form is more
// favourable than the first one, as far as that can be read at all. A judgement
// that changes when it is asked for again is no judgement.
func Softened(first untrusted.Text, second Verdict) (changed []string) {
	var loose struct {
		Overall string `json:"overall"`
		Jobs    []struct {
			Job     string `json:"job"`
			Verdict string `json:"verdict"`
		} `json:"jobs"`
	}
	text, _ := lastBlock(first.Unshown())
	if json.Unmarshal([]byte(text), &loose) != nil {
		return nil // nothing of it can be held against the second
	}
	if loose.Overall != "" && loose.Overall != Pass && second.Overall == Pass {
		changed = append(changed, fmt.Sprintf("overall was %s and became pass", loose.Overall))
	}
	was := map[string]string{}
	for _, j := range loose.Jobs {
		was[j.Job] = j.Verdict
	}
	for _, j := range second.Jobs {
		if v := was[j.Job]; v != "" && v != "pass" && j.Verdict == "pass" {
			changed = append(changed, fmt.Sprintf("job %s was %s and became pass", j.Job, v))
		}
	}
	return changed
}
