package private

import (
	"os"
	"path/filepath"
)

// cargoStores are what a build takes from the person's CARGO_HOME, and how deep in each
// the single downloads are: index/REGISTRY/.cache/ab/cd/NAME, src/REGISTRY/NAME-VERSION.
// Sign-ins are left out.
var cargoStores = []struct {
	name  string
	depth int
}{
	{"registry/index", 4},
	{"registry/cache", 1},
	{"registry/src", 1},
	{"git/db", 0},
	{"git/checkouts", 1},
}

// cargo gives a project of cargo's a CARGO_HOME of its own with what the person's has.
// Otherwise it stays the person's, which builds offline with what is there: the many
// links would be in vain.
func (d Dir) cargo(ask Ask) []string {
	person := set(ask.Getenv("CARGO_HOME"), under(ask.Getenv("HOME"), ".cargo"))
	if !anyHas(ask.Trees, "Cargo.toml") || !filepath.IsAbs(person) || ask.opened(person) {
		return nil
	}
	own, left := d.in("cargo"), mostLinks
	for _, s := range cargoStores {
		left -= mirror(filepath.Join(person, s.name), filepath.Join(own, s.name), s.depth, left)
	}
	for _, settings := range []string{"config.toml", "config"} {
		from := filepath.Join(person, settings)
		if _, err := os.Stat(from); err == nil && os.Symlink(from, filepath.Join(own, settings)) != nil {
			return nil
		}
	}
	return []string{"CARGO_HOME=" + own}
}

// anyHas reports whether one of some folders has a file of that name.
func anyHas(folders []string, name string) bool {
	for _, f := range folders {
		if _, err := os.Lstat(filepath.Join(f, name)); err == nil {
			return true
		}
	}
	return false
}
