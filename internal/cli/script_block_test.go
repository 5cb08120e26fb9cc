//go:build linux

package cli_test

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// block demands that a file ends with the completion block, and that the block says
// what report.json of the last run has as fields: `block FILE`.
func block(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "block FILE")
	_, said, found := strings.Cut("\n"+ts.ReadFile(args[0]), "\n**Orchestrate Result**\n")
	if !found || strings.Contains(said, "**Orchestrate Result**") {
		ts.Fatalf("%s does not end with one completion block", args[0])
	}
	facts, _ := document(ts, filepath.Join(ts.Getenv("RUN"), "report.json"))["completion"].(map[string]any)
	lines := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
	want := []string{"Spec spec", "Report report", "Jobs jobs", "Arbiter arbiter", "Checks checks"}
	if len(lines) < len(want)+3 {
		ts.Fatalf("the block is cut: %q", lines)
	}
	for i, line := range want {
		word, key, _ := strings.Cut(line, " ")
		if got := backslashed.ReplaceAllString(lines[i], "$1"); got != "- "+word+": "+text(facts[key]) {
			ts.Fatalf("the block says %q, report.json %s %v", got, key, facts[key])
		}
	}
	open, _ := facts["unresolvedQuestions"].([]any)
	questions := []string{"", "Unresolved questions:"}
	for _, q := range open {
		questions = append(questions, "- "+text(q))
	}
	if len(open) == 0 {
		questions = append(questions, "- None")
	}
	var got []string
	for _, line := range lines[len(want):] {
		got = append(got, backslashed.ReplaceAllString(line, "$1"))
	}
	if !slices.Equal(got, questions) {
		ts.Fatalf("the block ends with %q, report.json has %q", got, questions)
	}
}
