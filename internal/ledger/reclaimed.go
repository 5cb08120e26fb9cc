package ledger

import "time"

// Reclaimed is reclaimed.json: what `clean` took away of a run. An item is written
// before it is removed, so that a clean that was cut off is gone on with.
type Reclaimed struct {
	SchemaVersion int             `json:"schemaVersion"`
	Items         []ReclaimedItem `json:"items"`
}

// ReclaimedItem is one worktree, branch or private folder.
type ReclaimedItem struct {
	Kind    string    `json:"kind"` // worktree | branch | private
	Job     string    `json:"job"`  // "" = the run's own
	Attempt int       `json:"attempt"`
	Path    string    `json:"path"`   // absolute, "" = it was no folder
	Branch  string    `json:"branch"` // "" = it was none
	Commit  string    `json:"commit"` // that the branch was at
	Why     string    `json:"why"`
	Saved   string    `json:"saved"` // the ref and file that what it held was saved as, "" = nothing had to be
	Done    bool      `json:"done"`  // it is gone
	At      time.Time `json:"at"`
}
