package private

import (
	"path/filepath"
	"slices"
	"strings"
)

// cache is where one tool keeps its downloads and what it built.
type cache struct {
	names  []string // of the variables that say so
	person string   // where the person's is; "" = unknown
	own    string   // in the private folder
}

// environment leads a job's tools into its private folder. A cache of the person's that
// the operator opened for writing is used itself.
func (d Dir) environment(ask Ask) []string {
	env := []string{
		"TMPDIR=" + d.in("tmp"), "TMP=" + d.in("tmp"), "TEMP=" + d.in("tmp"), "GOTMPDIR=" + d.in("tmp"),
		"XDG_RUNTIME_DIR=" + d.in("run"),
		"npm_config_update_notifier=false", // it would ask each time: when it last did is in the cache
	}
	for _, c := range d.caches(ask) {
		dir := c.own
		if ask.opened(c.person) {
			dir = c.person
		}
		for _, name := range c.names {
			env = append(env, name+"="+dir)
		}
	}
	env = append(env, d.goProgram(ask)...)
	env = append(env, d.gradleStore(ask)...)
	return append(env, d.cargo(ask)...)
}

// caches are those that always get a private place.
func (d Dir) caches(ask Ask) []cache {
	home := cacheHome(ask.Getenv)
	return []cache{
		{[]string{"XDG_CACHE_HOME"}, home, d.in("cache")},
		{[]string{"GOCACHE"}, goCache(ask.Getenv), d.in("go-build")},
		{npmNames(ask.Getenv), npmCache(ask.Getenv), d.in("npm")},
		{[]string{"npm_config_logs_dir"}, "", d.in("npm/_logs")},
		{pnpmNames(ask.Trees), pnpmStore(ask.Getenv), d.in("pnpm")},
		{[]string{"YARN_GLOBAL_FOLDER"}, yarnFolder(ask.Getenv), d.in("yarn")},
		{[]string{"PIP_CACHE_DIR"}, set(ask.Getenv("PIP_CACHE_DIR"), under(home, "pip")), d.in("cache/pip")},
		{[]string{"UV_CACHE_DIR"}, set(ask.Getenv("UV_CACHE_DIR"), under(home, "uv")), d.in("cache/uv")},
		{[]string{"GRADLE_USER_HOME"}, gradleHome(ask.Getenv), d.in("gradle")},
	}
}

// opened reports whether the operator opened a folder for writing.
func (a Ask) opened(dir string) bool {
	return dir != "" && slices.ContainsFunc(a.Open, func(open string) bool {
		return dir == open || strings.HasPrefix(dir, strings.TrimSuffix(open, string(filepath.Separator))+string(filepath.Separator))
	})
}

// gradleHome is the person's Gradle folder; "" = none.
func gradleHome(getenv func(string) string) string {
	return set(getenv("GRADLE_USER_HOME"), under(getenv("HOME"), ".gradle"))
}

// gradleStore lets Gradle read the person's downloads, which it can do by itself.
func (d Dir) gradleStore(ask Ask) []string {
	person := gradleHome(ask.Getenv)
	if person == "" || ask.opened(person) || !anyHas([]string{filepath.Join(person, "caches")}, "modules-2") {
		return nil
	}
	return []string{"GRADLE_RO_DEP_CACHE=" + filepath.Join(person, "caches")}
}
