package spec

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options say where a spec is read and what may not be in it.
type Options struct {
	// Cwd is the folder the command runs in, absolute. Default: the spec's folder.
	Cwd string
	// WorkspaceRoot is the default root, absolute: the git top level of Cwd.
	// Default: Cwd.
	WorkspaceRoot string
	// Dir is the folder that prompt_file, skill and instructions are relative to.
	// Default: the spec's own folder. It is for reading a run's jobs.yaml again.
	Dir string
	// Repository gives the text of the RepositoryFile of the workspace root, nil where
	// there is none. Without it no such file counts.
	Repository func(root string) ([]byte, error)
	// Worker says that the worker form wrote the document, which may then hold what only
	// that says.
	Worker bool
	// Resolved says that the document is a run's jobs.yaml: patterns are expanded in it.
	Resolved bool
	// Secrets finds secrets in a text; nil looks for none.
	Secrets func(text string) []Secret
}

// Secret is a find of the detector, never the value itself.
type Secret struct {
	Rule        string
	Line, Col   int    // in the text that was searched, from 1
	Fingerprint string // what an operator lists under secrets.allow
}

// Load reads a spec from a file. With any diagnostic the Spec is nil; warnings
// and advice are in the Spec.
func Load(path string, opt Options) (*Spec, []Diagnostic) {
	data, err := readBounded(path, MaxBytes+1)
	if err != nil {
		return nil, []Diagnostic{{Pos: Position{File: path, Line: 1, Col: 1}, Rule: "read", Message: readFault(err)}}
	}
	return Parse(path, data, opt)
}

// Parse reads a spec from bytes; name is the file's name for messages and for
// finding the spec's folder. Nothing is written and no process started; files
// that the spec names are read.
func Parse(name string, data []byte, opt Options) (*Spec, []Diagnostic) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, []Diagnostic{{Pos: Position{File: name, Line: 1, Col: 1}, Rule: "read", Message: err.Error()}}
	}
	opt.Dir = cmp.Or(opt.Dir, filepath.Dir(abs))
	opt.Cwd = cmp.Or(opt.Cwd, filepath.Dir(abs))
	opt.WorkspaceRoot = cmp.Or(opt.WorkspaceRoot, opt.Cwd)
	r := &reader{name: name, holds: "a mapping with version and jobs", opt: opt, spoiled: map[string]bool{}, secretLines: map[int]bool{}, files: map[string]File{}, warned: map[string]bool{}}
	s := r.read(data)
	r.settle()
	if len(r.errors) > 0 {
		return nil, r.errors
	}
	sum := sha256.Sum256(data)
	s.Path, s.Dir, s.Source, s.Digest = abs, opt.Dir, bytes.Clone(data), hex.EncodeToString(sum[:])
	s.Warning, s.Advice = r.warnings, r.advice
	return s, nil
}

// reader collects everything that is to be said about one document.
type reader struct {
	name        string
	holds       string // what the document is, for messages
	opt         Options
	roots       []string // resolved workspace roots
	repo        value    // what the repository sets for jobs
	def         value    // defaults, with what they mean by the jobs that they name
	lists       map[string][]string
	references  []reference
	fromFiles   int             // bytes of prompts that were made of files for items
	files       map[string]File // read already, by the name under which they were
	warned      map[string]bool // what was warned of already, where several jobs share it
	spoiled     map[string]bool // fields about which an error was said already
	lines       []string        // of the document, for places in blocks
	secretLines map[int]bool    // lines whose text must not be repeated
	errors      []Diagnostic
	warnings    []Diagnostic
	advice      []Diagnostic
}

// read runs the passes in order. Later passes see only what earlier ones could
// make sense of, and go on past mistakes so that all are said at once.
func (r *reader) read(data []byte) *Spec {
	t := r.document(data)
	var root value
	if t != nil {
		root = value{t: t, near: spot{1, 1}}
		r.shape(root)
	}
	r.searchDocument(data, root)
	if t == nil {
		return nil
	}
	s, jobs := r.decode(root)
	r.rules(s, root, jobs)
	return s
}

// maxErrors bounds how many mistakes are said at once.
const maxErrors = 1000

// full reports whether enough was said; the first mistake too many says so.
func (r *reader) full() bool { return len(r.errors) > maxErrors }

// report adds an error at a place.
func (r *reader) report(at spot, field, rule, message string) {
	r.reportIn("", at, field, rule, message)
}

// reportIn is report for another file, "" = the document's own.
func (r *reader) reportIn(file string, at spot, field, rule, message string) {
	if len(r.errors) == maxErrors {
		field, rule, message = "", "more", fmt.Sprintf("there are more than %d mistakes; mend those that are listed first", maxErrors)
	}
	if r.full() {
		return
	}
	r.errors = append(r.errors, r.about(value{path: field, near: at, file: file}, rule, message))
	if field != "" {
		r.spoiled[file+field] = true
	}
}

// fail adds an error about a value, once: what follows from a mistake that was
// said already about the same field is not said again.
func (r *reader) fail(v value, rule, message string) {
	if r.full() {
		return
	}
	for path := v.path; path != ""; path = parentPath(path) {
		if r.spoiled[v.file+path] && (path == v.path || !isJob(path)) {
			return
		}
	}
	if v.t != nil && v.t.item > 0 { // each item may be at fault by itself
		r.failItem(v, rule, message)
		return
	}
	r.reportIn(v.file, v.at(), v.path, rule, message)
}

// failItem is fail about a text that an item was filled in into.
func (r *reader) failItem(v value, rule, message string) {
	said := fmt.Sprintf("%s{%d}", v.path, v.t.item)
	if r.spoiled[said] {
		return
	}
	r.spoiled[said] = true
	d := r.diagnostic(v.at(), v.path, rule, fmt.Sprintf("for item %d, %s", v.t.item, message))
	r.errors = append(r.errors, d)
}

// failf is fail with a format.
func (r *reader) failf(v value, rule, format string, args ...any) {
	if r.full() {
		return
	}
	r.fail(v, rule, fmt.Sprintf(format, args...))
}

// warn adds a warning about a value, once for all jobs that a pattern makes of one.
func (r *reader) warn(v value, rule, message string) {
	if said := v.file + v.path + " " + rule; !r.warned[said] {
		r.warned[said] = true
		r.warnings = append(r.warnings, r.about(v, rule, message))
	}
}

// advise adds advice about a value.
func (r *reader) advise(v value, rule, message string) {
	r.advice = append(r.advice, r.about(v, rule, message))
}

// about is a diagnostic about a value, whichever file it is in.
func (r *reader) about(v value, rule, message string) Diagnostic {
	d := r.diagnostic(v.at(), v.path, rule, message)
	d.Pos.File = cmp.Or(v.file, d.Pos.File)
	return d
}

func (r *reader) diagnostic(at spot, field, rule, message string) Diagnostic {
	pos := Position{File: r.name, Line: max(1, at.line), Col: max(1, at.col)}
	return Diagnostic{Pos: pos, Field: field, Message: message, Rule: rule}
}

// settle orders what was found by position and says each thing once. It drops
// what would repeat a secret, and what only follows from a mistake of the
// document itself (one without a field) at the same place.
func (r *reader) settle() {
	broken := map[Position]bool{}
	for _, d := range r.errors {
		if d.Field == "" && d.Rule != "secret" {
			broken[d.Pos] = true
		}
	}
	for _, list := range []*[]Diagnostic{&r.errors, &r.warnings, &r.advice} {
		slices.SortStableFunc(*list, func(a, b Diagnostic) int {
			return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
		})
		seen := map[Diagnostic]bool{}
		*list = slices.DeleteFunc(*list, func(d Diagnostic) bool {
			again := seen[d]
			seen[d] = true
			follows := d.Field != "" && d.Rule != "secret" && broken[d.Pos]
			return again || follows || r.tells(d)
		})
	}
}

// parentPath cuts the last step of a field path.
func parentPath(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// isJob reports whether the path is that of a whole job or of the list of jobs:
// a mistake about one says nothing about its fields.
func isJob(path string) bool {
	return path == "jobs" || (strings.HasPrefix(path, "jobs[") && strings.HasSuffix(path, "]") && strings.Count(path, "[") == 1)
}

// readBounded reads at most limit bytes of a file.
func readBounded(path string, limit int64) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return io.ReadAll(io.LimitReader(f, limit))
}

// readFault words why a file could not be read, without repeating its path.
func readFault(err error) string {
	if os.IsNotExist(err) {
		return "no such file"
	}
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return "cannot be read: " + pe.Err.Error()
	}
	return "cannot be read: " + err.Error()
}
