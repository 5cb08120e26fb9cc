package reclaim

import "time"

// The kinds of leftovers.
const (
	KindRun      = "run"      // a run directory
	KindWorktree = "worktree" // of one attempt
	KindBranch   = "branch"   // of one attempt
	KindPrivate  = "private"  // a folder for temporary files that a dead run left
	KindSalvage  = "salvage"  // a ref that keeps what an earlier clean saved
)

// What may become of a leftover.
const (
	Keep   = "keep"
	Remove = "remove"
)

// Item is one leftover.
type Item struct {
	Kind    string    `json:"kind"`
	Run     string    `json:"run"` // run id
	Job     string    `json:"job"` // "" = the run's own
	Attempt int       `json:"attempt"`
	Path    string    `json:"path"`   // absolute, "" = it is no folder
	Branch  string    `json:"branch"` // or ref, "" = it is none
	Commit  string    `json:"commit"` // that the branch is at
	Bytes   int64     `json:"bytes"`  // on disk
	At      time.Time `json:"at"`     // of its last change
	State   string    `json:"state"`  // of its run or attempt, in a word or two
	Dirty   int       `json:"dirty"`  // files of a worktree that no commit holds
	Fate    string    `json:"fate"`   // keep | remove
	Why     string    `json:"why"`    // why it may or may not go
	Next    string    `json:"next"`   // what would let it go, "" = nothing that this program does
	Done    bool      `json:"done"`   // it has been removed
	Saved   string    `json:"saved"`  // the ref and file that what it held was saved as, "" = nothing had to be
}

// Listing is all of them: what `clean` prints.
type Listing struct {
	SchemaVersion int      `json:"schemaVersion"`
	Root          string   `json:"root"`
	DryRun        bool     `json:"dryRun"`
	Items         []Item   `json:"items"`
	Bytes         int64    `json:"bytes"`     // of all
	Removable     int64    `json:"removable"` // of those that may go
	Notes         []string `json:"notes"`
}
