package workspace

import "context"

// TakeOver makes the worktree of a writer that is over the tree of one that goes on in it:
// on a new branch, which like the changes of the new one begins at the commit at.Base. The
// branch of the one before stays where it is, and all files do. ErrBranchExists where the
// name is taken: then nothing was done. After another error the branch may be there.
func (r *Repo) TakeOver(ctx context.Context, at TreePlace, branch string) (*Tree, error) {
	t, err := r.OpenTree(ctx, at)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // half of it would be a branch that nobody has
	if err := r.claim(ctx, branch, at.Base); err != nil {
		return nil, err
	}
	if err := t.unlock(); err != nil { // of the one before, whose processes are gone
		return nil, err
	}
	t.Branch = branch
	_, err = t.git.run(ctx, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	return t, err
}
