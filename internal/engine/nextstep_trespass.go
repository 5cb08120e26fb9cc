package engine

import (
	"regexp"
	"strings"

	"orchestrate/internal/ledger"
)

// What a job, or somebody else, changed outside its tree is not in its patch: it has to be
// looked for where it is.

// Ends of what is said of a change outside a job's own tree.
const (
	ofCheckout = " of the shared checkout"
	ofTree     = " of the tree of job "
)

// maxTrespass bounds how much of a reason is read for it, in characters.
const maxTrespass = 8000

var (
	headWasAt = regexp.MustCompile(`(?:^|[ ,])HEAD \(was at ([0-9a-f]+)\)`)
	refWasAt  = regexp.MustCompile(`\.git/(refs/[^ ]+) \(was at ([0-9a-f]+)\)`)
	inGitDir  = regexp.MustCompile(`\.git/((?:config|hooks|info)[^ ,]*)`)
)

// aboutTrespass is what a person can do about changes of the shared checkout and of other
// jobs' trees, "" = the reason speaks of none.
func (t trouble) aboutTrespass() string {
	said := t.status.ReasonEvidence.Line(maxTrespass)
	steps := []string{"if it was you who made that change, nothing is wrong with the job's work (" + t.file(ledger.PatchFile) + "), and " + t.resume() + " does it again"}
	if strings.Contains(said, ofCheckout) {
		steps = append(steps, "else undo what you do not want; `git status` and `git diff` in your checkout show what changed there")
		if m := headWasAt.FindStringSubmatch(said); m != nil {
			steps = append(steps, "`git reset --keep "+short(m[1])+"` takes your branch back to where it was")
		}
		for _, m := range refWasAt.FindAllStringSubmatch(said, -1) {
			steps = append(steps, "`git update-ref "+m[1]+" "+short(m[2])+"` puts that one back")
		}
		if m := inGitDir.FindStringSubmatch(said); m != nil {
			steps = append(steps, "look into "+m[1]+" of the git directory before you use git there: it can make git run something")
		}
	}
	if strings.Contains(said, ofTree) {
		steps = append(steps, "what it put into another job's tree is in no snapshot but perhaps that job's own: see its changes.patch")
	}
	if len(steps) == 1 {
		return ""
	}
	return strings.Join(steps, "; ")
}

// short is a commit as a person types it.
func short(sha string) string { return sha[:min(len(sha), 12)] }

// secretKept says where a secret that failed a writer still is.
func (t trouble) secretKept() string {
	branch := orEmpty(t.status.Branch)
	if branch == "" {
		return ""
	}
	return "; until `orchestrate clean --discard` it is, whole, on branch " + branch + ": push no branches of this run (`git push --all` would)"
}
