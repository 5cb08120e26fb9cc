package integrate

import (
	"fmt"
	"time"

	"orchestrate/internal/ledger"
)

// The strategies: how a job's work comes onto the target.
const (
	Merge = "merge" // its snapshot commit becomes a parent of a merge commit
	Patch = "patch" // its changes become one commit on the target
)

// What came of an integration.
const (
	Integrated = "integrated" // the target has moved
	Ready      = "ready"      // a dry run: nothing stands against it
	Refused    = "refused"    // nothing was changed; Why says what stands against it
	Nothing    = "nothing"    // there is no work to integrate
)

// Integration is what `integrate` found and did: what it prints, and what it leaves as
// integration/integration.json in the run directory.
type Integration struct {
	SchemaVersion int            `json:"schemaVersion"`
	RunID         string         `json:"runId"`
	RunDir        string         `json:"runDir"` // absolute
	Verdict       string         `json:"verdict"`
	Approved      string         `json:"approved"` // by what an unreviewed run was let through: "tty", "" = it was not needed or not given
	Strategy      string         `json:"strategy"`
	DryRun        bool           `json:"dryRun"`
	Target        Target         `json:"target"`
	Jobs          []Work         `json:"jobs"`   // that left work, each after those it builds on
	Matrix        Matrix         `json:"matrix"` // of the chosen jobs
	Checks        []ledger.Check `json:"checks"` // that ran on the result
	Outcome       string         `json:"outcome"`
	Why           []string       `json:"why"`  // what stands against it, or what a person should know
	Next          []string       `json:"next"` // commands that a person can go on with
	At            time.Time      `json:"at"`
}

// Target is the branch that the work comes onto.
type Target struct {
	Branch string `json:"branch"` // "" = the checkout is on none
	New    bool   `json:"new"`    // it is made by this
	From   string `json:"from"`   // its commit before
	To     string `json:"to"`     // the commit with the work, "" = none was made
}

// Work is what one job left.
type Work struct {
	Job        string     `json:"job"`
	Runtime    string     `json:"runtime"`
	Base       string     `json:"base"`
	Commit     string     `json:"commit"`
	BuildsOn   string     `json:"buildsOn"` // the job at whose snapshot it began, "" = at the run's base
	Patch      string     `json:"patch"`    // its file, in the run directory
	Masked     bool       `json:"masked"`   // that file is a redacted copy
	Files      []FileStat `json:"files"`
	Insertions int        `json:"insertions"`
	Deletions  int        `json:"deletions"`
	Chosen     bool       `json:"chosen"`
	Done       string     `json:"done"` // the commit on the target that brought it there, by this or an earlier integration; "" = it is not there
}

// FileStat is how much of one file changed; lines are -1 in a binary one.
type FileStat struct {
	Path       string `json:"path"`
	Status     string `json:"status"` // A added, M modified, D deleted, T type changed
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
}

// Matrix says which works cannot be merged with what, by git's own merge.
type Matrix struct {
	Target []Clash `json:"target"` // with the target as it is: A is the job, B is ""
	Pairs  []Clash `json:"pairs"`  // with each other
}

// Clash is two sides of which no merge can be made, and where.
type Clash struct {
	A     string   `json:"a"`
	B     string   `json:"b"`
	Files []string `json:"files"`
}

// CutOff says that an integration was cut off while it moved its target, and what
// finishes it.
func CutOff(in Integration) string {
	finish := Command(in.RunID, nil, Merge, "")
	switch t := in.Target; {
	case t.New:
		return fmt.Sprintf("an integration of run %s was cut off while it made branch %s; finish it with: %s", in.RunID, t.Branch, finish)
	case t.Branch == "":
		return fmt.Sprintf("an integration of run %s was cut off while it moved the checkout, in which files may be half moved and git's index locked; commit nothing there, and finish it with: %s", in.RunID, finish)
	default:
		return fmt.Sprintf("an integration of run %s was cut off while it moved branch %s: files of the checkout may be half moved and git's index locked; commit nothing there, and finish it with: %s", in.RunID, t.Branch, finish)
	}
}
