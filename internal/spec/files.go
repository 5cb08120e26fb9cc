package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// texts reads the files that a job's prompt is made of.
func (r *reader) texts(v jobView) {
	if f := v.get("prompt_file"); f.text() != "" {
		if file, ok := r.file(f); ok {
			v.job.PromptFile, v.job.Prompt = &file, r.fillFile(f, v.job.Item, file)
			if strings.TrimSpace(file.Text) == "" {
				r.failf(f, "file", "the file %s is empty; allowed: a prompt", quote(f.text()))
			}
		}
	}
	for _, item := range v.get("instructions").items() {
		if file, ok := r.file(item); ok {
			v.job.Instructions = append(v.job.Instructions, file)
		}
	}
	r.skill(v)
}

// skill is a file when there is one, or when it can only be meant as one.
func (r *reader) skill(v jobView) {
	s := v.get("skill")
	name := s.text()
	if name == "" {
		return
	}
	info, err := os.Stat(filepath.Join(r.opt.Dir, name))
	switch {
	case err == nil && info.Mode().IsRegular(), strings.ContainsAny(name, `/\`), strings.HasSuffix(name, ".md"):
		if file, ok := r.file(s); ok {
			v.job.Skill = &file
		}
	default:
		v.job.SkillName = name
	}
}

// file is a text file, read once however many jobs name it.
func (r *reader) file(v value) (File, bool) {
	key := v.file + "\x00" + v.text()
	if f, ok := r.files[key]; ok {
		return f, true
	}
	f, ok := r.readText(v)
	if ok {
		r.files[key] = f
	}
	return f, ok
}

// readText reads one text file, relative to the spec file and inside its folder or a
// workspace root, symbolic links followed.
func (r *reader) readText(v value) (File, bool) {
	name := v.text()
	if name == "" {
		return File{}, false
	}
	if filepath.IsAbs(name) || hasDrive(name) {
		r.failf(v, "file", "the file %s is absolute; allowed: a path relative to the spec file", quote(name))
		return File{}, false
	}
	dir := r.opt.Dir
	if v.file != "" {
		dir = filepath.Dir(v.file)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	if err != nil {
		r.failf(v, "file", "the file %s: %s in %s; allowed: a path relative to the file that names it", quote(name), readFault(err), dir)
		return File{}, false
	}
	if v.file != "" {
		return r.repositoryFile(v, name, real)
	}
	home, err := filepath.EvalSymlinks(r.opt.Dir)
	if err != nil || (!inside(home, real) && !r.inRoots(real)) {
		r.failf(v, "file", "the file %s is %s, outside the spec's folder and the workspace roots; copy it there", quote(name), real)
		return File{}, false
	}
	return r.content(v, name, real)
}

// repositoryFile is one that the repository's own file names. It must lie in the
// repository, and is none of those that hold keys or git's own.
func (r *reader) repositoryFile(v value, name, real string) (File, bool) {
	dir := filepath.Dir(v.file)
	home, err := filepath.EvalSymlinks(dir)
	if err != nil || !inside(home, real) || private(home, real) {
		r.failf(v, "file", "the file %s is %s; allowed in %s: a file of the repository that is not in .git and no environment file", quote(name), real, RepositoryFile)
		return File{}, false
	}
	if rel, err := filepath.Rel(r.opt.Dir, filepath.Join(dir, name)); err == nil {
		name = filepath.ToSlash(rel) // named as the spec would name it
	}
	return r.content(v, name, real)
}

// private reports whether a part of the path below home is git's folder or an
// environment file.
func private(home, real string) bool {
	rel, err := filepath.Rel(home, real)
	if err != nil {
		return true
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.EqualFold(part, ".git") || strings.HasPrefix(strings.ToLower(part), ".env") {
			return true
		}
	}
	return false
}

// asItIs reports whether a text may hold control characters: a prompt of the worker form
// gets to the agent byte for byte, and logs are pasted into such.
func (r *reader) asItIs(v value, data []byte) bool {
	name, _ := lastName(v.path)
	return r.opt.Worker && name == "prompt_file" && utf8.Valid(data) && !bytes.Contains(data, []byte{0})
}

// content reads a file that is text and not too long.
func (r *reader) content(v value, name, real string) (File, bool) {
	info, err := os.Stat(real)
	switch {
	case err != nil:
		r.failf(v, "file", "the file %s: %s", quote(name), readFault(err))
		return File{}, false
	case info.IsDir():
		r.failf(v, "file", "%s is a folder; allowed: a text file, such as the SKILL.md or README.md in it", quote(name))
		return File{}, false
	case !info.Mode().IsRegular():
		r.failf(v, "file", "%s is not a regular file", quote(name))
		return File{}, false
	case info.Size() > MaxBytes:
		r.failf(v, "file", "the file %s has %d bytes; at most %d (4 MiB) are read", quote(name), info.Size(), MaxBytes)
		return File{}, false
	}
	data, err := readBounded(real, MaxBytes)
	if err != nil {
		r.failf(v, "file", "the file %s: %s", quote(name), readFault(err))
		return File{}, false
	}
	if at, what := badText(data); what != "" && !r.asItIs(v, data) {
		r.failf(v, "file", "the file %s, line %d: %s", quote(name), at.line, what)
		return File{}, false
	}
	sum := sha256.Sum256(data)
	r.searchFile(v, name, string(data))
	return File{Path: name, SHA256: hex.EncodeToString(sum[:]), Text: string(data)}, true
}
