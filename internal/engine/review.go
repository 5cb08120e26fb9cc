package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// The arbiter works in a tree of its own: the base of the run, checked out, and in one
// folder of it what each job left. Nothing there is the person's, nothing there is lost.

// reviewFolder is the name of that folder, where the base has nothing of that name.
const reviewFolder = "orchestrate-review"

// review is the arbiter's tree.
type review struct {
	tree *workspace.Tree
	made *workspace.Fingerprint // as it was made; nil = by an engine before
	sum  string                 // of that, "" = not known
}

// treeless says why the arbiter gets no tree of its own, "" = it does.
func (p *Plan) treeless() string {
	switch {
	case p.Repo == nil:
		return "there is no repository here"
	case p.noTree != "":
		return p.noTree
	}
	if block := p.untreeable(&p.odd); block != nil {
		return block.Detail
	}
	return ""
}

// reviewIn is the name of the folder in the arbiter's tree, "" where it gets none: one
// that nothing in the base has, whatever the case of its letters.
func (r *run) reviewIn(ctx context.Context) string {
	if r.plan.treeless() != "" {
		return ""
	}
	taken, err := r.plan.Repo.NamesAt(ctx, r.plan.Base)
	if err != nil {
		if ctx.Err() == nil {
			r.treelessBecause(err)
		}
		return ""
	}
	name := reviewFolder
	for n := 2; slices.ContainsFunc(taken, func(s string) bool { return strings.EqualFold(s, name) }); n++ {
		name = fmt.Sprintf("%s-%d", reviewFolder, n)
	}
	return name
}

// reviewDir is the tree that is made for attempt n of the arbiter.
func (r *run) reviewDir(n int) string {
	return filepath.Join(r.treeRoot, ledger.TreeName(ledger.ArbiterJob, n))
}

// openReview makes the arbiter's tree, unless it is there. Where it cannot be made, the
// question is put without it: the arbiter works in the workspace and reads the run
// directory.
func (r *run) openReview(ctx context.Context, q question) question {
	if r.review != nil || q.folder == "" {
		return q
	}
	rv, err := r.makeReview(ctx, q)
	switch {
	case err == nil:
		r.review = rv
	case ctx.Err() == nil:
		r.treelessBecause(err)
		q.bundle.Notes = slices.Clone(r.outside)
		q = r.put(q, "")
	}
	return q
}

func (r *run) treelessBecause(err error) {
	r.tell(fmt.Sprintf("the arbiter has no tree of its own, and works in the workspace: %v", err))
}

func (r *run) makeReview(ctx context.Context, q question) (rv *review, err error) {
	r.note(ledger.Under("", ledger.StepReview, "", false))
	defer func() { r.note(ledger.Under("", ledger.StepReview, "", true)) }()
	if err := errors.Join(r.removeReviews(ctx), os.MkdirAll(r.treeRoot, 0o700)); err != nil {
		return nil, err
	}
	tree, err := r.plan.Repo.AddWorktree(ctx, r.reviewDir(r.attempts[ledger.ArbiterJob]+1), "", r.plan.Base)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.plan.Repo.RemoveTree(context.WithoutCancel(ctx), tree.Dir, tree.Place().GitDir))
		}
	}()
	if err := r.fillReview(ctx, tree.Dir, q); err != nil {
		return nil, err
	}
	made, err := workspace.FolderFingerprint(ctx, tree.Dir)
	return &review{tree: tree, made: &made, sum: reviewSum(made)}, err
}

// reviewSum is the same for two states of a folder only if they are.
func reviewSum(fp workspace.Fingerprint) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(fp.Entries)) {
		fmt.Fprintf(h, "%q %q\n", name, fp.Entries[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// put words the question: what the arbiter is shown names where it can read the whole of
// it, in this folder of its tree, if there is one.
func (r *run) put(q question, folder string) question {
	q.folder = folder
	laid := &layout{}
	if folder != "" {
		if l, err := r.layOut(q.bundle.Jobs, mostReview); err == nil { // else no tree can be filled, which is told then
			laid = l
		}
	}
	q.bundle.Jobs = slices.Clone(q.bundle.Jobs)
	for i := range q.bundle.Jobs {
		q.bundle.Jobs[i] = r.placed(q.bundle.Jobs[i], folder, laid)
	}
	q.evidence = r.redact.Bytes(arbiter.Evidence(q.bundle))
	if q.compared = q.evidence; r.askedWith != nil {
		b := q.bundle
		b.Notes = r.comparedNotes(folder != "")
		q.compared = r.redact.Bytes(arbiter.Evidence(b))
	}
	return q
}

// comparedNotes are those that an arbiter before was shown. What was told since changed
// nothing of what it reviewed: what a job left has facts of its own in the evidence. Only
// an arbiter without a tree of its own reviews the checkout, whatever changed there.
func (r *run) comparedNotes(treed bool) []string {
	notes := slices.Clone(r.askedWith)
	for _, text := range r.checkout {
		if !treed && !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	return notes
}

// reviewPlace is where the arbiter works.
func (r *run) reviewPlace() place {
	if r.review == nil {
		return place{dir: r.plan.Root, top: r.plan.Root}
	}
	dir := r.review.tree.Dir
	return place{dir: dir, top: dir, tree: r.review.tree, isolated: true}
}

// takeReview goes on with the tree of an attempt that an engine before began.
func (r *run) takeReview(a *attempt) {
	if a.at.tree != nil {
		r.review = &review{tree: a.at.tree, sum: a.before}
	}
}

// wroteReview lists what the arbiter changed in its tree, where nothing shows that it
// could not. Nobody else has any business there.
func (r *run) wroteReview(ctx context.Context, a *attempt) (changed []string) {
	if r.review == nil || r.review.sum == "" {
		return nil
	}
	now, err := workspace.FolderFingerprint(context.WithoutCancel(ctx), r.review.tree.Dir)
	if err != nil {
		r.tell(fmt.Sprintf("the tree of the arbiter could not be compared with what was made: %v", err))
		return nil
	}
	sum := reviewSum(now)
	if sum == r.review.sum {
		return nil
	}
	at := r.shown(r.review.tree.Dir)
	if changed = []string{at}; r.review.made != nil {
		changed = r.review.made.Diff(now)
		for i := range changed {
			changed[i] = path.Join(at, untrusted.From(changed[i]).Line(0))
		}
	}
	r.review.made, r.review.sum = &now, sum // said once
	if sandboxed(a.route) {
		r.tell("changed in the tree of the arbiter, but not by it, which a sandbox held: " + some(changed))
		return nil
	}
	return changed
}

// closeReview removes the arbiter's tree, and those that engines before left.
func (r *run) closeReview(ctx context.Context) {
	if r.plan.Repo == nil || r.review == nil && !r.resumed {
		return
	}
	var err error
	if r.review != nil {
		_, err = r.review.tree.Relink() // it may have changed what proves that the tree is ours
		r.review = nil
	}
	if err = errors.Join(err, r.removeReviews(context.WithoutCancel(ctx))); err != nil {
		r.note(ledger.Noted("", r.redact.String(fmt.Sprintf("the tree of the arbiter is left, `orchestrate clean` removes it: %v", err))))
	}
}

// removeReviews removes the trees that were made for the arbiter: each is named after an
// attempt on record, or after the next one. Where something of an attempt may still run
// they stay; `clean` knows them.
func (r *run) removeReviews(ctx context.Context) (err error) {
	if slices.ContainsFunc(r.arbiters, func(s ledger.JobStatus) bool { return s.Proof != nil && !s.Proof.Gone }) {
		return nil
	}
	for n := 1; n <= r.attempts[ledger.ArbiterJob]+1; n++ {
		dir := r.reviewDir(n)
		if r.resumed {
			if busy := gitEnds(ctx, dir); busy != nil {
				err = errors.Join(err, busy)
				continue
			}
		}
		err = errors.Join(err, r.dropTree(ctx, dir))
	}
	return err
}

// gitLimit is how long a git that was left alone may go on filling a tree.
const gitLimit = time.Minute

// gitEnds waits for a git that an engine before left filling a tree when it was killed,
// and that would fill it while it is removed.
func gitEnds(ctx context.Context, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil //nolint:nilerr // what is not there is filled by nobody
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	for {
		pid := 0
		for _, o := range occupants() {
			if inside(real, o.dir) && o.program() == "git" {
				pid = o.pid
			}
		}
		if pid == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a git that an engine before began (process %d) still fills %s: %w", pid, dir, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
