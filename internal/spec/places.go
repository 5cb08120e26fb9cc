package spec

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"orchestrate/internal/pattern"
)

// workspaceRoots resolves the roots, relative to the folder the command runs in.
func (r *reader) workspaceRoots(v value) []string {
	items := v.items()
	if len(items) == 0 {
		return []string{r.root(v, r.opt.WorkspaceRoot)}
	}
	var out []string
	for _, item := range items {
		where := item.text()
		switch {
		case placeholder.MatchString(where):
			where = r.opt.WorkspaceRoot
		case !filepath.IsAbs(where):
			where = filepath.Join(r.opt.Cwd, where)
		}
		out = append(out, r.root(item, where))
	}
	return out
}

// root resolves one workspace root, which must be a folder.
func (r *reader) root(v value, where string) string {
	real, err := realFolder(where)
	if err != nil {
		r.failf(v, "path", "the workspace root %s %s", quote(where), err)
		return where
	}
	return real
}

// realFolder follows symbolic links to an existing folder. Its errors complete a
// sentence that names the path.
func realFolder(where string) (string, error) {
	abs, err := filepath.Abs(where)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("does not lead to a folder: %s", readFault(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("is not a folder")
	}
	return real, nil
}

// inside reports whether a resolved path is the folder or below it.
func inside(folder, target string) bool {
	rel, err := filepath.Rel(folder, target)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// inRoots reports whether a resolved path is inside a workspace root.
func (r *reader) inRoots(target string) bool {
	for _, root := range r.roots {
		if inside(root, target) {
			return true
		}
	}
	return false
}

// cwd resolves a job's folder, which must exist inside a workspace root.
// What an item of a list will say of it is checked when that is known.
func (r *reader) cwd(v value, item *Item) string {
	where := v.text()
	if where == "" || placeholder.MatchString(where) {
		return r.roots[0]
	}
	if !filepath.IsAbs(where) {
		where = filepath.Join(r.roots[0], where)
	}
	if item.open(v.text()) {
		return where
	}
	real, err := realFolder(where)
	if err != nil && !r.inRoots(filepath.Clean(where)) {
		real, err = filepath.Clean(where), nil
	}
	if err != nil {
		r.failf(v, "path", "cwd %s %s; allowed: an existing folder, relative to the workspace root %s", quote(v.text()), err, r.roots[0])
		return r.roots[0]
	}
	if !r.inRoots(real) {
		r.failf(v, "path", "cwd %s is %s, outside the workspace roots; allowed: a folder inside %s, or list its root in workspace_roots", quote(v.text()), real, list(r.roots))
	}
	return real
}

// cleanPath is a path in its shortest form, with / as separator; "" stays "".
func cleanPath(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// relative checks that a path stays inside the folder it is relative to.
func (r *reader) relative(v value, what string) bool {
	p := v.text()
	var problem string
	switch {
	case p == "":
		return false
	case path.IsAbs(p) || filepath.IsAbs(p) || hasDrive(p):
		problem = "is absolute"
	case strings.ContainsFunc(p, func(c rune) bool { return c < 0x20 || c == 0x7f }):
		problem = "has a control character"
	case hasSegment(p, ".."):
		problem = "has .. in it"
	case hasSegment(strings.ToLower(p), ".git"):
		problem = "reaches into a .git folder"
	default:
		return true
	}
	r.failf(v, "path", "%s %s %s; allowed: a path relative to cwd, inside it and without ..", what, quote(p), problem)
	return false
}

// hasDrive recognises C:… and \\server, which are absolute on Windows only but
// never what a portable spec means.
func hasDrive(p string) bool {
	letter := p[0] | 0x20
	return strings.HasPrefix(p, `\`) || (len(p) > 1 && p[1] == ':' && letter >= 'a' && letter <= 'z')
}

func hasSegment(p, segment string) bool {
	for _, s := range strings.FieldsFunc(p, func(c rune) bool { return c == '/' || c == '\\' }) {
		if s == segment {
			return true
		}
	}
	return false
}

// globEscape is how pattern.EscapeGlob writes a character that a glob gives a meaning to.
var globEscape = regexp.MustCompile(`\\([\\*?\[\]{}])`)

// unescaped is a glob that an item was filled in into, as the path that it was.
func (v value) unescaped() value {
	if v.t == nil || v.t.item == 0 {
		return v
	}
	t := *v.t
	t.text = globEscape.ReplaceAllString(t.text, "$1")
	v.t = &t
	return v
}

// ownedPaths checks the globs of what a writer may change. A path that ends in /
// owns everything below it.
func (r *reader) ownedPaths(v jobView) []string {
	list := v.get("owned_paths")
	var out []string // an empty list is none: the whole cwd
	for _, item := range list.items() {
		glob := item.text()
		if !r.relative(item.unescaped(), "the owned path") {
			continue
		}
		plain := glob
		if open := v.job.Item.open(glob); open {
			plain = pattern.Stand(glob, unknownItem)
		}
		if !doublestar.ValidatePattern(plain) {
			r.failf(item, "path", "the owned path %s is not a valid glob; allowed: *, **, ?, [a-z] and {a,b}", quote(glob))
			continue
		}
		base, _ := doublestar.SplitPattern(cleanPath(plain))
		r.staysInside(item, "the owned path", v.job.Cwd, base)
		out = append(out, OwnedPath(glob))
	}
	return out
}

// OwnedPath is a glob of owned_paths as everything compares it: in its shortest form, and with
// all below it where it ends in /.
func OwnedPath(glob string) string {
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return cleanPath(glob)
}

// staysInside follows the part of a path that exists: a symbolic link in it must
// not lead out of the job's folder.
func (r *reader) staysInside(v value, what, cwd, rel string) {
	at := filepath.Join(cwd, filepath.FromSlash(rel))
	for at != cwd && inside(cwd, at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			if !inside(cwd, real) {
				r.failf(v, "path", "%s %s leads out of the job's cwd through a symbolic link, to %s; allowed: a path that stays inside %s", what, quote(v.text()), real, cwd)
			}
			return
		}
		at = filepath.Dir(at)
	}
}
