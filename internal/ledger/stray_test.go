package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestStrays: what the program itself leaves is no stray, whichever name it has;
// anything else is, in all three folders.
func TestStrays(t *testing.T) {
	root := t.TempDir()
	r, err := Create(root, time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	reports, trees := filepath.Dir(r.Dir), r.Path(WorktreesDir)
	for _, dir := range []string{
		filepath.Join(reports, "orchestrate-20260101-000000"), filepath.Join(reports, "theirs"),
		r.Path("job"), r.Path(ArbiterJob), r.Path("other"),
		filepath.Join(trees, "job"), filepath.Join(trees, "job.a2"), filepath.Join(trees, "job.a1"), filepath.Join(trees, "other"),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{
		filepath.Join(reports, HistoryFile), filepath.Join(reports, "orchestrate-notes"), filepath.Join(reports, ".hidden"),
		r.Path(SpecFile), r.Path(ReportFile), r.Path(SoFarFile), r.Path(CheckoutFile), r.Path(".state.json.1.tmp"), r.Path("state.json.bak"),
		filepath.Join(trees, "job.txt"),
	} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Strays(trees, []string{"job"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i], err = filepath.Rel(r.Dir, got[i]); err != nil {
			t.Fatal(err)
		}
		got[i] = filepath.ToSlash(got[i])
	}
	slices.Sort(got)
	want := []string{"../orchestrate-notes", "../theirs", "other", "state.json.bak", "worktrees/job.a1", "worktrees/job.txt", "worktrees/other"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
