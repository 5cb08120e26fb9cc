package engine

import (
	"os"
	"sync"
	"testing"

	"orchestrate/internal/ledger"
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
