package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/reclaim"
)

var cleaned = time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)

// leftovers are of two runs and of nobody, in an order as they are found.
func leftovers() reclaim.Listing {
	const run, other = "20260727-100000", "20260730-115900"
	dir := "/w/plans/reports/orchestrate-" + run
	return reclaim.Listing{
		SchemaVersion: 1, Root: "/w", Bytes: 2_520_700, Removable: 1_500_000, Notes: []string{"the size of\x1b[2J one tree is a lower bound"},
		Items: []reclaim.Item{
			{Kind: reclaim.KindRun, Run: run, Path: dir, Bytes: 20_700, At: cleaned.AddDate(0, 0, -3), State: "ended, pass", Fate: reclaim.Keep, Why: "its report and evidence", Next: "orchestrate clean --discard " + run},
			{Kind: reclaim.KindRun, Run: other, Path: "/w/plans/reports/orchestrate-" + other, At: cleaned.Add(-time.Minute), State: "running", Fate: reclaim.Keep, Why: "it still runs"},
			{Kind: reclaim.KindWorktree, Run: run, Job: "edit", Attempt: 2, Path: dir + "/worktrees/edit.a2", Bytes: 1_500_000, At: cleaned.Add(-70 * time.Hour), State: "success", Dirty: 2, Fate: reclaim.Remove, Why: "integrated into main"},
			{Kind: reclaim.KindBranch, Run: run, Job: "edit", Attempt: 2, Branch: "orchestrate/" + run + "/edit.a2", Commit: "c0ffee", At: cleaned.Add(-5 * time.Hour), State: "success", Fate: reclaim.Remove, Why: "integrated into main"},
			{Kind: reclaim.KindWorktree, Path: "/elsewhere/mi\u202ene\n", Bytes: 1_000_000, Fate: reclaim.Keep, Why: "no run of this workspace made it"},
			{Kind: reclaim.KindWorktree, Run: run, Job: "test", Attempt: 1, Path: "/trees/x/test", Bytes: 999, At: cleaned.Add(-90 * time.Second), State: "failed: check_failed", Fate: reclaim.Keep, Why: "was not integrated", Next: "orchestrate clean --discard " + run},
		},
	}
}

func TestLeftoversAreShownByRunAndActOnNoTerminal(t *testing.T) {
	var out strings.Builder
	v := leftoversView{w: &out, now: cleaned}
	v.list(leftovers())
	v.howTo(leftovers(), []string{"r/\x1bj"})
	want := `  WHAT                                        SIZE     AGE     STATE                 FATE    WHY
run 20260727-100000
  run directory                               20.7 kB  3 days  ended, pass           keep    its report and evidence
  worktree edit.a2                            1.5 MB   2 days  success, 2 unsaved    remove  integrated into main
  branch orchestrate/20260727-100000/edit.a2  -        5 h     success               remove  integrated into main
  worktree /trees/x/test                      999 B    1 min   failed: check_failed  keep    was not integrated
  next: orchestrate clean --discard 20260727-100000
run 20260730-115900
  run directory                               0 B      1 min   running               keep    it still runs
of no run that is known here
  worktree /elsewhere/mi(U+202E)ne            1.0 MB   -       -                     keep    no run of this workspace made it

6 left, 2.5 MB; of that may go: 1 worktree, 1 branch (1.5 MB)
note: the size of(U+001B)[2J one tree is a lower bound
nothing was removed; to remove that: orchestrate clean --yes --discard r/(U+001B)j
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestCallsOfAWorkerRunAreInTheirOrderAndThoseThatOnlyKeepEvidenceALine(t *testing.T) {
	var l reclaim.Listing
	for _, n := range []string{"c1", "c10", "c2", "c3"} {
		l.Items = append(l.Items, reclaim.Item{
			Kind: reclaim.KindRun, Run: "w-" + n, Path: "/w/" + n, Bytes: 1000, At: cleaned, State: "ended", Fate: reclaim.Keep, Why: "evidence", Next: "orchestrate clean --discard w-" + n,
		})
	}
	l.Items = append(l.Items, reclaim.Item{Kind: reclaim.KindBranch, Run: "w-c10", Branch: "b", Fate: reclaim.Keep, State: "success", Why: "its work"}, reclaim.Item{Kind: reclaim.KindBranch, Run: "w-c3", Branch: "b", Fate: reclaim.Keep, State: "success", Why: "its work"})
	var out strings.Builder
	leftoversView{w: &out, now: cleaned}.list(l)
	want := `  WHAT                        SIZE    AGE  STATE    FATE  WHY
worker run w
  run directories of 2 calls  2.0 kB  now  ended    keep  evidence
  next: orchestrate clean --discard w-c1, and so each call by its id
run w-c3
  run directory               1.0 kB  now  ended    keep  evidence
  branch b                    -       -    success  keep  its work
  next: orchestrate clean --discard w-c3
run w-c10
  run directory               1.0 kB  now  ended    keep  evidence
  branch b                    -       -    success  keep  its work
  next: orchestrate clean --discard w-c10

6 left, 0 B; none of it may go
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNothingLeft(t *testing.T) {
	var out strings.Builder
	leftoversView{w: &out}.list(reclaim.Listing{Root: "/w"})
	if out.String() != "no run has left anything in /w\n" {
		t.Error(out.String())
	}
}

func TestWhatWasRemovedIsToldWithWhereItWasSaved(t *testing.T) {
	l := leftovers()
	l.Items = l.Items[2:4]
	l.Items[0].Done, l.Items[0].Saved = true, "refs/orchestrate/salvage/r/edit and /w/x.patch"
	l.Items[1].Fate, l.Items[1].Why = reclaim.Keep, "somebody moved it meanwhile"
	var out strings.Builder
	v := leftoversView{w: &out, now: cleaned}
	for _, i := range l.Items {
		v.went(i)
	}
	v.gone(l)
	want := `removed worktree edit.a2 of run 20260727-100000
  what it held is saved: refs/orchestrate/salvage/r/edit and /w/x.patch
kept branch orchestrate/20260727-100000/edit.a2 of run 20260727-100000: somebody moved it meanwhile
1 removed, 1.5 MB freed
take saved work back with ` + "`git cherry-pick REF` or `git apply FILE`; `git update-ref -d REF` lets go of it for good\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if got := staying(l, nil, 2); len(got) != 1 {
		t.Errorf("of two that were to go one is gone: %q", got)
	}
	if got := staying(l, []string{"20260727-100000/edit"}, 1); len(got) != 1 || !strings.Contains(got[0], "somebody moved it") {
		t.Errorf("what was given up by name and is still there is named: %q", got)
	}
	if got := staying(l, []string{"20260727-100000/test"}, 1); len(got) != 0 {
		t.Errorf("what nobody named: %q", got)
	}
}

func TestSizesAndAges(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 5_000_000_000: "5.0 GB", 1 << 62: "4.6 EB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Hour: "now", 0: "now", time.Hour: "1 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days"} {
		if got := age(cleaned, cleaned.Add(-d)); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
