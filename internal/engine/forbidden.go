package engine

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
)

// personalPlaces are the folders and files in which the person's own keys are.
func personalPlaces(env []string) []string {
	home := environ.Value(env, "HOME")
	if !filepath.IsAbs(home) {
		return nil
	}
	return policy.Personal(home, environ.Value(env, "XDG_CONFIG_HOME"))
}

// confinementOf is what an adapter's program needs of its surroundings.
func confinementOf(a runtime.Adapter, env []string) runtime.Confinement {
	if c, ok := a.(runtime.Confined); ok {
		return c.Confinement(func(name string) string { return environ.Value(env, name) })
	}
	return runtime.Confinement{}
}

// signIns are the places with the sign-in of every runtime but the named one; "" = of all.
func (e *Engine) signIns(but string) (all []string) {
	var own []string
	for _, a := range e.Adapters {
		c := confinementOf(a, e.Env)
		if a.Name() == but {
			own = append(own, c.Credentials...)
			own = append(own, c.State...)
			continue
		}
		all = append(all, c.Credentials...)
	}
	return slices.DeleteFunc(all, func(path string) bool { return within(own, path) })
}

// own names the runtimes that hold what they run by a sandbox of their own.
func (e *Engine) own() map[string]bool {
	all := map[string]bool{}
	for _, a := range e.Adapters {
		if confinementOf(a, e.Env).Own {
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
