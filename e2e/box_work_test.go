//go:build e2e && linux

package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// real work that an agent's shell does inside of its boundary.
const worker = `
version: 1
arbiter: {mode: checks-only}
jobs:
  - id: work
    runtime: %s
    task: docs
    effect: scoped-write
    isolation: worktree
%s    prompt: Do real work.
    expected_output: what came of it
    outputs: [{path: made.txt}]
    checks: [%s]
    timeout: 5m
`

// work lets the model ask for one line of shell, which is a check of the job as well: it
// works for both, and nothing of the folders in kept changes, with a person's settings
// in force.
func (l *lab) work(a agent, line string, kept ...string) {
	l.t.Helper()
	before := map[string]map[string]string{}
	for _, dir := range kept {
		before[dir] = l.listed(dir)
	}
	tools, box := "    allowed_tools: [Read, Write, Edit, Bash]\n", "landlock"
	if a.name == "codex" { // it has a sandbox of its own, and no flag for tools
		tools, box = "", "own"
	}
	e := l.spec(fmt.Sprintf(worker, a.name, tools, quoted("sh work.sh"))).wants(0)
	if s := e.status("work"); s.Route.Sandbox != box || len(s.Checks) != 1 || s.Checks[0].Status != "passed" {
		l.t.Errorf("held by %q, checks %+v", s.Route.Sandbox, s.Checks)
	}
	if answer := e.text("work/output.md"); !strings.Contains(answer, "all of it works") {
		l.t.Errorf("%s: the answer: %s", line, answer)
	}
	for dir, was := range before {
		after := l.listed(dir)
		maps.DeleteFunc(after, func(path, as string) bool { return was[path] == as })
		if len(after) > 0 {
			l.t.Errorf("the job changed or made %d files of %s, as %s", len(after), dir, slices.Sorted(maps.Keys(after))[0])
		}
	}
}

// listed are the files below a folder of the lab with what tells a changed one. What a
// program notes for itself when it looks at its cache is no content.
func (l *lab) listed(dir string) map[string]string {
	l.t.Helper()
	all := map[string]string{}
	ok(l.t, filepath.WalkDir(filepath.Join(l.base, dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		all[path] = fmt.Sprint(info.ModTime(), info.Size(), info.Mode())
		return err
	}))
	if len(all) < 2 {
		l.t.Fatalf("nothing is in %s", dir)
	}
	return all
}

// workScenario: one call of the shell, and what it said is the answer.
const workScenario = `
rules:
  - {name: beside, tools: false, do: [{text: a few words}]}
  - {turn: 0, do: [{shell: "sh work.sh 2>&1 && echo made >made.txt && echo all of it works"}]}
  - {do: [{text: "{{tool_result}}"}]}
`

// A module with a dependency is tested offline by the real go: the module cache is the
// person's and is not written, and neither is the build cache.
func TestGoTestsRunInTheBox(t *testing.T) {
	t.Parallel()
	goWork(t, claude())
}

// codex's own sandbox lets them have the job's temporary files and caches too.
func TestGoTestsRunInTheSandboxOfCodex(t *testing.T) {
	t.Parallel()
	goWork(t, codex())
}

func goWork(t *testing.T, a agent) {
	l := newAgentLab(t, workScenario, nil, a)
	l.vouch()
	l.goDependency()
	program, err := exec.LookPath("go")
	ok(t, err)
	l.repository( // codex's shell is a login shell, which may set its PATH anew
		"work.sh", "set -e\nPATH="+filepath.Dir(program)+":$PATH\ngo test ./...\ngo vet ./...\ngo build -o built .\n./built\n",
		"go.mod", "module example.invalid/app\n\ngo 1.24\n\nrequire example.invalid/dep v1.0.0\n",
		"main.go", "package main\n\nimport \"example.invalid/dep\"\n\nfunc main() { println(dep.Word()) }\n",
		"main_test.go", "package main\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"example.invalid/dep\"\n)\n\nfunc TestWord(t *testing.T) {\n\tif dep.Word() == \"\" {\n\t\tt.Fatal()\n\t}\n\tif err := os.WriteFile(t.TempDir()+\"/f\", nil, 0o600); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
		".gitignore", "/built\n",
	)
	l.set("GOPROXY=file://"+filepath.Join(l.base, "proxy"), "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod")
	l.command("", "go", "mod", "tidy")
	l.command("", "go", "test", "./...")
	l.command("", "git", "add", "-A")
	l.command("", "git", "-c", "user.name=Ann", "-c", "user.email=ann@example.invalid", "commit", "-q", "-m", "sums")
	l.set("GOPROXY=off", "GOFLAGS=")
	t.Cleanup(func() { l.command("", "go", "clean", "-modcache") }) // it is read-only, even for who removes the lab
	l.work(a, "go", "home/go/pkg/mod", "home/.cache/go-build")
}

// goDependency is a module of which there is one version, in a folder that serves it.
func (l *lab) goDependency() {
	l.t.Helper()
	const at = "proxy/example.invalid/dep/@v/"
	const mod = "module example.invalid/dep\n\ngo 1.24\n"
	l.file(at+"list", "v1.0.0\n")
	l.file(at+"v1.0.0.info", `{"Version": "v1.0.0", "Time": "2024-01-01T00:00:00Z"}`)
	l.file(at+"v1.0.0.mod", mod)
	l.zip(at+"v1.0.0.zip", "example.invalid/dep@v1.0.0/go.mod", mod,
		"example.invalid/dep@v1.0.0/dep.go", "// Package dep has a word.\npackage dep\n\n// Word is it.\nfunc Word() string { return \"word\" }\n")
}

// zip packs files (name, content, …).
func (l *lab) zip(path string, files ...string) {
	l.t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		ok(l.t, err)
		_, err = io.WriteString(f, files[i+1])
		ok(l.t, err)
	}
	ok(l.t, w.Close())
	l.file(path, b.String())
}

// A lock file's package is installed offline by the real npm: the cache is the person's
// and is not written.
func TestNpmInstallsInTheBox(t *testing.T) {
	t.Parallel()
	l := newAgentLab(t, workScenario, nil, claude())
	l.vouch()
	l.file("made-up/package.json", `{"name": "made-up", "version": "1.0.0", "main": "index.js"}`)
	l.file("made-up/index.js", "module.exports = 'a word'\n")
	tarball := filepath.Join(l.base, "made-up-1.0.0.tgz")
	l.command("", "npm", "pack", "--silent", "--pack-destination", l.base, filepath.Join(l.base, "made-up"))
	l.command("", "npm", "cache", "add", tarball)
	data, err := os.ReadFile(tarball)
	ok(t, err)
	sum := sha512.Sum512(data)
	integrity := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	l.repository(
		"work.sh", "set -e\nnpm ci --offline\nnode -e 'if (require(\"made-up\") !== \"a word\") process.exit(1)'\n",
		".gitignore", "/node_modules/\n",
		"package.json", `{"name": "app", "version": "1.0.0", "dependencies": {"made-up": "1.0.0"}}`,
		"package-lock.json", fmt.Sprintf(`{"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
  "": {"name": "app", "version": "1.0.0", "dependencies": {"made-up": "1.0.0"}},
  "node_modules/made-up": {"version": "1.0.0", "resolved": "https://registry.npmjs.org/made-up/-/made-up-1.0.0.tgz", "integrity": %q}
}}`, integrity),
	)
	cmd := exec.Command("sh", "work.sh")
	cmd.Dir, cmd.Env = l.dir, l.env
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("without a boundary: %v\n%s", err, said)
	}
	l.work(claude(), "npm", "home/.npm/_cacache/content-v2", "home/.npm/_cacache/index-v5")
}
