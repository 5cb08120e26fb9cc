package worker

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
)

func TestAnIDIsSpeltAsBefore(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a")
	c.starts("a", 1)
	c.ends(done("a"), "x")
	c.over()
	for manifest, want := range map[string]string{
		`{"tasks": [{"id": "b", "prompt": "x"}, {"id": "A", "prompt": "x"}]}`: `1:47 tasks[1].id: this worker run has a task "a" already`,
		`{"tasks": [{"id": "b", "prompt": "x"}, {"id": "a", "prompt": "x"}]}`: "",
	} {
		m, diags := ParseManifest(r, "m.json", []byte(manifest), options(r))
		if m == nil {
			t.Fatal(said(diags))
		}
		p, diags, err := m.Write()
		must(t, err)
		if got := said(diags); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %s, want %s", manifest, got, want)
		}
		if len(diags) == 0 {
			must(t, p.Discard())
		}
	}
}

func TestACallSaysHowItIsMadeOnceMore(t *testing.T) {
	r := newRun(t)
	for want, read := range map[string]func(Options) *Manifest{
		"orchestrate batch " + r.ID + " 'my m.json' --timeout=5": func(o Options) *Manifest {
			o.By = "batch"
			m, _ := ParseManifest(r, filepath.Join(r.Root, "my m.json"), []byte(`{"tasks": [{"id": "a", "prompt": "x"}]}`), o)
			return m
		},
		"cd sub && orchestrate batch " + r.ID + " - --timeout=5": func(o Options) *Manifest {
			o.By, o.Cwd = "batch", filepath.Join(r.Root, "sub")
			m, _ := ParseManifest(r, fromStdin, []byte(`{"tasks": [{"id": "a", "prompt": "x", "cwd": ".."}]}`), o)
			return m
		},
		"orchestrate dispatch " + r.ID + " a .orchestrate/runs/" + r.ID + "/specs/1/prompts/a.txt --timeout=5": func(o Options) *Manifest {
			o.By = "dispatch"
			m, _ := Single(r, "a", "x", o)
			return m
		},
	} {
		o := options(r)
		o.Given = []string{"--timeout=5"}
		m := read(o)
		if m == nil {
			t.Fatal("no manifest for " + want)
		}
		p, diags, err := m.Write()
		must(t, err)
		if len(diags) > 0 {
			t.Fatal(said(diags))
		}
		if got := ledger.CallGiven(p.Spec); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		must(t, p.Discard())
	}
	if got := ledger.CallGiven(filepath.Join(r.Dir, "specs/9/spec.yaml")); got != "" {
		t.Errorf("of a call that is not there: %s", got)
	}
}
