package skill

import (
	"maps"
	"os"
	"path"
	"slices"
)

// Install does what Look says; force replaces changed files too, which are left alone
// without it. The manifest has a file's digest before the file is there, so that a
// process killed at any moment leaves only files that are known to be ours. A first
// installation killed before its manifest is there may leave folders, empty or with the
// manifest's draft in the last: nobody knows of them later, and Uninstall leaves them.
func (s Skill) Install(p Place, force bool) error {
	return within(p, func(root *os.Root, folder string) error {
		m, err := known(root, folder)
		if err != nil {
			return err
		}
		steps, err := s.steps(root, folder, m)
		if err != nil {
			return err
		}
		made, err := makeFolders(root, folder)
		if err != nil {
			return err
		}
		during := m.with(s, made)
		if err := during.write(root, folder); err != nil {
			return err
		}
		for _, step := range steps {
			if err := s.take(root, folder, step, force); err != nil {
				return err
			}
		}
		return s.settled(during.Folders).write(root, folder)
	})
}

// take carries out one step.
func (s Skill) take(root *os.Root, folder string, step Step, force bool) error {
	name := path.Join(folder, step.File)
	switch {
	case step.Do == Remove:
		return drop(root, name)
	case step.Do == Same, step.Do == Changed && !force:
		return nil
	}
	if _, err := makeFolders(root, path.Dir(name)); err != nil {
		return err
	}
	return replace(root, name, s.Files[step.File])
}

// settled is the manifest of a complete installation.
func (s Skill) settled(folders int) *manifest {
	return (*manifest)(nil).with(s, folders)
}

// Removal is what was taken away.
type Removal struct {
	Removed []string // files
	Kept    []string // files that were changed since they were installed
	Found   bool     // an installation was there at all
}

// Uninstall removes the files that are as they were installed, and the folders that were
// made for them once nothing else is in them. With dry it only says so.
func Uninstall(p Place, dry bool) (r Removal, err error) {
	err = within(p, func(root *os.Root, folder string) error {
		m, err := known(root, folder)
		if err != nil || m == nil {
			return err
		}
		r.Found = true
		for _, file := range m.paths() {
			there, sum, err := look(root, folder, file)
			switch {
			case err != nil:
				return err
			case there && m.wrote(file, sum):
				r.Removed = append(r.Removed, file)
			case there:
				r.Kept = append(r.Kept, file)
			}
		}
		if dry {
			return nil
		}
		return m.remove(root, folder, r)
	})
	return r, err
}

// remove ends with the manifest, so that what is cut off can be done again. Where files
// are kept it stays for these, and with it what it knows of folders.
func (m *manifest) remove(root *os.Root, folder string, r Removal) error {
	for _, file := range r.Removed {
		if err := drop(root, path.Join(folder, file)); err != nil {
			return err
		}
	}
	if err := m.clear(root, folder); err != nil {
		return err
	}
	if len(r.Kept) > 0 {
		maps.DeleteFunc(m.Files, func(file string, _ []string) bool { return !slices.Contains(r.Kept, file) })
		return m.write(root, folder)
	}
	if err := drop(root, path.Join(folder, ManifestFile)); err != nil {
		return err
	}
	return m.removeFolders(root, folder)
}

// clear removes drafts of files, and folders of files in which nothing is left.
func (m *manifest) clear(root *os.Root, folder string) error {
	for _, file := range append(m.paths(), ManifestFile) {
		name := path.Join(folder, file)
		if err := drop(root, draft(name)); err != nil {
			return err
		}
		if dir := path.Dir(name); dir != folder {
			if _, err := removeEmpty(root, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFolders removes the folders that were made, from the innermost on, up to the
// first in which something is left.
func (m *manifest) removeFolders(root *os.Root, folder string) error {
	for range m.Folders {
		if folder == "." {
			return nil
		}
		gone, err := removeEmpty(root, folder)
		if err != nil || !gone {
			return err
		}
		folder = path.Dir(folder)
	}
	return nil
}
