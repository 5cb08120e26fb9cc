package ledger

import "time"

// Reclaimed is reclaimed.json: what `clean` took away of a run. An item is written
// before it is removed, so that a clean that was cut off is gone on with.
type Reclaimed struct {
	SchemaVersion int             `json:"schemaVersion"`
	Items         []ReclaimedItem `json:"items"`
}

// ReclaimedItem is one worktree or branch.
type ReclaimedItem struct {
	Kind    string    `json:"kind"` // worktree | branch
	Job     string    `json:"job"`
	Attempt int       `json:"attempt"`
	Path    string    `json:"path"` // of the worktree, absolute
	Branch  string    `json:"branch"`
	Commit  string    `json:"commit"` // that the branch was at
	Why     string    `json:"why"`
	Saved   string    `json:"saved"` // the ref and file that what it held was saved as, "" = nothing had to be
	Done    bool      `json:"done"`  // it is gone
	At      time.Time `json:"at"`
}
