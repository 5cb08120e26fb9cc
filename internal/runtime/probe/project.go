package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Instructions says which file of the project the program takes for instructions
// although it is told to leave the project out, as a limit; "" = there is none of these
// names from dir up to the top of the checkout.
func Instructions(dir string, names ...string) string {
	for at := filepath.Clean(dir); filepath.IsAbs(at); at = filepath.Dir(at) {
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(at, name)); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Sprintf("it takes %s for instructions, which no flag keeps out", filepath.Join(at, name))
			}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			break
		}
	}
	return ""
}
