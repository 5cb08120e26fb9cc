package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
)

func integratedRun(t *testing.T, patches map[string]string) *ledger.Run {
	t.Helper()
	run, err := ledger.Create(t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	for job, text := range patches {
		if err := os.MkdirAll(run.JobDir(job), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run.JobDir(job), ledger.PatchFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

func leftWork(job string) integrate.Work {
	return integrate.Work{
		Job: job, Runtime: "exec", Base: strings.Repeat("b", 40), Commit: strings.Repeat("c", 40), Patch: ledger.JobPath(job, ledger.PatchFile),
		Files: []integrate.FileStat{{Path: "a.txt", Status: "M", Insertions: 1, Deletions: 1}}, Insertions: 1, Deletions: 1, Chosen: true,
	}
}

func shownWork(t *testing.T, run *ledger.Run, in integrate.Integration) string {
	t.Helper()
	in.RunID, in.Verdict, in.Strategy, in.Target = "r", "pass", integrate.Merge, integrate.Target{Branch: "main", From: strings.Repeat("a", 40)}
	var out strings.Builder
	integrateView{&out, run}.work(in)
	return out.String()
}

// What stands against each other is a table with the files under it, and names that a
// terminal would obey or that a reader would misread are quoted.
func TestIntegrateShowsWorkAndMatrix(t *testing.T) {
	one, two, three := leftWork("one"), leftWork("two"), leftWork("three")
	one.Files = append(one.Files, integrate.FileStat{Path: "b\x1b[2J  \u202e.bin", Status: "A", Insertions: -1, Deletions: -1})
	two.Masked = true
	three.BuildsOn, three.Chosen = "one", false
	run := integratedRun(t, map[string]string{"one": "diff\n-old\n+new \x1b]0;x\a\n", "two": "[REDACTED]\n"})
	got := shownWork(t, run, integrate.Integration{
		Jobs: []integrate.Work{one, two, three},
		Matrix: integrate.Matrix{
			Target: []integrate.Clash{{A: "two", Files: []string{"a.txt"}}},
			Pairs:  []integrate.Clash{{A: "one", B: "two", Files: []string{"a.txt", "é 漢 \"q\".txt", "two\nlines"}}},
		},
	})
	want := `run r, verdict pass: onto branch main, now at aaaaaaaaaaaa, by merge

job one (exec): 2 files, +1 -1, commit cccccccccccc on bbbbbbbbbbbb
  M  +1 -1   a.txt
  A  binary  "b\x1b[2J  \u202e.bin"
  | diff
  | -old
  | +new (U+001B)]0;x(U+0007)

job two (exec): 1 file, +1 -1, commit cccccccccccc on bbbbbbbbbbbb
  M  +1 -1  a.txt
  its patch, with what looks like a secret left out; the commit is integrated, which has it: ` + "`git show cccccccccccc`" + `
  | [REDACTED]

job three (exec): 1 file, +1 -1, commit cccccccccccc on what one left; not chosen
  M  +1 -1  a.txt

Conflicts:
          target  1  2
  one  1       -     3
  two  2       1  3   
  (files that conflict; - = none)
  two and branch main cannot be merged:
    a.txt
  one and two cannot be merged:
    a.txt
    é 漢 "q".txt
    "two\nlines"
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Eight jobs fit a table; of more there is a list. What is long is cut, and says where
// all of it is.
func TestIntegrateIsBounded(t *testing.T) {
	var jobs []integrate.Work
	for _, id := range strings.Split("abcdefghi", "") {
		jobs = append(jobs, leftWork(id))
	}
	jobs[0].Files = make([]integrate.FileStat, filesNamed+7)
	clash := []integrate.Clash{{A: "a", B: "b", Files: make([]string, filesNamed+3)}}
	long := strings.Repeat("x", 100_000) + "\n" + strings.Repeat("é", patchColumn+1) + "\n" + strings.Repeat("line\n", patchLines)
	run := integratedRun(t, map[string]string{"a": long})
	got := shownWork(t, run, integrate.Integration{Jobs: jobs, Matrix: integrate.Matrix{Pairs: clash}})
	for _, want := range []string{
		"\n  and 7 more\n", "\n    and 3 more\n", "\n  | " + strings.Repeat("x", patchColumn) + "…\n  | " + strings.Repeat("é", patchColumn) + "…\n  | line\n",
		"\n  (cut after 200 lines; all of it: " + run.Path("a/changes.patch") + ")\n", "\n  its patch cannot be shown: ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown in\n%s", want, got)
		}
	}
	if strings.Contains(got, "files that conflict") {
		t.Error("nine jobs are in a table")
	}
	got = shownWork(t, run, integrate.Integration{Jobs: jobs[1:], Matrix: integrate.Matrix{Pairs: []integrate.Clash{{A: "b", B: "c", Files: []string{"f"}}}}})
	if !strings.Contains(got, "files that conflict") {
		t.Error("eight jobs are in no table")
	}
}

func TestIntegrateSaysWhatItCameTo(t *testing.T) {
	run := integratedRun(t, nil)
	for outcome, want := range map[string]string{
		integrate.Integrated: "\nIntegrated: branch main is at dddddddddddd now.\n",
		integrate.Ready:      "\nReady: nothing stands against it. This was a dry run: no check was run and nothing was changed.\n",
		integrate.Nothing:    "\nNothing to integrate.\n",
		integrate.Refused:    "\nRefused: nothing was changed.\n",
	} {
		var out strings.Builder
		err := integrateView{&out, run}.outcome(integrate.Integration{
			Outcome: outcome, Target: integrate.Target{Branch: "main", To: strings.Repeat("d", 40)},
			Checks: []ledger.Check{{Name: "unit", Status: "failed", DurationMs: 1500, Output: "integration/checks/1.out"}},
			Why:    []string{"why\x1b"}, Next: []string{"orchestrate integrate r --job a"},
		})
		want = "\nChecks on the result:\n  failed  unit  1.5s  " + run.Path("integration/checks/1.out") + "\n" + want +
			"  why(U+001B)\nNext:\n  orchestrate integrate r --job a\n"
		if diff := cmp.Diff(want, out.String()); diff != "" || err != nil {
			t.Error(outcome, err, diff)
		}
	}
}
