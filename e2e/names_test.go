//go:build e2e && linux

package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"orchestrate/internal/inventory"
)

// words are names of models that are words of the English dictionary as well, so that
// finding them says nothing. Each is here because a live list of the pinned agents has
// it: claude's, gemini's and qwen's lists the first two, kilo's and pi's the others.
var words = map[string]bool{"default": true, "auto": true, "free": true, "small": true, "sonar": true}

// noModelNames: what the live lists of this run call their models is written nowhere
// in the program, nor in a text that teaches a session to use it.
func noModelNames(t *testing.T, inv inventory.Inventory) {
	t.Helper()
	names := liveNames(inv)
	if len(names) < 10 {
		t.Errorf("only %d models are listed: %v", len(names), names)
	}
	for name, listed := range names {
		if !listed.MatchString("the model " + name + ", say") {
			t.Errorf("the search does not find %q", name)
		}
	}
	for at, text := range writtenTexts(t) {
		plain := strings.ToLower(text)
		for name, listed := range names {
			if strings.Contains(plain, name) && listed.MatchString(text) {
				t.Errorf("%s holds the model name %q", at, name)
			}
		}
	}
}

// liveNames are the listed models by their full names and by the last part of those,
// with what finds them as words.
func liveNames(inv inventory.Inventory) map[string]*regexp.Regexp {
	names := map[string]*regexp.Regexp{}
	add := func(name string) {
		if name = strings.ToLower(name); name != "" && !words[name] && !strings.Contains(name, "made-up") {
			names[name] = regexp.MustCompile(`(?i)(^|[^\w.-])` + regexp.QuoteMeta(name) + `($|[^\w.-])`)
		}
	}
	for _, p := range inv.Profiles {
		for _, m := range p.Models {
			for _, name := range []string{m.ID, m.Resolved} {
				add(name)
				add(name[strings.LastIndexByte(name, '/')+1:])
			}
		}
	}
	return names
}

// writtenTexts are the string literals of the program and the texts of its skill, by
// where they are.
func writtenTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	root := ".."
	ok(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != root && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			return literals(path, texts)
		case strings.Contains(strings.ToLower(path), "skill"), strings.HasSuffix(path, ".yaml") && strings.HasPrefix(path, "../internal/"):
			data, err := os.ReadFile(path)
			texts[path] = string(data)
			return err
		}
		return nil
	}))
	return texts
}

func literals(path string, texts map[string]string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, is := n.(*ast.BasicLit); is && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts[set.Position(lit.Pos()).String()] = text
			}
		}
		return true
	})
	return nil
}
