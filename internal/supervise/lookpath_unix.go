//go:build linux || darwin

package supervise

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// lookPath finds the program as a shell with that environment would, except
// that relative entries of PATH are passed over, as what they find depends on what
// a job has written.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil // relative to the working folder, where it is executed
	}
	path := ""
	for _, v := range slices.Backward(env) {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			path = rest
			break
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		var st unix.Stat_t
		if unix.Stat(file, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && unix.Access(file, unix.X_OK) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("program %q is not on PATH (%s)", name, path)
}
