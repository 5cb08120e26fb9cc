package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// scopeOf is all that an approval of a job on a route covers. It reads the files that
// it names, so it is made anew whenever it counts.
func (r *run) scopeOf(ctx context.Context, j *spec.Job, taken ledger.Route) (gate.Scope, error) {
	files, err := r.namedFiles(ctx, j, taken)
	return gate.ScopeOf(j, taken, files), err
}

// namedFiles are the files of the workspace that a plain program's command and a job's
// checks name, as these will find them: approving `sh deploy.sh` approves that deploy.sh.
func (r *run) namedFiles(ctx context.Context, j *spec.Job, taken ledger.Route) (all []gate.File, err error) {
	base, own := r.baseOf(j, taken)
	inTree := map[string]string{} // path from the top -> the word
	for _, word := range gate.NamedBy(j) {
		path := absoluteIn(j.Cwd, word)
		switch {
		case !inside(r.plan.top(), path) && !inside(r.plan.Root, path):
		case own && !filepath.IsAbs(word):
			inTree[relTo(r.plan.top(), path)] = word
		default: // also of a job with a tree of its own: an absolute path leads out of that
			sum, err := sumOf(path)
			if err != nil {
				return nil, err
			}
			if sum != "" {
				all = append(all, gate.File{Name: word, SHA256: sum})
			}
		}
	}
	if len(inTree) > 0 && r.plan.Repo != nil {
		sums, err := r.plan.Repo.Digests(ctx, base, slices.Sorted(maps.Keys(inTree)))
		if err != nil {
			return nil, err
		}
		for path, sum := range sums {
			all = append(all, gate.File{Name: inTree[path], SHA256: sum})
		}
	}
	slices.SortFunc(all, func(a, b gate.File) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func absoluteIn(cwd, word string) string {
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(cwd, filepath.FromSlash(word))
}

// sumOf is the SHA-256 of a file, hex; "" when there is no plain file.
func sumOf(path string) (sum string, err error) {
	info, err := os.Stat(path)
	switch {
	case isAbsent(err) || namesNone(err) || err == nil && !info.Mode().IsRegular():
		return "", nil
	case err != nil:
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// namesNone: some words of a command could be the name of no file.
func namesNone(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}
