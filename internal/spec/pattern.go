package spec

import (
	"encoding/json"
	"slices"
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
	Kind   string // one of those above
	Of     string // id of the job as the document has it
	Number int    // from 1: of the item, the vote or the round; 0 = it gathers those
}

// Item is one item of a list. A job of a list that is in the document has its value from
// the start, and its texts are filled in. Of a list that another job makes the value is
// known when that has succeeded; until then the texts hold their variables.
type Item struct {
	Of     string          // id of the job as the document has it, whose foreach this is
	Number int             // from 1
	Value  json.RawMessage // JSON; nil = not known before the run
	From   []string        // jobs in whose answers the list is; nil = it is in the document
	Path   string          // of the list in the answer: JSONPath
	Max    int             // most items that are allowed, which is how many such jobs there are
}

// Round says on what it depends whether a job of a pattern is needed at all.
type Round struct {
	// Rule is one of the rules below.
	Rule string
	// Of are the jobs whose results decide, in their order.
	Of  []string
	Dry *Dry // of RuleNotDry
}

// The rules by which a round is needed. One that is not is skipped.
const (
	RuleNotDry = "not-dry" // until_dry: the rounds before still found something new
	RuleFailed = "failed"  // repair: the verification (the last of Of) did not accept
	RuleMended = "mended"  // repair: the round of work (the last of Of) was needed
)

// Dry says when rounds of a search have found enough.
type Dry struct {
	StopAfter int    // rounds one after the other without a new key
	Key       string // JSONPath of what tells findings apart, in a round's answer
}

// Gather is a result that the engine itself makes of those of other jobs.
type Gather struct {
	Kind    string   // votes | until_dry | repair
	Members []string // whose results, in their order
	Votes   *Votes   // of votes
	Dry     *Dry     // of until_dry
	// Of repair: the rounds of work and the verifications, in their order. The gathering job
	// stands for the work (Work is then its own) or for the verifier (Verifies).
	Work     []string
	Verifies []string
	Verdict  *Verdict // of the verifications
}

// Votes is how many of several independent answers must agree.
type Votes struct {
	Of      int
	Require int
	Verdict Verdict
}

// Verdict is where the verdict of an answer stands and what accepts. The answer is JSON,
// alone or in one fenced block.
type Verdict struct {
	Field  string // JSONPath or a plain name
	Accept string // the value that accepts, compared without case
}

// Worker is what only the worker form says of a job.
type Worker struct {
	AsIs    bool     // the agent gets the prompt byte for byte, and nothing else
	Command string   // the person's own shell text, which gets the prompt; "" = an agent
	Resumes *Resumed // the session it goes on with; nil = a fresh one
}

// Resumed is a session that another run's job, or nobody we know of, has held.
type Resumed struct {
	Session string // id
	Runtime string
	Model   string // "" = the runtime's own
	Cwd     string // absolute
	Writes  bool
	// Of a job of another run; "" and 0 where only the session's id is known.
	Run     string // absolute run directory
	Job     string
	Attempt int
	Tree    string // absolute top of the worktree that it worked in, "" = the shared checkout
	Base    string // commit that its snapshot is, from where the work goes on; "" = none
}

// Gathers reports whether the engine itself makes the job's result; nobody is asked.
func (j *Job) Gathers() bool { return j.Gather != nil }

// Fresh reports whether the job judges others' work, so that it may never go on with a
// session.
func (j *Job) Fresh() bool {
	return j.Verdict != nil || slices.Contains([]string{"review", "audit", "security"}, j.Task)
}
