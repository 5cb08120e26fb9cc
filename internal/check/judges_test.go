package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/spec"
)

func TestJudgesChanged(t *testing.T) {
	shell := func(text string) []spec.Check { return []spec.Check{{Shell: text}} }
	argv := func(words ...string) []spec.Check { return []spec.Check{{Run: words}} }
	for _, c := range []struct {
		name          string
		checks        []spec.Check
		cwd           string
		links         map[string]string
		judge, others []string
	}{
		{name: "tests", judge: []string{
			"src/a_test.go", "web/app.test.ts", "web/app.spec.tsx", "tests/data.json", "src/test/java/A.java", "a/testdata/x", "src/FooTest.java", "src/FooSpec.scala",
			"test_x.py", "a/conftest.py", "spec/models/user_spec.rb", "app/__snapshots__/a.snap", "features/login.feature", "e2e/run.ts", "spec/helper.rb", "web/spec/setup.js", "src/TestFoo.java", ".husky/pre-commit",
		}, others: []string{"src/a.go", "contest/a.go", "src/latest.ts", "internal/spec/spec.go", "spec/api.yaml", "src/Testimony.java", "README.md", "attestation.md"}},
		{name: "what a forge runs", judge: []string{
			".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines-2.yml", "Jenkinsfile", "deploy/Jenkinsfile", ".woodpecker.yml", ".woodpecker/a.yml",
		}, others: []string{"docs/.github/x.md", "src/.travis.yml", "github/x"}},
		{name: "how tests are run", judge: []string{
			"Makefile", "sub/makefile", "rules.mk", "package.json", "web/package.json", "pyproject.toml", "tox.ini", "justfile", ".golangci.yml", "vitest.config.ts", ".orchestrate.yaml",
		}, others: []string{"go.mod", "Cargo.toml", "Dockerfile", "src/Makefile.go"}},

		{name: "a script in a shell command", checks: shell("sh ./scripts/verify.sh && true"), cwd: "sub", judge: []string{"sub/scripts/verify.sh", "sub/scripts/lib.sh", "sub/scripts/rules.json"}, others: []string{"scripts/verify.sh", "sub/scripts/more/other.sh", "sub/a.sh"}},
		{name: "a script beside the work", checks: shell("cd web && ./check.sh"), judge: []string{"web/check.sh"}, others: []string{"web/app.js", "app.js"}},
		{name: "a script above", checks: shell("sh ../check.sh"), cwd: "web", judge: []string{"check.sh"}, others: []string{"a.sh", "web/app.js"}},
		{name: "through a link", checks: shell("sh run.sh"), links: map[string]string{"run.sh": "t/real.sh"}, judge: []string{"run.sh", "t/real.sh"}, others: []string{"t/other.sh"}},
		{name: "through links", checks: shell("sh ci/run.sh"), links: map[string]string{"ci": "build/ci", "build/ci/run.sh": "../../t/real.sh"}, judge: []string{"ci", "build/ci/run.sh", "build/ci/lib.sh", "t/real.sh"}, others: []string{"t/other", "run.sh"}},
		{name: "links in a circle, and out of the tree", checks: shell("sh a.sh; sh b.sh"), links: map[string]string{"a.sh": "c.sh", "c.sh": "a.sh", "b.sh": "../x.sh", "d": "/etc"}, judge: []string{"a.sh", "b.sh", "c.sh"}, others: []string{"x.sh", "d"}},
		{name: "a test that is a link", links: map[string]string{"tests/data.json": "../src/data.json", "other": "src/a.go", "tests/src": "../src"}, judge: []string{"src/data.json"}, others: []string{"src/a.go"}},
		{name: "a program in argv", checks: argv("tools/lint", "-v"), cwd: "sub", judge: []string{"sub/tools/lint"}, others: []string{"tools/lint"}},
		{name: "a shell in argv", checks: argv("bash", "-lc", "set -e; ./ci/run.sh --fast"), cwd: ".", judge: []string{"ci/run.sh"}},
		{name: "the value of an option", checks: argv("lint", "--config=ci/rules.json", "-r", "ci/more.json"), judge: []string{"ci/rules.json", "ci/more.json"}},
		{name: "from a folder it changes to", checks: shell("cd web && ./check.sh"), judge: []string{"web/check.sh"}, others: []string{"api/check.sh"}},
		{name: "by the shell's own folder", checks: shell(`"$PWD/check.sh" && $(pwd)/more.sh && ${PWD}/third.sh`), judge: []string{"check.sh", "more.sh", "third.sh"}},
		{name: "in quotes", checks: shell(`sh 'ci/run.sh' "ci/more.sh"`), judge: []string{"ci/run.sh", "ci/more.sh"}},
		{name: "upwards", checks: shell("../ci/run.sh"), cwd: "web", judge: []string{"ci/run.sh"}},
		{name: "by a pattern", checks: shell("for f in ci/*.sh; do sh $f; done"), judge: []string{"ci/a.sh"}, others: []string{"ci/sub/a.sh", "other/a.sh"}},
		{name: "without its ending", checks: argv("node", "ci/check"), judge: []string{"ci/check.js"}, others: []string{"ci/checker.js"}},
		{name: "a module", checks: shell("python3 -m tools.check -q"), judge: []string{"tools/check.py"}, others: []string{"tools/other.py"}},
		{name: "a program of the tree", checks: argv("go", "run", "./ci/check"), judge: []string{"ci/check/main.go", "go.mod"}, others: []string{"ci/other/main.go", "main.go"}},
		{name: "a folder that a runner reads", checks: argv("python", "-m", "pytest", "checks/unit"), judge: []string{"checks/unit/a.py"}, others: []string{"checks/other.py"}},
		{name: "a folder that is only built", checks: argv("go", "test", "./pkg/..."), judge: []string{"go.mod"}, others: []string{"pkg/a.go"}},

		{name: "make", checks: argv("make", "-C", "web", "test"), judge: []string{"web/Makefile", "web/rules.mk"}, others: []string{"go.mod"}},
		{name: "npm", checks: argv("npm", "test"), judge: []string{"package.json", ".npmrc", ".eslintrc.json", "jest.setup.js", "tsconfig.json", "babel.config.js"}, others: []string{"src/index.js", "config.js"}},
		{name: "cargo in a shell", checks: shell("cd core && cargo test --all"), judge: []string{"core/Cargo.toml", "core/build.rs"}, others: []string{"core/src/lib.rs"}},
		{name: "a wrapper", checks: shell("./gradlew check"), judge: []string{"gradlew", "app/build.gradle.kts"}, others: []string{"app/Main.kt"}},
		{name: "compilers", checks: shell("npx tsc -p . && npx eslint ."), judge: []string{"tsconfig.json", "eslint.config.mjs"}, others: []string{"src/index.ts"}},
		{name: "the whole tree names nothing", checks: argv("lint", ".", "./..."), others: []string{"a.go", "b/c.go"}},
		{name: "an assertion names nothing", checks: []spec.Check{{Assert: "docs/a.md reads well"}}, others: []string{"docs/a.md"}},
	} {
		if c.cwd == "" {
			c.cwd = "."
		}
		changed := append(append([]string{}, c.judge...), c.others...)
		if diff := cmp.Diff(c.judge, JudgesChanged(changed, c.checks, c.cwd, c.links)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
