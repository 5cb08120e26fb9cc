package policy

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mistakes are what is wrong with the paths that the operator opens, each with the
// place of the path in its list. home is the home folder, "" = not known.
func (r SandboxRule) mistakes(home string) (all []mistake) {
	for i, path := range r.Writable {
		if text := openMistake(path, home); text != "" {
			all = append(all, mistake{[]string{"sandbox", "writable", strconv.Itoa(i)}, text})
		} else if text := personalMistake(path, home); text != "" {
			all = append(all, mistake{[]string{"sandbox", "writable", strconv.Itoa(i)}, text})
		}
	}
	for i, path := range r.Readable {
		if text := openMistake(path, home); text != "" {
			all = append(all, mistake{[]string{"sandbox", "readable", strconv.Itoa(i)}, text})
		}
	}
	return all
}

// statesMistakes are places with keys that described runtimes call their state: jobs
// would change them.
func (op Operator) statesMistakes(home string) (all []mistake) {
	for _, name := range slices.Sorted(maps.Keys(op.Runtimes)) {
		custom := op.Runtimes[name].Custom
		if custom == nil {
			continue
		}
		for i, path := range custom.State {
			if text := personalMistake(path, home); text != "" {
				all = append(all, mistake{[]string{"runtimes", name, "custom", "state", strconv.Itoa(i)}, text})
			}
		}
	}
	return all
}

// openMistake says why a path cannot be opened to jobs at all.
func openMistake(path, home string) string {
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
		return fmt.Sprintf("found %q; write an absolute path or one that begins with ~/", path)
	}
	if at := atHome(path, home); isIn(at, atHome("~/", home)) {
		return fmt.Sprintf("found %q, which takes in the whole home folder; name the folders below it that jobs need", path)
	}
	return ""
}

// personalMistake says which keys a path would let jobs change.
func personalMistake(path, home string) string {
	at := atHome(path, home)
	for _, keys := range Personal(atHome("~/", home), "") {
		if isIn(at, keys) || isIn(keys, at) {
			rel, _ := filepath.Rel(atHome("~/", home), keys) // keys lies below it by its making
			return fmt.Sprintf("found %q, and with it jobs could change ~/%s; name another folder", path, filepath.ToSlash(rel))
		}
	}
	return ""
}

// atHome is the path with ~/ resolved. A home that is not known is a folder that
// nothing else is in.
func atHome(path, home string) string {
	if !filepath.IsAbs(home) {
		home = string(filepath.Separator) + "~"
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return filepath.Clean(path)
}

// isIn reports whether path is dir or lies below it.
func isIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
