package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// madeFrom is the request that a planner made a spec from.
type madeFrom struct {
	words  []byte // nil = they are not beside it any more
	digest string
	abroad bool   // the mark lies beside the file, outside of the workspace
	doubt  string // why nobody can say whether a planner made it; "" = one did
}

// requestBehind is what a spec was made from, nil where a person wrote it or changed it
// since. A planner's bytes are known by their digest, wherever they were copied to or linked
// from: a run of the workspace has it, or what lies beside the file itself.
func (p *Plan) requestBehind() *madeFrom {
	s := p.Spec
	dirs, err := ledger.RunDirs(s.WorkspaceRoots[0])
	if err != nil {
		return doubtful(s.Dir, err)
	}
	for _, dir := range slices.Backward(dirs) {
		if made := plannedIn(dir, s.Digest); made != nil {
			return made
		}
	}
	return p.besideIt()
}

// plannedIn is the request of a spec that a run made, or carried out.
func plannedIn(run, sum string) *madeFrom {
	draft := filepath.Join(run, ledger.DraftDir)
	made, err := markIn(draft, sum)
	if err != nil && hasSum(filepath.Join(draft, ledger.SpecFile), sum) {
		return doubtful(draft, err)
	}
	if made != nil {
		return made
	}
	made, err = carriedOut(run, sum)
	if err != nil && hasSum(filepath.Join(run, ledger.SpecFile), sum) {
		return doubtful(run, err)
	}
	return made
}

// besideIt looks in the folder that the spec is named in, and in the one that it is in. What
// is there and cannot be read may be a planner's mark, so it counts as one.
func (p *Plan) besideIt() *madeFrom {
	dirs := []string{p.Spec.Dir}
	if real, err := filepath.EvalSymlinks(p.Spec.Path); err == nil && filepath.Dir(real) != p.Spec.Dir {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		for _, look := range []func(dir, sum string) (*madeFrom, error){markIn, carriedOut} {
			made, err := look(dir, p.Spec.Digest)
			if err != nil {
				return doubtful(dir, err)
			}
			if made != nil {
				made.abroad = !p.holds(dir)
				return made
			}
		}
	}
	return nil
}

// markIn is what draft.json in a folder says of the bytes with this digest.
func markIn(dir, sum string) (*madeFrom, error) {
	data, err := os.ReadFile(filepath.Join(dir, ledger.DraftFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var doc ledger.Draft
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ledger.DraftFile), err)
	}
	if doc.Outcome != ledger.DraftedSpec || doc.SpecDigest != sum {
		return nil, nil
	}
	return worded(dir, doc.RequestDigest), nil
}

// carriedOut is what the journal in a run directory with request.md says of them: its
// spec.yaml is a planner's, unless somebody changed it there.
func carriedOut(dir, sum string) (*madeFrom, error) {
	if _, err := os.Stat(filepath.Join(dir, ledger.RequestMDFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(dir, ledger.JournalFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	info, err := ledger.Begun(dir)
	if err != nil || info.RequestDigest == "" || info.SpecDigest != sum {
		return nil, err
	}
	return worded(dir, info.RequestDigest), nil
}

// worded adds the request's words, if they are in that folder.
func worded(dir, sum string) *madeFrom {
	made := &madeFrom{digest: sum}
	if words, err := os.ReadFile(filepath.Join(dir, ledger.RequestMDFile)); err == nil && digest(words) == sum {
		made.words = words
	}
	return made
}

// doubtful is a spec whose maker cannot be told, so it is held to what a planner's is. The
// digest is that of no words: a run that goes on knows by it that there is one.
func doubtful(dir string, err error) *madeFrom {
	return &madeFrom{digest: digest(nil), doubt: fmt.Sprintf("whether a planner wrote this spec cannot be told from what is in %s (%v), so it is taken for a planner's", dir, err)}
}

// hasSum reports whether a file's bytes have a digest; what cannot be read has none.
func hasSum(file, sum string) bool {
	got, err := sumOf(file)
	return err == nil && got == sum
}

// holds reports whether a folder is in the workspace, wherever links lead.
func (p *Plan) holds(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && inside(p.Spec.WorkspaceRoots[0], real)
}

// strayed refuses a planner's spec outside of the workspace that it was made for: it names
// none, so its jobs would work on something else.
func (p *Plan) strayed() []spec.Diagnostic {
	return []spec.Diagnostic{{
		Pos: spec.Position{File: p.Spec.Path, Line: 1, Col: 1}, Rule: "workspace",
		Message: "a planner made this spec for the workspace that it lies in, not for " + p.Spec.WorkspaceRoots[0] + "; run it there, or change it (a comment is enough): then it is yours",
	}}
}
