package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"orchestrate/internal/workspace"
)

// inSubmodule begins what is said of work that no patch can hold.
const inSubmodule = "files in the submodule "

// unheld fails a writer that changed what no patch of the repository can hold as it is:
// files inside a submodule, or such as git passes through a filter. The work stays where
// it is.
func (r *run) unheld(ctx context.Context, a *attempt, patch workspace.Patch, s *settlement) error {
	for _, name := range patch.Unseen {
		s.facts.Ownership = append(s.facts.Ownership, fmt.Sprintf(
			inSubmodule+"%s (its patch cannot hold them, they are kept in its tree; give that work to a job with its cwd in that repository)", name))
	}
	if odd := &r.plan.odd; odd.known && len(odd.filtered) == 0 && !patch.SetsAttributes() {
		return nil
	}
	filtered, err := a.at.tree.Filtered(ctx, patch)
	if err != nil {
		return fmt.Errorf("whether git filters what job %s changed cannot be told: %w", a.job.ID, err)
	}
	for _, name := range slices.Sorted(maps.Keys(filtered)) {
		s.facts.Ownership = append(s.facts.Ownership, fmt.Sprintf(
			"%s, which git passes through the filter %s that is off here (its content itself is in the patch; add it by hand)", name, filtered[name]))
	}
	return nil
}
