package engine

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
)

// homes are the person's home folders: the one that the environment names, and the
// account's, where keys lie too when HOME is another (under sudo) or not set (under cron).
func (e *Engine) homes(env []string) (all []string) {
	for _, home := range []string{environ.Value(env, "HOME"), e.Home} {
		if filepath.IsAbs(home) {
			all = append(all, filepath.Clean(home))
		}
	}
	return slices.Compact(all)
}

// personalPlaces are the folders and files in which the person's own keys are.
func (e *Engine) personalPlaces(env []string) (all []string) {
	for _, home := range e.homes(env) {
		all = append(all, policy.Personal(home, environ.Value(env, "XDG_CONFIG_HOME"))...)
	}
	return all
}

// confinementOf is what an adapter's program needs of its surroundings. Without HOME it
// asks the system for its account's.
func (e *Engine) confinementOf(a runtime.Adapter, env []string) runtime.Confinement {
	if homes := e.homes(env); len(homes) > 0 {
		return confinementIn(homes[0], a, env)
	}
	return confinementIn("", a, env)
}

// confinementIn is that with another home folder than the environment's.
func confinementIn(home string, a runtime.Adapter, env []string) runtime.Confinement {
	c, ok := a.(runtime.Confined)
	if !ok {
		return runtime.Confinement{}
	}
	return c.Confinement(func(name string) string {
		if name == "HOME" && home != "" {
			return home
		}
		return environ.Value(env, name)
	})
}

// signIns are the places with the sign-in of every runtime but the named one; "" = of all.
func (e *Engine) signIns(but string) (all []string) {
	var own []string
	for _, a := range e.Adapters {
		for _, home := range append(e.homes(e.Env), "") { // "": by its own variables alone
			c := confinementIn(home, a, e.Env)
			if a.Name() == but {
				own = append(own, c.Credentials...)
				own = append(own, c.State...)
				continue
			}
			all = append(all, c.Credentials...)
		}
	}
	return slices.DeleteFunc(all, func(path string) bool { return within(own, path) })
}

// own names the runtimes that hold what they run by a sandbox of their own.
func (e *Engine) own() map[string]bool {
	all := map[string]bool{}
	for _, a := range e.Adapters {
		if e.confinementOf(a, e.Env).Own {
			all[a.Name()] = true
		}
	}
	return all
}

// within reports whether path is one of the places or lies in one.
func within(places []string, path string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return inside(place, path) })
}

// there are the paths that exist, without symbolic links, each once.
func there(paths []string) (all []string, err error) {
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		switch {
		case isAbsent(err):
			continue
		case err != nil:
			return nil, err
		}
		all = append(all, real)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// atHome makes a path of the operator's absolute.
func (e *Engine) atHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(environ.Value(e.Env, "HOME"), rest)
	}
	return path
}
