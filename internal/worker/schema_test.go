package worker

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrate/internal/ledger/ledgertest"
	"orchestrate/internal/runtime"
)

func TestEveryFileOfAWorkerRunFitsItsSchema(t *testing.T) {
	r := newRun(t)
	m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}]}`), options(r))
	if m == nil {
		t.Fatal(said(diags))
	}
	p, diags, err := m.Write()
	must(t, err)
	if len(diags) > 0 {
		t.Fatal(said(diags))
	}
	c := begin(t, r, "a", "b").keeps()
	c.starts("a", 1)
	c.ends(done("a"), "x")
	c.starts("b", 1)
	c.ends(failed("b", runtime.ReasonTurnCap), "")
	c.over()
	schemas, err := ledgertest.Load()
	must(t, err)
	for path, name := range map[string]string{
		filepath.Join(r.Dir, "run.json"): "worker-run", filepath.Join(p.Dir, "call.json"): "worker-call",
		filepath.Join(r.TaskDir("a"), StatusFile): "task", filepath.Join(r.TaskDir("b"), StatusFile): "task",
	} {
		data, err := os.ReadFile(path)
		must(t, err)
		if err := schemas.Check(name, data); err != nil {
			t.Errorf("%s: %v\n%s", path, err, data)
		}
	}
}
