package private

import (
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/sandbox/private/gocache"
)

// goCacheProgram is the GOCACHEPROG that serves the person's build cache beside the
// private one; "" = there is none to serve, or no way to name it.
func goCacheProgram(ask Ask, own string) string {
	seed := goCache(ask.Getenv)
	if info, err := os.Stat(seed); ask.Self == "" || seed == "" || err != nil || !info.IsDir() {
		return ""
	}
	// What go-test results the person declared void stays void.
	if b, err := regular(filepath.Join(seed, "testexpire.txt"), 1<<10); err == nil {
		if os.WriteFile(filepath.Join(own, "testexpire.txt"), b, 0o600) != nil {
			return ""
		}
	}
	var words []string
	for _, w := range []string{ask.Self, gocache.Command, seed, own} {
		w, ok := quoted(w)
		if !ok {
			return ""
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
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
	dir := getenv("GOCACHE")
	if dir == "" {
		dir = goSetting(getenv, "GOCACHE")
	}
	if dir == "" {
		dir = under(cacheHome(getenv), "go-build")
	}
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
