package check

import (
	"path"
	"slices"
	"strings"

	"orchestrate/internal/spec"
)

// JudgesChanged lists the changed paths that judge the work: tests, what runs them,
// and files that a check of the job names or that the tool it calls reads. A worker
// may have a good reason to change one; the arbiter is told. Paths and cwd are as in
// Ownership; links are the symbolic ones that the work started from, with where they lead.
func JudgesChanged(changed []string, checks []spec.Check, cwd string, links map[string]string) []string {
	named := readChecks(checks, cwd, links)
	named.follow(links)
	var hits []string
	for _, name := range changed {
		if usualJudge(name) || named.judge(name) {
			hits = append(hits, name)
		}
	}
	return hits
}

// The usual places of tests and of what runs them, wherever in the tree they are.
var (
	judgeFolders = words("test tests __tests__ testdata e2e __snapshots__ cypress")
	judgeFiles   = words("*_test.* test_*.* *.test.* *.spec.* *Test.* *Tests.* Test[A-Z]*.java Test[A-Z]*.kt *IT.java *Spec.* *_spec.* *.snap *.bats *.feature conftest.py " +
		"Makefile makefile GNUmakefile *.mk Taskfile* justfile .justfile Rakefile noxfile.py tox.ini pytest.ini .rspec Jenkinsfile* " +
		"package.json pyproject.toml setup.cfg .pre-commit-config.yaml .golangci.* jest.config.* vitest.config.* karma.conf.* playwright.config.* cypress.config.* .mocharc* phpunit.xml*")
	// specFolder holds tests only with files of these languages; else what it holds is the work.
	specFolder = words("*.rb *.js *.jsx *.ts *.tsx *.mjs *.cjs *.coffee *.cr *.php")
	// judgeTops are below the top of the tree only: what its forge and this program read.
	judgeTops = words(".github/ .gitlab/ .gitlab-ci* .circleci/ .buildkite/ .ci/ .woodpecker/ .woodpecker.y* .forgejo/ .gitea/ .semaphore/ .husky/ .githooks/ lefthook.y* .lefthook.y* .travis.yml .cirrus.yml .drone.yml " +
		"appveyor.yml .appveyor.yml azure-pipelines* bitbucket-pipelines.yml cloudbuild.y* .orchestrate.yaml")
)

// scriptFiles are what the tools of JavaScript read, one through the other, whatever
// script of package.json calls them.
const scriptFiles = ".npmrc .yarnrc* pnpm-workspace.yaml bunfig.toml .eslintrc* eslint.config.* tsconfig*.json babel.config.* .babelrc* .swcrc jest.setup.* jest.preset.* setupTests.* " +
	"vitest.setup.* vitest.workspace.* vite.config.* webpack.config.* rollup.config.* .nycrc* .c8rc* .prettierrc* prettier.config.* biome.json* .stylelintrc* stylelint.config.* turbo.json nx.json"

// toolFiles are what a tool reads about how it is to judge, by the tool's name.
var toolFiles = map[string][]string{
	"go": words("go.mod go.work"), "golangci-lint": words(".golangci.*"),
	"cargo": words("Cargo.toml build.rs clippy.toml .clippy.toml rust-toolchain* config.toml"),
	"cmake": words("CMakeLists.txt *.cmake CMakePresets.json"), "ctest": words("CMakeLists.txt *.cmake CTestTestfile.cmake"), "meson": words("meson.build"),
	"ninja": words("build.ninja"), "bazel": words("BUILD BUILD.bazel *.bzl WORKSPACE* MODULE.bazel .bazelrc"),
	"mvn": words("pom.xml"), "mvnw": words("pom.xml"), "gradle": words("*.gradle *.gradle.kts gradle.properties"), "gradlew": words("*.gradle *.gradle.kts gradle.properties"),
	"npm": words(scriptFiles), "npx": words(scriptFiles), "pnpm": words(scriptFiles), "yarn": words(scriptFiles), "bun": words(scriptFiles), "deno": words("deno.json*"),
	"eslint": words(".eslintrc* eslint.config.*"), "tsc": words("tsconfig*.json"), "biome": words("biome.json*"), "prettier": words(".prettierrc* prettier.config.*"),
	"ruff": words("ruff.toml .ruff.toml"), "mypy": words("mypy.ini .mypy.ini"), "flake8": words(".flake8"), "pylint": words(".pylintrc pylintrc"), "coverage": words(".coveragerc"),
	"bundle": words("Gemfile .rubocop.yml"), "rubocop": words(".rubocop.yml"), "composer": words("composer.json"), "mix": words("mix.exs"), "sbt": words("build.sbt"),
	"dotnet": words("*.csproj *.fsproj *.sln Directory.Build.* *.runsettings"), "swift": words("Package.swift"), "rebar3": words("rebar.config"),
	"docker": words("Dockerfile* compose*.y* docker-compose*.y*"), "docker-compose": words("compose*.y* docker-compose*.y*"),
	"shellcheck": words(".shellcheckrc"), "zig": words("build.zig"),
}

// folderRunners judge by all that lies in a folder that they are given.
var folderRunners = words("pytest bats rspec phpunit mocha jest vitest behave cypress playwright cucumber prove")

func words(list string) []string { return strings.Fields(list) }

func usualJudge(name string) bool {
	for _, top := range judgeTops {
		if strings.HasSuffix(top, "/") && strings.HasPrefix(name, top) || !strings.Contains(name, "/") && match(top, name) {
			return true
		}
	}
	dir, base := path.Split(name)
	if strings.Contains("/"+dir, "/spec/") && oneOf(specFolder, base) {
		return true
	}
	return oneOf(judgeFiles, base) || slices.ContainsFunc(judgeFolders, func(f string) bool { return strings.Contains("/"+dir, "/"+f+"/") })
}

func oneOf(globs []string, base string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return match(glob, base) })
}

// named is what the commands of a job's checks name.
type named struct {
	files   map[string]bool // from the top of the tree
	globs   []string
	folders []string // of which every file judges
	beside  []string // folders of scripts, which call what lies beside them
	tools   []string // patterns of what the tools read, by base name
}

func (n *named) judge(name string) bool {
	return n.files[name] || n.files[strings.TrimSuffix(name, path.Ext(name))] || oneOf(n.tools, path.Base(name)) || slices.Contains(n.beside, path.Dir(name)) ||
		slices.ContainsFunc(n.globs, func(glob string) bool { return match(glob, name) }) ||
		slices.ContainsFunc(n.folders, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
}

// readChecks takes the words of the commands for paths, from the cwd and from folders
// that the command changes to. What is no path of the tree hits nothing.
func readChecks(checks []spec.Check, cwd string, links map[string]string) *named {
	n := &named{files: map[string]bool{}}
	for _, c := range checks {
		said := commandWords(c)
		from := []string{cwd}
		for i, w := range said {
			if i > 0 && slices.Contains(changesFolder, said[i-1]) {
				from = append(from, path.Join(cwd, w), path.Join(from[len(from)-1], w))
			}
		}
		runsFolder := slices.ContainsFunc(said, func(w string) bool { return slices.Contains(folderRunners, path.Base(w)) })
		for i, w := range said {
			n.tools = append(n.tools, toolFiles[path.Base(w)]...)
			for _, dir := range from {
				for _, name := range through(path.Join(dir, w), links) {
					n.word(name, runsFolder || isRun(said[:i]))
					if dir := path.Dir(name); isScript(w) && dir != "." && path.Base(name) == path.Base(w) {
						n.beside = append(n.beside, dir)
					}
				}
			}
			if i > 0 && said[i-1] == "-m" {
				n.module(from, w)
			}
		}
	}
	return n
}

// changesFolder are the words behind which a folder stands that other words start from.
var changesFolder = []string{"cd", "pushd", "-C", "--prefix", "--cwd", "--dir", "--directory"}

// isRun: what stands behind `go run` is the folder of a program.
func isRun(before []string) bool {
	i := slices.Index(before, "run")
	return i > 0 && before[i-1] == "go"
}

// word takes in a word as a path from the top of the tree.
func (n *named) word(name string, whole bool) {
	if name == "." || strings.HasPrefix(name, "..") {
		return
	}
	n.files[name] = true
	if strings.ContainsAny(name, "*?[") {
		n.globs = append(n.globs, name)
	}
	if whole {
		n.folders = append(n.folders, name)
	}
}

// isScript: a script of a shell, in a folder that it is named with.
func isScript(word string) bool {
	dir := strings.Trim(path.Dir(path.Clean(word)), "./")
	return dir != "" && oneOf(words("*.sh *.bash *.zsh *.ps1"), path.Base(word)) && !strings.ContainsAny(word, "*?[")
}

// mostLinks bounds how many links are followed one after the other.
const mostLinks = 10

// through are a path and those that it leads to, by itself or by a folder on its way.
func through(name string, links map[string]string) []string {
	all := []string{name}
	for i := 0; i < len(all) && i < mostLinks; i++ {
		for at := all[i]; at != "." && at != "/"; at = path.Dir(at) {
			to, ok := links[at]
			if !ok || path.IsAbs(to) {
				continue
			}
			all = append(all, at, path.Join(path.Dir(at), to)+strings.TrimPrefix(all[i], at))
			break
		}
	}
	return all
}

// follow takes in where the links lead that judge.
func (n *named) follow(links map[string]string) {
	for link := range links {
		if !usualJudge(link) && !n.judge(link) {
			continue
		}
		for _, name := range through(link, links) {
			n.word(name, false)
		}
	}
}

// module takes in a Python module: tools.check is tools/check.py or in that folder.
func (n *named) module(from []string, name string) {
	for _, dir := range from {
		file := path.Join(dir, strings.ReplaceAll(name, ".", "/"))
		n.files[file+".py"], n.files[file+"/__main__.py"] = true, true
	}
}

// commandWords parts a command, whatever shell or list it is written in, where a path can
// begin or end. The folder that a shell works in is no part of a name.
func commandWords(c spec.Check) (said []string) {
	all := append([]string{c.Shell}, c.Run...)
	for _, text := range all {
		fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"';&|<>()`$={},", r) })
		said = append(said, fields...)
	}
	for i, w := range said {
		said[i] = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(w, "PWD/"), "file:"), "/")
	}
	return said
}
