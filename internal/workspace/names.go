package workspace

import "context"

// NamesAt lists what is directly in the top folder of a commit or tree.
func (r *Repo) NamesAt(ctx context.Context, commit string) ([]string, error) {
	out, err := r.git.run(ctx, "ls-tree", "-z", "--name-only", "--end-of-options", commit)
	return fields(out), err
}
