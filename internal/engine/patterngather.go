package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// gatherUp makes the result of a job of those of its members.
func (r *run) gatherUp(j *jobRun) closed {
	g := j.planned.Job.Gather
	make := map[string]func(*jobRun, *spec.Gather) (closed, error){
		spec.PatternVotes: r.countVotes, spec.PatternUntilDry: r.sumUp, spec.PatternRepair: r.closeRepair,
	}[g.Kind]
	if make == nil {
		return r.unmade(j, fmt.Errorf("what %q gathers is not known to this build", g.Kind))
	}
	d, err := make(j, g)
	if err != nil {
		return r.unmade(j, err)
	}
	return d
}

// vote is what came of one vote, for whoever gets the result.
type vote struct {
	Job      string          `json:"job"`
	Verdict  *string         `json:"verdict"` // null = it gave none
	Accepted bool            `json:"accepted"`
	Answer   json.RawMessage `json:"answer"` // null = it gave none that could be read
}

// countVotes makes the result of votes.
func (r *run) countVotes(j *jobRun, g *spec.Gather) (closed, error) {
	if !slices.ContainsFunc(g.Members, r.ended) {
		return r.dependent(j, g.Members), nil
	}
	votes := make([]pattern.Vote, len(g.Members))
	told := make([]vote, len(g.Members))
	for i, id := range g.Members {
		told[i].Job = id
		if r.statusNow(id) != ledger.Success {
			continue
		}
		v, err := r.verdictOf(id)
		if err != nil {
			return closed{}, err
		}
		votes[i] = v
		told[i].Verdict, told[i].Accepted = &v.Verdict, v.Accepted
		if told[i].Answer, err = r.documentOf(id); err != nil {
			return closed{}, err
		}
	}
	accepted, enough, words := pattern.Tally(votes, g.Votes.Require)
	line := fmt.Sprintf("%d of %d accepted, %d required", accepted, len(votes), g.Votes.Require)
	return r.gatheredJSON(j, line, enough, untrusted.From(words), struct {
		Accepted int    `json:"accepted"`
		Required int    `json:"required"`
		Of       int    `json:"of"`
		Votes    []vote `json:"votes"`
	}{accepted, g.Votes.Require, len(votes), told})
}

// sumUp makes the result of a search in rounds.
func (r *run) sumUp(j *jobRun, g *spec.Gather) (closed, error) {
	if bad := r.amiss(g.Members); len(bad) > 0 || !slices.ContainsFunc(g.Members, r.ended) {
		return r.dependent(j, g.Members), nil
	}
	found, err := r.keysOf(g.Members, g.Dry)
	if err != nil {
		return closed{}, err
	}
	result := struct {
		Rounds  int               `json:"rounds"`
		Dry     bool              `json:"dry"`
		Keys    []string          `json:"keys"`
		Results []json.RawMessage `json:"results"`
	}{Rounds: len(found), Keys: pattern.Found(found), Results: []json.RawMessage{}}
	result.Dry, _ = pattern.Dry(found, g.Dry.StopAfter)
	for _, id := range g.Members {
		if r.statusNow(id) != ledger.Success {
			continue
		}
		doc, err := r.documentOf(id)
		if err != nil {
			return closed{}, err
		}
		result.Results = append(result.Results, doc)
	}
	line := fmt.Sprintf("not dry after %d rounds, %d found", len(found), len(result.Keys))
	if result.Dry {
		line = fmt.Sprintf("dry after round %d of at most %d, %d found", len(found), len(g.Members), len(result.Keys))
	}
	return r.gatheredJSON(j, line, true, untrusted.Text{}, result)
}

// closeRepair makes the result of a repair: the answer of the last round of work, or of the
// last verification.
func (r *run) closeRepair(j *jobRun, g *spec.Gather) (closed, error) {
	last, accepted, n := "", false, 0
	for i, id := range g.Verifies {
		if r.statusNow(id) != ledger.Success {
			continue
		}
		v, err := r.verdictOf(id)
		if err != nil {
			return closed{}, err
		}
		last, accepted, n = id, v.Accepted, i+1
	}
	if last == "" {
		return r.dependent(j, append(slices.Clone(g.Work), g.Verifies...)), nil
	}
	from := last
	if own := r.standsFor(j.planned.Job.ID); own != j.planned.Job.ID {
		from = own
	}
	answer, err := r.answerOf(from)
	if err != nil {
		return closed{}, err
	}
	line := fmt.Sprintf("verification %d of at most %d accepted", n, len(g.Verifies))
	evidence := untrusted.Text{}
	if !accepted {
		line = fmt.Sprintf("none of %d verifications accepted", n)
		evidence = untrusted.From(fmt.Sprintf("%s: %s did not accept; what it found is in %s%s", line, last, ledger.JobPath(last, ledger.OutputFile), r.cutShort(g)))
	}
	return r.gatheredAs(j, line, accepted, evidence, []byte(answer)), nil
}

// cutShort says what kept a repair from going on, "" = it went all its rounds.
func (r *run) cutShort(g *spec.Gather) string {
	if bad := r.amiss(append(slices.Clone(g.Work), g.Verifies...)); len(bad) > 0 {
		return "; then " + bad[0]
	}
	return ""
}

// ended reports whether a job came to an end of its own.
func (r *run) ended(id string) bool {
	s := r.statusNow(id)
	return s == ledger.Success || s == ledger.Failed
}

// documentOf is the JSON that a job answered.
func (r *run) documentOf(id string) (json.RawMessage, error) {
	answer, err := r.answerOf(id)
	if err != nil {
		return nil, err
	}
	doc, err := pattern.Answer(answer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ledger.JobPath(id, ledger.OutputFile), err)
	}
	return pattern.Compact(doc)
}

// gatheredJSON is gatheredAs with a result that is told as JSON.
func (r *run) gatheredJSON(j *jobRun, line string, well bool, evidence untrusted.Text, result any) (closed, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(result); err != nil {
		return closed{}, err
	}
	return r.gatheredAs(j, line, well, evidence, b.Bytes()), nil
}

// gatheredAs is the end of a job that gathers: what it came to in a line, whether that is
// good, else the evidence, and its answer.
func (r *run) gatheredAs(j *jobRun, line string, well bool, evidence untrusted.Text, answer []byte) closed {
	status, reason := ledger.Success, runtime.Reason("")
	if !well {
		status, reason = ledger.Failed, runtime.ReasonNotVerified
	}
	answer = r.redact.Bytes(answer)
	s := r.unattempted(j.planned.Job.ID, status, reason, evidence)
	s.Decided = line
	r.mu.Lock()
	j.status.Decided = line
	r.mu.Unlock()
	return closed{status: s, answer: answer, work: &ledger.Work{Output: digest(answer)}}
}
