package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"orchestrate/internal/workspace"
)

// Where no sandbox holds, a job in a tree of its own can move or remove every branch of the
// repository. These count as part of the shared checkout then.

// refEntry begins the name of such a ref among what changed in the checkout.
const refEntry = ".git/refs"

// mostRefs bounds how many are told one by one.
const mostRefs = 5000

// ownRefs are those of runs, and those that a fetch moves.
var ownRefs = regexp.MustCompile(`^refs/(heads/orchestrate(-[0-9]+)*/|orchestrate/|remotes/)`)

// addRefs takes the person's refs into a fingerprint.
func (r *run) addRefs(ctx context.Context, fp workspace.Fingerprint) error {
	if r.plan.Repo == nil || r.plan.Sandbox.Holds() {
		return nil
	}
	refs, err := r.plan.Repo.Refs(ctx)
	if err != nil {
		return err
	}
	rest, n := sha256.New(), 0
	for _, ref := range refs {
		switch {
		case ownRefs.MatchString(ref.Name):
		case n < mostRefs:
			n++
			fp.Entries[".git/"+ref.Name] = ref.Commit
		default:
			fmt.Fprintln(rest, ref.Name, ref.Commit)
			fp.Entries[refEntry] = fmt.Sprintf("%x", rest.Sum(nil))
		}
	}
	return nil
}

// sameRefs is what two fingerprints can be compared by: their refs only if both have them.
func sameRefs(a, b workspace.Fingerprint) (workspace.Fingerprint, workspace.Fingerprint) {
	if hasRefs(a) == hasRefs(b) {
		return a, b
	}
	return withoutRefs(a), withoutRefs(b)
}

func hasRefs(fp workspace.Fingerprint) bool {
	for name := range fp.Entries {
		if strings.HasPrefix(name, refEntry) {
			return true
		}
	}
	return false
}

func withoutRefs(fp workspace.Fingerprint) workspace.Fingerprint {
	fp.Entries = maps.Clone(fp.Entries)
	maps.DeleteFunc(fp.Entries, func(name, _ string) bool { return strings.HasPrefix(name, refEntry) })
	return fp
}

// wasAt adds to HEAD and refs among changed names where they were: that commit may have no
// other name any more. The branch that moved with HEAD is not named.
func wasAt(before, after workspace.Fingerprint, changed []string) []string {
	said := make([]string, 0, len(changed))
	for _, name := range changed {
		was := before.Entries[name]
		switch {
		case name == "HEAD":
			was = before.Head
		case strings.HasPrefix(name, refEntry+"/heads/") && before.Head != after.Head && was == before.Head && after.Entries[name] == after.Head:
			continue
		case !strings.HasPrefix(name, refEntry+"/"):
			said = append(said, name)
			continue
		}
		if was == "" {
			said = append(said, name+" (new)")
		} else {
			said = append(said, fmt.Sprintf("%s (was at %s)", name, was))
		}
	}
	return said
}
