package client

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// rule is what a turn's permission requests are answered by.
type rule struct {
	dir        string // without symbolic links
	reads      []string
	access     runtime.Access
	allowed    []string // nil = all that access permits
	disallowed []string
}

// permittable are the kinds of tool that a rule can permit. A switch of the mode
// would change who asks for what; other can be anything.
func permittable() []string {
	return []string{
		string(sdk.ToolKindRead), string(sdk.ToolKindSearch), string(sdk.ToolKindEdit), string(sdk.ToolKindDelete),
		string(sdk.ToolKindMove), string(sdk.ToolKindExecute), string(sdk.ToolKindFetch),
	}
}

// newRule makes the rule of a turn, or says what in the turn cannot be held.
func newRule(turn acp.Turn) (r rule, err error) {
	if !filepath.IsAbs(turn.Dir) {
		return r, fmt.Errorf("the folder to work in, %q, is not absolute", turn.Dir)
	}
	for _, kind := range slices.Concat(turn.AllowedTools, turn.DisallowedTools) {
		if !slices.Contains(permittable(), kind) {
			return r, fmt.Errorf("%q is not a kind of tool that an agent of this protocol can be permitted; there are %s%s",
				kind, strings.Join(permittable(), ", "), meant(kind, permittable()))
		}
	}
	r = rule{access: cmp.Or(turn.Access, runtime.AccessRead), allowed: turn.AllowedTools, disallowed: turn.DisallowedTools}
	if r.dir, err = filepath.EvalSymlinks(turn.Dir); err != nil {
		return r, fmt.Errorf("the folder to work in: %w", err)
	}
	for _, dir := range turn.ReadDirs {
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return r, fmt.Errorf("a folder to read: %w", err)
		}
		r.reads = append(r.reads, dir)
	}
	return r, nil
}

// judge says whether a tool may be used as it is asked for, and by what rule.
func (r rule) judge(call toolCall) (allowed bool, why string) {
	kind := cmp.Or(call.Kind, string(sdk.ToolKindOther))
	switch {
	case !slices.Contains(permittable(), kind):
		return false, fmt.Sprintf("a tool of kind %q is never permitted", kind)
	case slices.Contains(r.disallowed, kind):
		return false, fmt.Sprintf("disallowed_tools names %q", kind)
	case r.allowed != nil && !slices.Contains(r.allowed, kind):
		return false, fmt.Sprintf("allowed_tools does not name %q", kind)
	}
	paths := call.paths()
	switch sdk.ToolKind(kind) {
	case sdk.ToolKindRead, sdk.ToolKindSearch:
		return r.reading(paths)
	case sdk.ToolKindExecute:
		if r.access != runtime.AccessShell {
			return false, fmt.Sprintf("no commands with %q access", r.access)
		}
		return true, fmt.Sprintf("commands, with %q access", r.access)
	case sdk.ToolKindFetch:
		if r.allowed == nil {
			return false, `"fetch" is permitted only where allowed_tools names it`
		}
		return true, `allowed_tools names "fetch"`
	}
	return r.writing(sdk.ToolKind(kind), paths)
}

func (r rule) reading(paths []string) (bool, string) {
	where := append([]string{r.dir}, r.reads...)
	if why := outside(paths, where); why != "" {
		return false, "reading only below " + strings.Join(where, ", ") + ": " + why
	}
	return true, "reading below " + strings.Join(where, ", ")
}

func (r rule) writing(kind sdk.ToolKind, paths []string) (bool, string) {
	if r.access != runtime.AccessEdit && r.access != runtime.AccessShell {
		return false, fmt.Sprintf("no changes of files with %q access", r.access)
	}
	why := outside(paths, []string{r.dir})
	switch {
	case why == "" && kind == sdk.ToolKindMove && len(paths) < 2:
		why = "a move names where from and where to"
	case why == "" && slices.ContainsFunc(paths, r.inGit):
		why = "git's own files are not changed"
	}
	if why != "" {
		return false, "changes of files only below " + r.dir + ": " + why
	}
	return true, "changes of files below " + r.dir
}

// inGit reports whether a path below dir is the repository's own: a hook or setting
// planted there would run later.
func (r rule) inGit(path string) bool {
	full, err := resolve(path)
	rel, relErr := filepath.Rel(r.dir, full)
	return err != nil || relErr != nil ||
		slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// outside says why not all of paths are known to be below one of the folders; ""
// when they are.
func outside(paths, folders []string) string {
	if len(paths) == 0 {
		return "the agent does not say which file"
	}
	for _, path := range paths {
		full, err := resolve(path)
		if err != nil {
			return fmt.Sprintf("%s: %v", path, err)
		}
		if !slices.ContainsFunc(folders, func(dir string) bool { return below(dir, full) }) {
			return path + " is not"
		}
	}
	return ""
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// resolve follows all symbolic links of a path whose end need not exist yet. A
// path that names no place for sure is an error.
func resolve(path string) (string, error) {
	switch {
	case !filepath.IsAbs(path):
		return "", errors.New("not an absolute path")
	case slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".."):
		return "", errors.New("a path with .. in it depends on links")
	}
	path = filepath.Clean(path)
	full, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return full, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", errors.New("a symbolic link to nowhere")
	}
	parent := filepath.Dir(path)
	if parent == path {
		return "", err
	}
	full, err = resolve(parent)
	return filepath.Join(full, filepath.Base(path)), err
}

// answer picks the option that says so, once and never for good. What cannot be
// said so is refused, and without an option for that, cancelled ("").
func answer(options []answerOption, allowed bool) (option string, kept bool) {
	pick := func(kind sdk.PermissionOptionKind) string {
		for _, o := range options {
			if o.Kind == string(kind) {
				return o.ID
			}
		}
		return ""
	}
	if allowed {
		if option = pick(sdk.PermissionOptionKindAllowOnce); option != "" {
			return option, true
		}
	}
	return pick(sdk.PermissionOptionKindRejectOnce), !allowed
}
