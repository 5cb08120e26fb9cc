package mcp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A report names its run by an absolute path, also one that lies elsewhere, and has a list
// where nobody is needed.
func TestAReportHasAListAndAnAbsolutePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plans", "reports", "orchestrate-r1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fake{say: func(_ context.Context, c Command) Outcome {
		if slices.Contains(c.Args, "--json") {
			return Outcome{Out: `{"runId":"r1","runDir":"plans/reports/orchestrate-r1","standing":"ended","exitStatus":0,"verdict":"pass","needsPerson":null}`}
		}
		return Outcome{Out: "words"}
	}}
	_, doc, failed := use(t, connect(t, f, nil), "report", map[string]any{"run": dir})
	if needs, is := doc["needsPerson"].([]any); failed || !is || len(needs) != 0 || doc["runDir"] != dir || doc["file"] != dir+"/report.md" {
		t.Errorf("%+v", doc)
	}
}
