package private

import (
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/sandbox/private/gocache"
)

// goProgram lets go have the person's build cache served beside its private one.
func (d Dir) goProgram(ask Ask) []string {
	seed, own := goCache(ask.Getenv), d.in("go-build")
	if ask.Self == "" || seed == "" || ask.opened(seed) {
		return nil
	}
	if info, err := os.Stat(seed); err != nil || !info.IsDir() {
		return nil
	}
	// Test results that the person declared void stay void.
	if b, err := regular(filepath.Join(seed, "testexpire.txt"), 1<<10); err == nil {
		if os.WriteFile(filepath.Join(own, "testexpire.txt"), b, 0o600) != nil {
			return nil
		}
	}
	var words []string
	for _, w := range []string{ask.Self, gocache.Command, seed, own} {
		w, ok := quoted(w)
		if !ok { // go could not be told; its private cache begins empty
			return nil
		}
		words = append(words, w)
	}
	return []string{"GOCACHEPROG=" + strings.Join(words, " ")}
}

// quoted is a word as go splits it: quotes of one kind around it, nothing escaped.
func quoted(w string) (string, bool) {
	switch {
	case !strings.ContainsAny(w, " \t\r\n'\""):
		return w, true
	case !strings.Contains(w, "'"):
		return "'" + w + "'", true
	case !strings.Contains(w, `"`):
		return `"` + w + `"`, true
	}
	return "", false
}

// goCache is the person's build cache as go would find it; "" = none.
func goCache(getenv func(string) string) string {
	dir := set(set(getenv("GOCACHE"), goSetting(getenv, "GOCACHE")), under(cacheHome(getenv), "go-build"))
	if !filepath.IsAbs(dir) { // or "off"
		return ""
	}
	return dir
}

// goSetting is what the person set by "go env -w".
func goSetting(getenv func(string) string, name string) string {
	file := getenv("GOENV")
	switch file {
	case "off":
		return ""
	case "":
		file = under(configHome(getenv), "go/env")
	}
	b, err := regular(file, 1<<16)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
