package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// RepositoryFile is what a repository says about jobs in it, at the workspace root.
const RepositoryFile = ".orchestrate.yaml"

// Repository is what was found in it. The file comes with the repository, so it is
// not the person's word: it sets harmless defaults and grants nothing.
type Repository struct {
	Path    string // absolute
	Source  []byte
	Digest  string       // sha256 of Source, hex
	Sets    []string     // fields that count where the spec is silent
	Ignored []Diagnostic // what would grant, and what is not known
}

// harmless are the job fields that a repository may set, each with the only value
// that it may have there; "" = any. None of them lets a job do, reach or spend more
// than it could without.
var harmless = []struct{ field, only string }{
	{"timeout", ""},
	{"first_output_timeout", ""},
	{"task", ""},
	{"importance", ""},
	{"expected_output", ""},
	{"effort", ""},
	{"instructions", ""},
	{"disallowed_tools", ""},
	{"untrusted", "true"},
	{"approval", "require"},
	{"isolation", "worktree"},
}

// forPrograms are those that count for exec jobs too.
var forPrograms = []string{"timeout", "first_output_timeout", "importance", "expected_output", "untrusted", "approval", "isolation"}

// repository reads the file of the workspace root, if there is one.
func (r *reader) repository(s *Spec) {
	if r.opt.Repository == nil {
		return
	}
	path := filepath.Join(r.roots[0], RepositoryFile)
	data, err := r.opt.Repository(r.roots[0])
	if err != nil {
		r.errors = append(r.errors, Diagnostic{Pos: Position{File: path, Line: 1, Col: 1}, Rule: "read", Message: readFault(err)})
		return
	}
	if data == nil {
		return
	}
	sum := sha256.Sum256(data)
	s.Repository = &Repository{Path: path, Source: data, Digest: hex.EncodeToString(sum[:])}
	own := &reader{
		name: path, holds: "a mapping with version and defaults", opt: r.opt, roots: r.roots,
		spoiled: map[string]bool{}, secretLines: map[int]bool{}, files: r.files, warned: map[string]bool{},
	}
	if defaults := own.harmlessDefaults(data, s.Repository); len(own.secretLines) == 0 {
		r.repo = defaults
		r.repo.file = path
	}
	own.settle()
	r.errors = append(r.errors, own.errors...)
	for field := range own.spoiled {
		r.spoiled[path+field] = true
	}
}

// harmlessDefaults is the part of the document that counts.
func (r *reader) harmlessDefaults(data []byte, repo *Repository) value {
	if len(strings.TrimSpace(withoutComments(data))) == 0 {
		return value{}
	}
	t := r.document(data)
	var root value
	if t != nil {
		root = value{t: t, near: spot{1, 1}}
	}
	r.searchDocument(data, root)
	if t == nil {
		return value{}
	}
	if v := root.field("version"); v.present() && v.integer(0) != 1 {
		r.failf(v, "value", "found %s; allowed: 1", v.t.words())
	}
	for _, key := range t.keys {
		if key != "version" && key != "defaults" {
			r.ignore(repo, root, key, []string{"version", "defaults"})
		}
	}
	defaults := root.field("defaults")
	if defaults.present() && defaults.t.kind != kindMap {
		r.failf(defaults, "value", "found %s; allowed: a mapping of job fields", defaults.t.words())
		return value{}
	}
	return r.filter(defaults, repo)
}

// withoutComments is a document that holds nothing else, when it comes to nothing.
func withoutComments(data []byte) string {
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// filter keeps the harmless fields and checks them as those of a spec.
func (r *reader) filter(defaults value, repo *Repository) value {
	if !defaults.present() {
		return value{}
	}
	kept := &tree{kind: kindMap, at: defaults.t.at, fields: map[string]*tree{}, keyAt: defaults.t.keyAt}
	for _, key := range defaults.t.keys {
		v := defaults.field(key)
		switch {
		case !v.present():
		case mayDefault(key, v):
			kept.keys = append(kept.keys, key)
			kept.fields[key] = v.t
			repo.Sets = append(repo.Sets, key)
		default:
			r.ignore(repo, defaults, key, schemaKeys(schemaNode("#/$defs/fields")))
		}
	}
	out := value{t: kept, path: defaults.path, near: defaults.near}
	around := map[string]any{"version": 1, "jobs": []any{}, "defaults": kept.plain()}
	for _, f := range loadSchema().Check(around) {
		if len(f.At) > 1 && f.At[0] == "defaults" {
			r.explain(out.locate(f.At[1:]), f)
		}
	}
	return out
}

func mayDefault(key string, v value) bool {
	for _, h := range harmless {
		if h.field == key {
			return h.only == "" || strings.EqualFold(h.only, v.t.text)
		}
	}
	return false
}

// ignore says that a key does not count.
func (r *reader) ignore(repo *Repository, parent value, key string, known []string) {
	v := parent.field(key)
	message := "is ignored: a repository grants nothing and chooses nothing; say it in the spec, or in the operator's configuration"
	for _, h := range harmless {
		if h.field == key && parent.path == "defaults" {
			message = fmt.Sprintf("is ignored: in a repository %s can only be %s", key, h.only)
		}
	}
	if hint := meant(key, known); !slices.Contains(known, key) && (hint != "" || parent.path == "defaults") {
		message = "is ignored: unknown key" + hint
	}
	repo.Ignored = append(repo.Ignored, r.diagnostic(parent.t.keyAt[key], v.path, "ignored", message))
}
