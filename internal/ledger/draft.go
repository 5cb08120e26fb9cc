package ledger

import "orchestrate/internal/untrusted"

// DraftDir is the folder, in the directory of a run that made a spec from a request, of
// what it came to: request.md, spec.yaml and DraftFile.
const (
	DraftDir  = "draft"
	DraftFile = "draft.json"
)

// What came of a request.
const (
	DraftedSpec    = "spec"    // spec.yaml is beside it
	DraftedNone    = "none"    // no orchestration is needed
	DraftedInvalid = "invalid" // no answer held
)

// Draft is draft.json: what a planner made of a request. A spec.yaml beside it whose bytes
// have its digest is as the planner wrote it; any other is a person's.
type Draft struct {
	SchemaVersion int            `json:"schemaVersion"`
	Outcome       string         `json:"outcome"` // spec | none | invalid
	Why           untrusted.Text `json:"why"`     // of none, in the planner's words
	SpecDigest    string         `json:"specDigest"`
	RequestDigest string         `json:"requestDigest"` // SHA-256 of request.md, hex
	Runtime       string         `json:"runtime"`       // of the planner's newest attempt
	Model         string         `json:"model"`         // the same; "" = not known
	Rounds        []DraftRound   `json:"rounds"`        // one per answer, oldest first
}

// DraftRound is one answer of the planner.
type DraftRound struct {
	Attempt  int              `json:"attempt"`
	Problems []untrusted.Text `json:"problems"` // what did not hold, one a line as it is told
}
