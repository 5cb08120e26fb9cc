package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/spec"
	"orchestrate/internal/worker"
)

// around is the spec that the jobs of a page stand in.
const around = `version: 1
outcome: "As the page says."
defaults: {timeout: 10m, expected_output: "What the prompt asks for."}
jobs:
`

// snippets are a page's fenced blocks in a language.
func snippets(t *testing.T, page, language string) (all []string) {
	t.Helper()
	fenced := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```")
	for _, m := range fenced.FindAllStringSubmatch(read(t, page), -1) {
		all = append(all, m[1])
	}
	return all
}

// TestJobsInThePagesAreValid: what a page shows of a spec can be pasted as it stands.
func TestJobsInThePagesAreValid(t *testing.T) {
	seen := 0
	for _, page := range []string{"patterns.md", "sessions.md"} {
		for _, text := range snippets(t, page, "yaml") {
			seen++
			indented := "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
			if _, diags := spec.Parse(filepath.Join(t.TempDir(), "jobs.yaml"), []byte(around+indented), spec.Options{}); len(diags) > 0 {
				t.Errorf("%s: %v in\n%s", page, diags, text)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d snippets were found", seen)
	}
}

// heredoc is a manifest that a block of shell writes.
var heredoc = regexp.MustCompile(`(?ms)stage1\.json" << 'EOF'\n(.*?)^EOF$`)

// TestManifestsInThePagesAreValid: the same of manifests, also where shell writes them.
func TestManifestsInThePagesAreValid(t *testing.T) {
	texts := snippets(t, "patterns.md", "json")
	for _, block := range snippets(t, "worker.md", "sh") {
		for _, m := range heredoc.FindAllStringSubmatch(block, -1) {
			texts = append(texts, m[1])
		}
	}
	example, err := os.ReadFile("../examples/worker/stage1.json")
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, string(example))
	if len(texts) < 3 {
		t.Errorf("only %d manifests were found", len(texts))
	}
	root := t.TempDir()
	run, err := worker.New(root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		m, diags := worker.ParseManifest(run, "stage1.json", []byte(text), worker.Options{Cwd: root, By: "batch"})
		if len(diags) > 0 {
			t.Errorf("%v in\n%s", diags, text)
			continue
		}
		if _, diags, err := m.Write(); err != nil || len(diags) > 0 {
			t.Errorf("%v, %v in\n%s", err, diags, text)
		}
	}
}

// The example of the patterns is a spec that has all of them.
func TestTheExampleHasAllPatterns(t *testing.T) {
	s, diags := spec.Load("../examples/patterns.yaml", spec.Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, kind := range []string{spec.PatternForeach, spec.PatternVotes, spec.PatternUntilDry, spec.PatternRepair, spec.PatternJoin} {
		members := 0
		for i := range s.Jobs {
			if part := s.Jobs[i].Part; part != nil && part.Kind == kind {
				members++
			}
		}
		if members == 0 {
			t.Errorf("it has no %s", kind)
		}
	}
}
