package private

import (
	"os"
	"path/filepath"
)

// mirror makes a private picture of one of the person's folders: folders of our own down
// to a depth, and below it links to what is there. So what is there can be read at its
// place, and new things can be added beside it. It reports how many links it made; what
// cannot be linked is left out.
func mirror(from, to string, depth, most int) (links int) {
	entries, err := os.ReadDir(from)
	if err != nil || os.MkdirAll(to, 0o700) != nil {
		return 0
	}
	for _, e := range entries {
		if links >= most {
			return links
		}
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if e.IsDir() && depth > 0 {
			links += mirror(source, target, depth-1, most-links)
			continue
		}
		if os.Symlink(source, target) == nil {
			links++
		}
	}
	return links
}
