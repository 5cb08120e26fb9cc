package graph

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/spec"
)

// Some files change with almost everything that is done: what a tool writes anew from
// all there is, and folders whose files must come in one order. Two patches that change
// one of them seldom fit together, however well the work itself does.

// HotKind is a kind of such files.
type HotKind int

// The kinds.
const (
	HotLock      HotKind = iota // the versions of all dependencies
	HotMigration                // a folder of numbered steps
	HotGenerated                // written by a tool
)

// hotKinds are how the kinds are told and by which serialize key they are kept apart.
var hotKinds = [...]struct{ what, key, why string }{
	HotLock:      {"lock files", "lockfile", "a tool writes them anew from all dependencies"},
	HotMigration: {"migrations folders", "migrations", "their files must come in one order"},
	HotGenerated: {"generated files", "generated", "a tool writes them anew from all their sources"},
}

// Hot is a file, or a folder of migrations, that is known for it.
type Hot struct {
	Kind HotKind
	Path string // slashes, relative to the top of the repository
}

// mostHot bounds what is kept of each kind of a big repository.
const mostHot = 400

// HotIn collects what of a repository's files is hot, with a bound. generated says what
// the repository itself declares to be so.
type HotIn struct {
	found [len(hotKinds)][]Hot
	seen  map[string]bool
}

// Add takes the next file. declared says that the repository declares it as generated.
func (h *HotIn) Add(name string, declared bool) {
	kind, at, hot := hotName(name)
	if !hot && declared {
		kind, at, hot = HotGenerated, name, true
	}
	if !hot || len(h.found[kind]) >= mostHot || h.seen[at] {
		return
	}
	if h.seen == nil {
		h.seen = map[string]bool{}
	}
	h.seen[at] = true
	h.found[kind] = append(h.found[kind], Hot{kind, at})
}

// All is what was found.
func (h *HotIn) All() []Hot { return slices.Concat(h.found[:]...) }

// lockNames are lock files whose name does not end in .lock.
func lockNames() []string {
	return []string{
		"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "go.sum", "go.work.sum", "packages.lock.json",
		"Package.resolved", "gradle.lockfile", ".terraform.lock.hcl", "MODULE.bazel.lock", "mix.lock",
	}
}

// hotName tells by its name whether a file is hot. at is the file, or its folder of
// migrations. What was copied in from elsewhere is not the repository's own.
func hotName(name string) (kind HotKind, at string, hot bool) {
	dirs, base := path.Split(name)
	parts := strings.Split(strings.TrimSuffix(dirs, "/"), "/")
	if slices.Contains(parts, "node_modules") || slices.Contains(parts, "vendor") {
		return 0, "", false
	}
	if slices.Contains(lockNames(), base) || strings.HasSuffix(base, ".lock") {
		return HotLock, name, true
	}
	for i, part := range parts {
		after := i > 0 && part == "versions" && strings.HasPrefix(parts[i-1], "alembic")
		if after || part == "migrations" || part == "migration" || part == "migrate" {
			return HotMigration, strings.Join(parts[:i+1], "/"), true
		}
	}
	if generatedName(parts, base) {
		return HotGenerated, name, true
	}
	return 0, "", false
}

func generatedName(dirs []string, base string) bool {
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.HasSuffix(base, ".pb.go") || strings.HasSuffix(stem, "_pb2") || strings.HasSuffix(stem, "_generated") ||
		strings.HasSuffix(stem, ".gen") || strings.HasSuffix(stem, ".generated") || strings.HasPrefix(base, "zz_generated") ||
		strings.HasSuffix(base, ".g.dart") || strings.HasSuffix(base, ".snap") || slices.Contains(dirs, "__snapshots__") || slices.Contains(dirs, "__generated__")
}

// MayBeHot reports whether it is worth a look at the repository's files: some isolated
// writers may run together.
func (g *Graph) MayBeHot(isolated func(id string) bool) bool {
	return len(g.besideIsolated(isolated)) > 1
}

// besideIsolated are the isolated writers that may run beside another writer.
func (g *Graph) besideIsolated(isolated func(id string) bool) (all []int) {
	for w, other := range g.beside {
		if other != none && isolated(g.jobs[g.writers[w]].ID) {
			all = append(all, w)
		}
	}
	return all
}

// mostLooks bounds how often a file is held against a writer's paths.
const mostLooks = 200_000

// HotWarnings warns of hot files that two isolated writers who may run together may both
// change: once for each kind and group of jobs. top is the absolute path of the
// repository's top.
func (g *Graph) HotWarnings(top string, hot []Hot, isolated func(id string) bool) (out []spec.Diagnostic) {
	writers := g.besideIsolated(isolated)
	type group struct {
		kind    HotKind
		writers []int
		paths   []string
	}
	var groups []*group
	known := map[string]*group{}
	looks := 0
	for _, h := range hot {
		if looks += len(writers); looks > mostLooks {
			break // lock files and migrations come first: what is left out is generated
		}
		both := g.together(g.touching(writers, filepath.ToSlash(top), h))
		if len(both) < 2 {
			continue
		}
		key := fmt.Sprint(h.Kind, both)
		if known[key] == nil {
			known[key] = &group{kind: h.Kind, writers: both}
			groups = append(groups, known[key])
		}
		known[key].paths = append(known[key].paths, h.Path)
	}
	for _, x := range groups {
		out = append(out, g.hotWarning(x.kind, x.writers, x.paths))
	}
	return out
}

// touching are those of the writers that may change a hot file, or something in a hot
// folder.
func (g *Graph) touching(writers []int, top string, h Hot) (all []int) {
	full := path.Join(top, h.Path)
	p := compile("", escape(full)) // and what is below
	for _, w := range writers {
		o := g.owned[w]
		cwd := filepath.ToSlash(g.jobs[g.writers[w]].Cwd)
		if o.whole && (cwd == full || strings.HasPrefix(full, strings.TrimSuffix(cwd, "/")+"/")) ||
			!o.whole && slices.ContainsFunc(o.patterns, p.overlaps) {
			all = append(all, w)
		}
	}
	return all
}

// together are those of the writers that may run at the same time as another of them.
func (g *Graph) together(writers []int) (all []int) {
	for _, a := range writers {
		if slices.ContainsFunc(writers, func(b int) bool { return a != b && g.concurrent(a, b) }) {
			all = append(all, a)
		}
	}
	return all
}

func (g *Graph) hotWarning(kind HotKind, writers []int, paths []string) spec.Diagnostic {
	var ids []string
	for _, w := range writers {
		ids = append(ids, g.jobs[g.writers[w]].ID)
	}
	k, last := hotKinds[kind], g.writers[writers[len(writers)-1]]
	return spec.Diagnostic{
		Pos: g.jobs[last].Pos, Field: field(last, "owned_paths"), Rule: "hot-files",
		Message: fmt.Sprintf("%s may run at the same time and may all change %s (%s); %s, so their patches may not fit together: "+
			"give these jobs `serialize: %s`, or leave those paths to one of them",
			some(ids), k.what, some(paths), k.why, k.key),
	}
}

// some names the first of a list.
func some(list []string) string {
	const most = 5
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}
