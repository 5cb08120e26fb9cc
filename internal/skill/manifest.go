package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// ManifestFile is in the skill's folder, beside the skill's own files.
const ManifestFile = ".orchestrate-skill.json"

// manifest is what was written into a folder.
type manifest struct {
	SchemaVersion int    `json:"schemaVersion"`
	Version       string `json:"version"`
	// Folders is how many folders were made for it, counted upwards from its own.
	Folders int `json:"folders"`
	// Files has, for each file, the digests of what may have been written: more than one
	// where an installation was cut off.
	Files map[string][]string `json:"files"`
}

// readManifest is nil where there is none.
func readManifest(root *os.Root, folder string) (*manifest, error) {
	name := path.Join(folder, ManifestFile)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	data, err := readRegular(root, name, info)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(&m)
	}
	if err == nil && m.SchemaVersion != 1 {
		err = fmt.Errorf("its schemaVersion is %d, not 1", m.SchemaVersion)
	}
	for file := range m.Files {
		if err == nil && !fs.ValidPath(file) {
			err = fmt.Errorf("it names %q, which is not below the folder", file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s, which says what was installed, cannot be used (%w); remove the folder by hand if nothing in it is yours", name, err)
	}
	return &m, nil
}

func (m *manifest) write(root *os.Root, folder string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replace(root, path.Join(folder, ManifestFile), append(data, '\n'))
}

// wrote reports whether a file's content is one that was written there.
func (m *manifest) wrote(file, sum string) bool {
	return m != nil && slices.Contains(m.Files[file], sum)
}

// paths are those of the files that were written.
func (m *manifest) paths() []string {
	if m == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(m.Files))
}

// with is the manifest for the time in which files of s take the place of those of m.
func (m *manifest) with(s Skill, made int) *manifest {
	next := manifest{SchemaVersion: 1, Version: s.Version, Folders: made, Files: map[string][]string{}}
	if m != nil {
		next.Folders = max(made, m.Folders)
		next.Files = maps.Clone(m.Files)
	}
	for file, data := range s.Files {
		if sum := digest(data); !slices.Contains(next.Files[file], sum) {
			next.Files[file] = append(slices.Clone(next.Files[file]), sum)
		}
	}
	return &next
}
