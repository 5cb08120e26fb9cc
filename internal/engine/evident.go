package engine

import (
	"slices"

	"orchestrate/internal/ledger"
)

// evident are findings that name only files that are there: which of them a job left
// depends on how far it came.
func (r *run) evident(all []ledger.Finding) []ledger.Finding {
	for i, f := range all {
		all[i].Evidence = slices.DeleteFunc(append([]string{}, f.Evidence...), func(rel string) bool { return !r.there(rel) })
	}
	return all
}
