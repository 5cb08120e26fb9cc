package engine

import (
	"os"
	"strings"
	"sync"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// The attempt that ends takes away the place of all private folders if it is empty: never
// from under one that is about to begin.
func TestPrivateFoldersComeAndGoSideBySide(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := &run{eng: &Engine{}, led: &ledger.Run{Dir: "/a/run"}, plan: &Plan{Sandbox: sandbox.Level{State: sandbox.Enforced}}}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				a := &attempt{job: &spec.Job{ID: "a"}}
				if err := r.furnishPrivately(a); err != nil {
					t.Error(err)
					return
				}
				r.dropPrivate(a)
			}
		})
	}
	group.Wait()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Settings for the sandbox alone are found by the program's variable, and go with the
// attempt. Another runtime's job has none of them.
func TestAProgramIsGivenFilesForTheSandboxAlone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	settings := runtime.PrivateFile{Name: "settings.json", Variable: "ITS_SETTINGS", Text: "{}\n"}
	adapters := []runtime.Adapter{signer{name: "one", needs: runtime.Confinement{Files: []runtime.PrivateFile{settings}}}, signer{name: "two"}}
	r := &run{eng: &Engine{Adapters: adapters}, led: &ledger.Run{Dir: "/a/run"}, plan: &Plan{Sandbox: sandbox.Level{State: sandbox.Enforced}}}
	for name, want := range map[string]string{"one": "{}\n", "two": ""} {
		a := &attempt{job: &spec.Job{ID: "a"}, route: ledger.Route{Runtime: name}}
		if err := r.furnishPrivately(a); err != nil {
			t.Fatal(err)
		}
		path := environ.Value(a.private.Env, "ITS_SETTINGS")
		if want == "" && path == "" {
			r.dropPrivate(a)
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want || !strings.HasPrefix(path, a.private.Path) {
			t.Errorf("%s: %q in %q, %v", name, got, path, err)
		}
		r.dropPrivate(a)
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: its settings are left: %v", name, err)
		}
	}
}
