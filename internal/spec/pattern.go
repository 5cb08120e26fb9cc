package spec

import (
	"encoding/json"
	"slices"
	"strings"
)

// A pattern is a job of the document that stands for several: one per item of a list, per
// vote, per round. It is expanded when the document is read, to as many jobs as there can
// be at most; what follows knows only plain jobs, each of which says here what it is in
// its pattern. So all ids, all bounds and the order are known before anything runs, and
// jobs that turn out not to be needed are skipped.

// Kinds of patterns.
const (
	PatternForeach  = "foreach"
	PatternVotes    = "votes"
	PatternUntilDry = "until_dry"
	PatternRepair   = "repair"
	PatternJoin     = "join"
)

// Part is what a job is in the innermost pattern that it was expanded from.
type Part struct {
	Kind   string `json:"kind"`   // one of those above
	Of     string `json:"of"`     // id of the job as the document has it
	Number int    `json:"number"` // from 1: of the item, the vote or the round; 0 = it gathers those
	// Joins are, of a join, the jobs whose results it brings together.
	Joins []string `json:"joins,omitempty"`
}

// Item is one item of a list. A job of a list that is in the document has its value from
// the start, and its texts are filled in. Of a list that another job makes the value is
// known when that has succeeded; until then the texts hold their variables.
type Item struct {
	Of     string          `json:"of"`             // id of the job as the document has it, whose foreach this is
	Number int             `json:"number"`         // from 1
	Value  json.RawMessage `json:"-"`              // JSON; nil = not known before the run
	From   []string        `json:"from,omitempty"` // jobs in whose answers the list is; nil = it is in the document
	Path   string          `json:"path,omitempty"` // of the list in the answer: JSONPath
	Max    int             `json:"max,omitempty"`  // most items that are allowed, which is how many such jobs there are
}

// unknownItem stands in paths for what an item will say.
const unknownItem = "item"

// Unknown reports whether an item will be known only when another job has made its list.
func (i *Item) Unknown() bool { return i != nil && i.Value == nil && i.From != nil }

// open reports whether a text holds what is known only when the item is.
func (i *Item) open(text string) bool {
	return i != nil && i.Value == nil && strings.Contains(text, "{{")
}

// Round says on what it depends whether a job of a pattern is needed at all.
type Round struct {
	// Rule is one of the rules below.
	Rule string `json:"rule"`
	// Of are the jobs whose results decide, in their order.
	Of  []string `json:"of"`
	Dry *Dry     `json:"dry,omitempty"` // of RuleNotDry
}

// The rules by which a round is needed. One that is not is skipped.
const (
	RuleNotDry = "not-dry" // until_dry: the rounds before still found something new
	RuleFailed = "failed"  // repair: the verification (the last of Of) did not accept
	RuleMended = "mended"  // repair: the round of work (the last of Of) was needed
)

// Dry says when rounds of a search have found enough.
type Dry struct {
	StopAfter int    `json:"stop_after"` // rounds one after the other without a new key
	Key       string `json:"key"`        // JSONPath of what tells findings apart, in a round's answer
}

// Gather is a result that the engine itself makes of those of other jobs.
type Gather struct {
	Kind    string   `json:"kind"`            // votes | until_dry | repair
	Members []string `json:"members"`         // whose results, in their order
	Votes   *Votes   `json:"votes,omitempty"` // of votes
	Dry     *Dry     `json:"dry,omitempty"`   // of until_dry
	// Of repair: the rounds of work and the verifications, in their order. The gathering job
	// stands for the work (Work is then its own) or for the verifier (Verifies).
	Work     []string `json:"work,omitempty"`
	Verifies []string `json:"verifies,omitempty"`
	Verdict  *Verdict `json:"verdict,omitempty"` // of the verifications
}

// Votes is how many of several independent answers must agree.
type Votes struct {
	Of      int     `json:"of"`
	Require int     `json:"require"`
	Verdict Verdict `json:"verdict"`
}

// Verdict is where the verdict of an answer stands and what accepts. The answer is JSON,
// alone or in one fenced block.
type Verdict struct {
	Field  string `json:"field"`  // JSONPath or a plain name
	Accept string `json:"accept"` // the value that accepts, compared without case
}

// Worker is what only the worker form says of a job.
type Worker struct {
	AsIs    bool     `json:"as_is,omitempty"`   // the prompt byte for byte, and behind it only what others left and the form of an answer that the engine reads
	Command string   `json:"command,omitempty"` // the person's own shell text, which gets the prompt; "" = an agent
	Resumes *Resumed `json:"resumes,omitempty"` // the session it goes on with; nil = a fresh one
}

// Resumed is a session that another run's job, or nobody we know of, has held.
type Resumed struct {
	Session string `json:"session"` // id
	Runtime string `json:"runtime"`
	Model   string `json:"model,omitempty"` // "" = the runtime's own
	Cwd     string `json:"cwd,omitempty"`   // absolute
	Writes  bool   `json:"writes,omitempty"`
	// Of a job of another run; "" and 0 where only the session's id is known.
	Run     string `json:"run,omitempty"` // absolute run directory
	Job     string `json:"job,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Tree    string `json:"tree,omitempty"` // absolute top of the worktree that it worked in, "" = the shared checkout
	Base    string `json:"base,omitempty"` // commit that its snapshot is, from where the work goes on; "" = none
}

// Gathers reports whether the engine itself makes the job's result; nobody is asked.
func (j *Job) Gathers() bool { return j.Gather != nil }

// Joined are the jobs whose results the job brings together, nil = it is no join.
func (j *Job) Joined() []string {
	if j.Part == nil || j.Part.Kind != PatternJoin {
		return nil
	}
	if j.Part.Joins == nil {
		return j.DependsOn // as a run of an older build has it
	}
	return j.Part.Joins
}

// Fresh reports whether the job judges others' work, so that it may never go on with a
// session.
func (j *Job) Fresh() bool {
	return j.Verdict != nil || slices.Contains(judging[:], j.Task)
}
