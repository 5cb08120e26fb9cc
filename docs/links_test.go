package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orchestrate/internal/cli"
)

// pages are all documents that a person may read.
func pages(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"../*.md", "*.md", "adr/*.md", "../bench/*.md", "../e2e/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) < 5 {
		t.Fatalf("only %v found", all)
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// Every command that a page tells a person to type is one that the program has.
func TestCommandsInThePagesExist(t *testing.T) {
	var help strings.Builder
	if code := cli.Main(t.Context(), []string{"--help"}, cli.System{Out: &help, Err: &help}); code != 0 {
		t.Fatalf("--help: exit status %d", code)
	}
	typed := regexp.MustCompile("(?m)(?:`|^)orchestrate ([a-z][a-z-]*)")
	for _, page := range pages(t) {
		for _, m := range typed.FindAllStringSubmatch(read(t, page), -1) {
			if m[1] != "statsu" && !strings.Contains(help.String(), "\n  "+m[1]+" ") { // that is what a page tells not to type
				t.Errorf("%s names `orchestrate %s`, which is no command", page, m[1])
			}
		}
	}
}

// Each file that ARCHITECTURE.md and the others name between backquotes with a
// folder of the source is there.
func TestPathsInThePagesExist(t *testing.T) {
	named := regexp.MustCompile("`((?:internal|cmd|docs|scripts|examples|e2e|bench)/[A-Za-z0-9_./-]*)`")
	for _, page := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
	}
}
