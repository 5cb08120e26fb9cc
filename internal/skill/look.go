package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// Action is what becomes of one file.
type Action string

// The actions.
const (
	Write   Action = "write"   // it is not there
	Replace Action = "replace" // it is there as it was installed, and the new one differs
	Remove  Action = "remove"  // it is there as it was installed, and is not wanted any more
	Same    Action = "same"    // it is there already
	Changed Action = "changed" // it differs from all that was ever installed there
)

// Step is what becomes of one file of a skill's folder.
type Step struct {
	File string // slash-separated, below the skill's folder
	Do   Action
}

// View is a place as it is found, and what would be done there.
type View struct {
	Place     Place
	Installed string // version that was installed there; "" = nothing that is known
	Steps     []Step
}

// With are the files with which something is done, or one thing only.
func (v View) With(do Action) (files []string) {
	for _, s := range v.Steps {
		if s.Do == do {
			files = append(files, s.File)
		}
	}
	return files
}

// Fresh reports whether nothing of the skill is there.
func (v View) Fresh() bool { return len(v.With(Write)) == len(v.Steps) }

// Current reports whether all is there as it is to be.
func (v View) Current() bool { return len(v.With(Same)) == len(v.Steps) }

// Look says what an installation would do in a place, and changes nothing.
func (s Skill) Look(p Place) (View, error) {
	v := View{Place: p}
	err := within(p, func(root *os.Root, folder string) error {
		m, err := known(root, folder)
		if err != nil {
			return err
		}
		if m != nil {
			v.Installed = m.Version
		}
		v.Steps, err = s.steps(root, folder, m)
		return err
	})
	return v, err
}

// steps compares each file that is to be there, or was installed, with what is there.
func (s Skill) steps(root *os.Root, folder string, m *manifest) (all []Step, err error) {
	files := append(s.paths(), m.paths()...)
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		there, sum, err := look(root, folder, file)
		if err != nil {
			return nil, err
		}
		wanted, isWanted := s.Files[file]
		switch {
		case !there && !isWanted:
			continue
		case !there:
			all = append(all, Step{file, Write})
		case isWanted && sum == digest(wanted):
			all = append(all, Step{file, Same})
		case m.wrote(file, sum) && isWanted:
			all = append(all, Step{file, Replace})
		case m.wrote(file, sum):
			all = append(all, Step{file, Remove})
		case isWanted:
			all = append(all, Step{file, Changed})
		}
	}
	return all, nil
}

// look is the digest of a file, "" of what is none.
func look(root *os.Root, folder, file string) (there bool, sum string, err error) {
	name := path.Join(folder, file)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, "", nil
	}
	if err != nil {
		return false, "", err
	}
	if !info.Mode().IsRegular() {
		return true, "", nil
	}
	data, err := root.ReadFile(name)
	return true, digest(data), err
}

// known is the manifest of a folder, nil without one. The folder, and that of the
// references in it, must be folders and not links: what a link leads to is somebody else's.
func known(root *os.Root, folder string) (*manifest, error) {
	for _, dir := range []string{folder, path.Join(folder, "references")} {
		info, err := root.Lstat(dir)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is %s and no folder, so nothing is written there; remove it yourself if it is not needed", path.Base(dir), kind(info))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return readManifest(root, folder)
}

func kind(info fs.FileInfo) string {
	if info.Mode()&fs.ModeSymlink != 0 {
		return "a symbolic link"
	}
	return "a file"
}

// within opens a place's base and calls do with it and the skill's folder in it.
func within(p Place, do func(root *os.Root, folder string) error) (err error) {
	root, err := os.OpenRoot(p.Base)
	if err != nil {
		return fmt.Errorf("%s: %w; make that folder, or check its name", p.Path(), err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if link := leadsOut(root, p.Below); link != "" {
		return fmt.Errorf("%s: %s is a symbolic link that leads out of %s, or nowhere, and is not followed; name the folder that it leads to with --dir", p.Path(), link, p.Base)
	}
	if err := do(root, path.Join(p.Below, Name)); err != nil {
		return fmt.Errorf("%s: %w", p.Path(), err)
	}
	return nil
}

// leadsOut is the symbolic link on the way to a folder that cannot be followed below
// root; "" = there is none.
func leadsOut(root *os.Root, folder string) string {
	if folder == "." {
		return ""
	}
	if link := leadsOut(root, path.Dir(folder)); link != "" {
		return link
	}
	info, err := root.Lstat(folder)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	if _, err := root.Stat(folder); err != nil {
		return folder
	}
	return ""
}
