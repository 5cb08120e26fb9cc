package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox/private"
)

// privateRoot is where the private folders of this run's attempts are: one place, so
// that no attempt reads those of the others, with a short name, since sockets may be in
// it.
func (r *run) privateRoot() string { return privateRootOf(r.led.Dir) }

func privateRootOf(runDir string) string {
	sum := sha256.Sum256([]byte(runDir))
	return filepath.Join(os.TempDir(), "orchestrate-"+hex.EncodeToString(sum[:6]))
}

// furnishPrivately gives an attempt its private folder, and its tools the way to it,
// where a sandbox will keep them from all others.
func (r *run) furnishPrivately(a *attempt) (err error) {
	if !r.plan.Sandbox.Holds() {
		return nil
	}
	r.furnishing.RLock()
	defer r.furnishing.RUnlock()
	root := r.privateRoot()
	if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("no folder for what a job keeps to itself: %w", err)
	}
	if err := onlyOurs(root); err != nil {
		return err
	}
	ask := private.Ask{Parent: root, Getenv: func(name string) string { return environ.Value(a.env, name) }, Self: r.eng.Self, Open: r.eng.openFolders()}
	if a.job.Writes() { // nobody else installs into the tree
		ask.Trees = []string{a.at.top, a.at.dir}
	}
	if a.private, err = private.Make(ask); err != nil {
		return err
	}
	return r.putPrivately(a)
}

// putPrivately writes what the attempt's program is given for the sandbox alone.
func (r *run) putPrivately(a *attempt) error {
	ad, ok := r.eng.adapter(a.route.Runtime)
	if !ok {
		return nil
	}
	for _, f := range r.eng.confinementOf(ad, a.env).Files {
		path := filepath.Join(a.private.Path, f.Name)
		if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil {
			return fmt.Errorf("%s of a job's private folder: %w", f.Name, err)
		}
		a.private.Env = append(a.private.Env, f.Variable+"="+path)
	}
	return nil
}

// onlyOurs refuses a folder that somebody else could have put there.
func onlyOurs(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || info.Mode().Perm() != 0o700 || !mine(info):
		return fmt.Errorf("%s is there and is not the private folder that this run makes: remove it, or set TMPDIR to another place", dir)
	}
	return nil
}

// dropPrivate removes an attempt's private folder once nothing of the attempt is left.
func (r *run) dropPrivate(a *attempt) {
	if a.private.Path == "" || !a.exit.Proof.Gone && a.handed {
		return
	}
	if err := private.Remove(a.private.Path); err != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
	}
	r.furnishing.Lock()
	defer r.furnishing.Unlock()
	_ = os.Remove(filepath.Dir(a.private.Path)) // the last one takes the place of all away
	a.private = private.Dir{}
}

// tidyPrivate removes what engines before left of attempts that are over.
func (r *run) tidyPrivate() {
	if len(r.unproven) > 0 || onlyOurs(r.privateRoot()) != nil {
		return
	}
	kept := map[string]bool{}
	for _, a := range r.carried {
		kept[a.private.Path] = true
	}
	entries, err := os.ReadDir(r.privateRoot())
	for _, e := range entries {
		if path := filepath.Join(r.privateRoot(), e.Name()); !kept[path] {
			err = errors.Join(err, private.Remove(path))
		}
	}
	if err != nil {
		r.note(ledger.Noted("", r.redact.String(err.Error())))
	}
	_ = os.Remove(r.privateRoot()) // fails while one is in use
}

// overlaid is an environment with other values for some of its names.
func overlaid(env, over []string) []string {
	all := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(over, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(all, over...)
}

// namesOf are the names of an environment, sorted.
func namesOf(env []string) (names []string) {
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
