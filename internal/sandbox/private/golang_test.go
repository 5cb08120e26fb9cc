//go:build linux

package private_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/sandbox"
)

// goModule makes a module with one dependency, which the person has downloaded, and
// returns its folder. Nothing of it is built yet.
func goModule(t *testing.T, p person, files map[string]string) string {
	t.Helper()
	proxy, tree := t.TempDir(), real(t, t.TempDir())
	versions := filepath.Join(proxy, "example.com/dep/@v")
	write(t, filepath.Join(versions, "list"), "v1.0.0\n")
	write(t, filepath.Join(versions, "v1.0.0.info"), `{"Version":"v1.0.0"}`)
	write(t, filepath.Join(versions, "v1.0.0.mod"), "module example.com/dep\n\ngo 1.21\n")
	f, err := os.Create(filepath.Join(versions, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": "module example.com/dep\n\ngo 1.21\n", "dep.go": "package dep\n\nfunc Answer() int { return 42 }\n"} {
		w, err := z.Create("example.com/dep@v1.0.0/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree, "go.mod"), "module example.com/m\n\ngo 1.21\n\nrequire example.com/dep v1.0.0\n")
	for name, text := range files {
		write(t, filepath.Join(tree, name), text)
	}
	p.does(t, tree, "GOPROXY=file://"+proxy+" GOFLAGS=-mod=mod GONOSUMDB=* go mod download all && chmod -R a-w \"$HOME/go\"")
	t.Cleanup(func() { p.does(t, "/", `chmod -R u+w "$HOME/go"`) })
	return tree
}

// offline are the settings of somebody whose go may fetch nothing.
var offline = []string{"GOPROXY=off", "GOTOOLCHAIN=local", "GONOSUMDB=*", "CGO_ENABLED=0"}

// filledCache is the build cache that these tests were built with: in it the standard
// library is compiled.
func filledCache(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "go-build")
}

// library uses the dependency and no standard package, so that it is built at once.
var library = map[string]string{"m.go": "package m\n\nimport \"example.com/dep\"\n\nfunc F() int { return dep.Answer() }\n"}

// goTest also needs a place for temporary files.
const goTest = `package m

import (
	"os"
	"testing"
)

func TestF(t *testing.T) {
	if F() != 42 {
		t.Fatal(F())
	}
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`

// compiled are the packages that "go … -x" says it compiled.
func compiled(said string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)/compile .* -p (\S+)`).FindAllStringSubmatch(said, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return all
}

func TestARealGoTestInTheBox(t *testing.T) {
	t.Parallel()
	p := newPerson(t, append(offline, "GOCACHE="+filledCache(t))...)
	tree := goModule(t, p, map[string]string{
		"m.go":      library["m.go"],
		"m_test.go": goTest,
	})
	p.does(t, tree, "go test ./...") // as the person did before
	write(t, filepath.Join(tree, "m.go"), library["m.go"]+"\nfunc New() int { return F() }\n")

	_, job := p.job(t, tree)
	said := job("go test -x ./...")
	if !strings.Contains(said, "ok  \texample.com/m") {
		t.Errorf("said:\n%s", said)
	}
	for _, name := range compiled(said) {
		if name != "main" && !strings.HasPrefix(name, "example.com/m") {
			t.Errorf("%s was compiled again", name)
		}
	}
	if again := job("go test ./..."); !strings.Contains(again, "(cached)") {
		t.Errorf("what the job built itself was lost: %s", again)
	}
	job("GOFLAGS=-mod=mod go build ./... && go mod tidy && go mod verify && go list -m all")
	if sandbox.ABI() >= sandbox.MinABI {
		job(`if touch "$HOME/go/pkg/mod/x" || touch "$HOME/x" || cat "$HOME/.ssh/id"; then exit 1; fi`)
	}
}

func TestGoBuildsOnThePersonsCacheAndLeavesItAlone(t *testing.T) {
	t.Parallel()
	p := newPerson(t, offline...)
	tree := goModule(t, p, library)
	p.does(t, tree, "go build ./...")
	seed := filepath.Join(p.home, ".cache", "go-build")
	before := below(t, seed)

	d, job := p.job(t, tree)
	if said := job("go build -x ./..."); len(compiled(said)) != 0 {
		t.Errorf("built again: %v", compiled(said))
	}
	write(t, filepath.Join(tree, "m.go"), library["m.go"]+"\nfunc New() int { return F() }\n")
	if said := job("go build -x ./..."); !slices.Equal(compiled(said), []string{"example.com/m"}) {
		t.Errorf("compiled %v", compiled(said))
	}
	if said := job("go build -x ./..."); len(compiled(said)) != 0 {
		t.Errorf("built again: %v", compiled(said))
	}
	if below(t, seed) != before {
		t.Error("the person's cache changed")
	}
	if !strings.Contains(below(t, filepath.Join(d.Path, "go-build")), "-d ") {
		t.Error("nothing was put into the private cache")
	}
}

// The person may keep their cache anywhere, also by "go env -w" and with odd names.
func TestGoCacheOfThePersonIsFound(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]struct {
		env  []string
		file string // relative to HOME
		text string
		dir  string // where the cache is
	}{
		"default":        {dir: ".cache/go-build"},
		"XDG_CACHE_HOME": {env: []string{"XDG_CACHE_HOME=$HOME/elsewhere"}, dir: "elsewhere/go-build"},
		"GOCACHE":        {env: []string{"GOCACHE=$HOME/it's here"}, dir: "it's here"},
		"go env -w":      {file: ".config/go/env", text: "GOFLAGS=-x\nGOCACHE=$HOME/written\n", dir: "written"},
		"GOENV":          {env: []string{"GOENV=$HOME/my env"}, file: "my env", text: "GOCACHE=$HOME/written\n", dir: "written"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, offline...)
			for _, e := range setup.env {
				p.env = append(p.env, strings.ReplaceAll(e, "$HOME", p.home))
			}
			if setup.file != "" {
				write(t, filepath.Join(p.home, setup.file), strings.ReplaceAll(setup.text, "$HOME", p.home))
			}
			tree := goModule(t, p, library)
			p.does(t, tree, "GOFLAGS= go build ./...")
			if _, err := os.Stat(filepath.Join(p.home, setup.dir, "README")); err != nil {
				t.Fatal(err)
			}
			_, job := p.job(t, tree)
			if said := job("GOFLAGS= go build -x ./..."); len(compiled(said)) != 0 {
				t.Errorf("built again: %v", compiled(said))
			}
		})
	}
}

func TestTestResultsThatThePersonDeclaredVoidStayVoid(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	write(t, filepath.Join(p.home, ".cache/go-build/testexpire.txt"), "1234\n")
	d, _ := p.job(t, real(t, t.TempDir()))
	if got := read(t, filepath.Join(d.Path, "go-build", "testexpire.txt")); got != "1234\n" {
		t.Errorf("%q", got)
	}
}
