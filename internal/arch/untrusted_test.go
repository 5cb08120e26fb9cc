package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bare are the ways to what a text from outside really says. All others show it in a
// form that acts on nobody, or store it.
var bare = []string{"Unshown", "Through", "MarshalText"}

// mayRead are the files that may use them, and what for. Whoever branches on such text
// decides by it: the list is short, and each place says why it may.
var mayRead = map[string]string{
	"internal/runtime/gemini/decoder.go":         "its own error line, before it leaves the decoder",
	"internal/supervise/eventlog.go":             "redacts and bounds, before the disk",
	"internal/supervise/heldevents.go":           "redacts a secret that goes over several lines",
	"internal/supervise/attempt_unix.go":         "bounds an answer",
	"internal/ledger/files.go":                   "stores an answer as a file",
	"internal/policy/classify.go":                "tells the class of a failure by the runtime's error line; never reads an answer",
	"internal/policy/decide_wait.go":             "tells by the runtime's error line when a limit ends, within bounds",
	"internal/engine/past.go":                    "takes the engine's own notes from its journal",
	"internal/runtime/probe/probetest/pieces.go": "for tests: finds what was said in the lines that said it",
	"internal/arbiter/parse.go":                  "reads the arbiter's answer in the form that was asked for",
	"internal/arbiter/soften.go":                 "holds the first answer of the arbiter against the second",
	"internal/arbiter/evidence.go":               "cuts a text to its share, before its fence",
	"internal/arbiter/prompt.go":                 "cuts the first answer, before its fence",
	"internal/planner/answer.go":                 "reads the planner's answer in the form that was asked for",
	"internal/planner/prompt.go":                 "cuts an answer and what was wrong with it, before their fences",
}

// Nothing but what is named above gets at the bare text, and every name is needed.
func TestTextFromOutsideDecidesNothing(t *testing.T) {
	used := map[string]bool{}
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
			for _, use := range bareReads(t, path, nil) {
				used[name] = true
				if mayRead[name] == "" {
					t.Errorf("%s: it reads text from outside as it is; show it, or give the reason in internal/arch", use)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range mayRead {
		if !used[name] {
			t.Errorf("%s no longer reads text from outside: take it off the list", name)
		}
	}
}

// A rule that cannot fail keeps nothing.
func TestABareReadIsSeen(t *testing.T) {
	const source = `package p
import "orchestrate/internal/untrusted"
func f(t untrusted.Text) bool { return t.Unshown() == "yes" || t.Through(nil).Empty() || t.Line(0) == "" }`
	if got := bareReads(t, "p.go", source); len(got) != 2 {
		t.Errorf("saw %q", got)
	}
}

// bareReads are the places in a file that get at the bare text. A file that does not
// import the type can still hold a value of it, so imports are not asked: the names
// are those of no other method.
func bareReads(t *testing.T, path string, source any) (all []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if file.Name.Name == "untrusted" {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(bare, sel.Sel.Name) {
			return true
		}
		all = append(all, fmt.Sprintf("%s: %s", fset.Position(sel.Pos()), sel.Sel.Name))
		return true
	})
	return all
}
