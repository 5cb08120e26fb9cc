package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The drawing holds on every platform: files differ by build tag.
func TestImportsFollowTheDrawing(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			pkgs := list(t, goos, "./...")
			if len(pkgs) < len(pipeline) {
				t.Fatalf("only %d packages found: the rules were held against nothing", len(pkgs))
			}
			for _, b := range breaches(pkgs) {
				t.Error(b)
			}
		})
	}
}

func TestSupervisorStaysLean(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			for _, o := range overweight(list(t, goos, "-deps", "./cmd/orchestrate-supervise")) {
				t.Error(o)
			}
		})
	}
}

// A pure room is told the time; it does not look at the clock.
func TestPureRoomsHaveNoClock(t *testing.T) {
	for _, name := range pure {
		files, err := filepath.Glob(filepath.Join("..", name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("room %s: no files (%v)", name, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range clockCalls(t, file, source) {
				t.Error(c)
			}
		}
	}
}

// A rule that cannot fail keeps nothing.
func TestEveryRuleCanFail(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		want     string // part of the complaint; "" = allowed
	}{
		{"internal/cli", "internal/engine", ""},
		{"internal/engine", "internal/report", ""},
		{"internal/route", "internal/policy", ""},
		{"internal/arbiter", "internal/ledger", ""},
		{"internal/runtime/claude", "internal/runtime/probe", ""},
		{"internal/ledger", "internal/runtime", ""},
		{"cmd/orchestrate", "internal/cli", ""},
		{"internal/supervise", "os/exec", ""},
		{"internal/engine", "internal/cli", "other way"},
		{"internal/policy", "internal/route", "other way"},
		{"internal/spec", "internal/graph", "other way"},
		{"internal/check", "internal/engine", "other way"},
		{"internal/ledger", "internal/spec", "other way"},
		{"internal/runtime/codex", "internal/policy", "other way"},
		{"internal/ui", "internal/report", "other way"},
		{"internal/engine", "internal/ui", "follows the ledger"},
		{"internal/report", "internal/ui", "follows the ledger"},
		{"internal/engine", "internal/history", ""},
		{"internal/route", "internal/history", "decides nothing"},
		{"internal/dispatch", "internal/history/statistics", "decides nothing"},
		{"internal/policy", "os", "touches nothing"},
		{"internal/graph", "os/exec", "touches nothing"},
		{"internal/gate", "net/http", "touches nothing"},
		{"internal/arbiter", "io/fs", "touches nothing"},
		{"internal/route", "golang.org/x/sys/unix", "touches nothing"},
		{"internal/check", "os/exec", "started by supervise"},
		{"internal/newroom", "fmt", "no room for it"},
		{"internal/runtime/helpers", "fmt", "name it after"},
	} {
		got := strings.Join(breaches([]pkg{{path: tc.from, imports: []string{tc.to}}}), "\n")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s -> %s: %q, want %q", tc.from, tc.to, got, tc.want)
		}
	}
}

// In the engine, what earlier runs came to is added to and told, and nothing else knows
// of it: no route, no start and no verdict can depend on it.
func TestTheEngineOnlyTellsOfTheHistory(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "engine", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(file); strings.Contains(string(source), `"orchestrate/internal/history`) && name != "finish.go" && name != "suggest.go" {
			t.Errorf("%s reads the history", name)
		}
	}
}

func TestAHeavySupervisorIsNoticed(t *testing.T) {
	for _, p := range []pkg{
		{path: "internal/secret/detect"},
		{path: "internal/spec"},
		{path: "github.com/spf13/cobra"},
		{path: "net/http", std: true},
	} {
		if len(overweight([]pkg{p})) != 1 {
			t.Errorf("%s passed", p.path)
		}
	}
	if got := overweight([]pkg{{path: "internal/capture"}, {path: "fmt", std: true}, {path: "golang.org/x/sys/unix"}}); len(got) > 0 {
		t.Errorf("refused what is allowed: %v", got)
	}
}

func TestAClockIsNoticed(t *testing.T) {
	source := "package p\nimport clock \"time\"\nvar a = clock.Now()\nvar b = clock.Second\n"
	if got := clockCalls(t, "p.go", []byte(source)); len(got) != 1 {
		t.Errorf("calls found: %v, want the one in line 3", got)
	}
}

// list asks the go command for packages as they are built for goos, without tests.
func list(t *testing.T, goos string, args ...string) (pkgs []pkg) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Imports,Standard"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaint.String())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
			Standard   bool
		}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatal(err)
		}
		one := pkg{path: local(p.ImportPath), std: p.Standard}
		for _, to := range p.Imports {
			one.imports = append(one.imports, local(to))
		}
		pkgs = append(pkgs, one)
	}
}

func local(importPath string) string { return strings.TrimPrefix(importPath, module+"/") }

// clockCalls finds the calls with which a file looks at the clock or waits.
func clockCalls(t *testing.T, name string, source []byte) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	as := ""
	for _, imp := range file.Imports {
		if imp.Path.Value == `"time"` {
			as = "time"
			if imp.Name != nil {
				as = imp.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && as != "" && x.Name == as && looksAtClock(sel.Sel.Name) {
			found = append(found, fmt.Sprintf("%s: time.%s: be told the time", fset.Position(sel.Pos()), sel.Sel.Name))
		}
		return true
	})
	return found
}

func looksAtClock(name string) bool {
	switch name {
	case "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick":
		return true
	}
	return false
}
