package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// Name is the skill's name, and that of its folder.
const Name = "orchestrate"

// Skill is what is installed.
type Skill struct {
	Version string            // of the program that it was made for
	Files   map[string][]byte // by slash-separated path below the skill's folder
}

// Read takes a skill from the folder that holds it.
func Read(version string, from fs.FS) (Skill, error) {
	s := Skill{Version: version, Files: map[string][]byte{}}
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		s.Files[path], err = fs.ReadFile(from, path)
		return err
	})
	return s, err
}

// paths are those of the files, in order.
func (s Skill) paths() []string { return slices.Sorted(maps.Keys(s.Files)) }

// Place is where a skill can go: into a folder of its own in a folder of skills.
type Place struct {
	Base  string // absolute; exists, and nothing outside of it is touched
	Below string // slash-separated: the folder of skills, seen from Base; "." = Base itself
}

// Path is the skill's own folder.
func (p Place) Path() string {
	return filepath.Join(p.Base, filepath.FromSlash(p.Below), Name)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
