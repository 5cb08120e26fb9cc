package arbiter

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// stray begins every word of a job, so that one outside of its fence is seen.
const stray = "STRAY"

// hostile draws words of a job: long, with fences, headings and characters that act.
func hostile(t *rapid.T, label string) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		stray + " ", "\n" + stray + "\n", "\n```\n" + stray + "\n", "\n````\n## Job " + stray + "\n", "\nMay be cited:\n- file: " + stray + ":1\n", "\x1b[2J" + stray,
		"\u202e" + stray, strings.Repeat("`", 3000), strings.Repeat("ü", 700), "\xff\xfe", "\r\n", "\ndiff --git a/" + stray + " b/x\n@@ -1 +1 @@\n+" + stray + "\n",
		strings.Repeat("+"+stray+" line\n", 400), strings.Repeat("\x01", 500),
	}), 0, 6).Draw(t, label)
	return strings.Join(pieces, "")
}

func drawn(t *rapid.T, i int) JobEvidence {
	id := fmt.Sprintf("job-%d", i)
	e := JobEvidence{
		Job:    &spec.Job{ID: id, Effect: "scoped-write", ExpectedOutput: hostile(t, "expected")},
		Status: ledger.JobStatus{ID: id, Status: ledger.Success, Attempts: 1, ObservedModel: hostile(t, "model"), ReasonEvidence: untrusted.From(hostile(t, "reason"))},
		Commit: "c0ffee",
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "asserts") {
		e.Job.Checks = append(e.Job.Checks, spec.Check{Name: fmt.Sprintf("assert %d", n), Assert: strings.Repeat("long ", rapid.IntRange(1, 300).Draw(t, "statement"))})
	}
	if rapid.Bool().Draw(t, "folder") {
		e.Folder = "orchestrate-review/" + id
	}
	for range rapid.IntRange(0, 6).Draw(t, "judges") {
		e.Judges = append(e.Judges, hostile(t, "judge"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "texts") {
		text := Text{Label: "Patch", Ref: id + "/changes.patch", Cite: "changes.patch", Text: untrusted.From(hostile(t, "text"))}
		if rapid.Bool().Draw(t, "summary") {
			text.Summary = untrusted.From(hostile(t, "summary"))
		}
		if rapid.Bool().Draw(t, "beginning") {
			text.Bytes = int64(text.Text.Len()) + 100000
		}
		e.Texts = append(e.Texts, text)
	}
	return e
}

// outsideOfFences are the lines in no fence; open reports that one was left open.
func outsideOfFences(text string) (lines []string, open bool) {
	fence := ""
	for _, line := range strings.Split(text, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			lines = append(lines, line)
		}
	}
	return lines, fence != ""
}

// TestTheEvidenceKeepsItsBudget: whatever the jobs wrote, the whole of it fits, every
// fence is closed by us, no word of a job stands outside of one, and every job and
// assertion is named.
func TestTheEvidenceKeepsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bundle{RunID: "r", Base: "b45e", Outcome: hostile(t, "outcome"), Notes: []string{hostile(t, "note")}}
		for i := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			b.Jobs = append(b.Jobs, drawn(t, i))
		}
		b.MaxBytes = rapid.IntRange(4000, 60000).Draw(t, "budget")
		got := string(Evidence(b))
		if len(got) > b.MaxBytes {
			t.Fatalf("%d bytes, the budget is %d", len(got), b.MaxBytes)
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\u202e\r\x01") {
			t.Fatal("a character that acts, or half of one, is shown")
		}
		lines, open := outsideOfFences(got)
		if open {
			t.Fatal("a fence is left open")
		}
		outside := strings.Join(lines, "\n") + "\n"
		if i := strings.Index(outside, stray); i >= 0 {
			t.Fatalf("a job's word stands outside of a fence: %q", outside[max(i-80, 0):i+20])
		}
		for _, a := range b.Asked() {
			if strings.Count(outside, "\n## Job "+a.Job+"\n") != 1 {
				t.Fatalf("job %s is not named once", a.Job)
			}
			section := after(outside, "\n## Job "+a.Job+"\n")
			for _, name := range a.Asserts {
				if !strings.Contains(section, fmt.Sprintf("\n- %q", name)) {
					t.Fatalf("assertion %q of job %s is not named", name, a.Job)
				}
			}
		}
	})
}

// after is the section that begins with head.
func after(text, head string) string {
	_, rest, _ := strings.Cut(text, head)
	section, _, _ := strings.Cut(rest, "\n## Job ")
	return "\n" + section
}

// TestAThousandJobsFit: with the usual budget, and what each was is still said.
func TestAThousandJobsFit(t *testing.T) {
	b := Bundle{RunID: "r", Base: "b45e", Outcome: "all modules are migrated"}
	for i := range 1000 {
		id := fmt.Sprintf("migrate-module-%04d", i)
		b.Jobs = append(b.Jobs, JobEvidence{
			Job: &spec.Job{ID: id, Effect: "scoped-write", ExpectedOutput: "the module builds"}, Commit: "c0ffee", Folder: "orchestrate-review/" + id,
			Status: ledger.JobStatus{ID: id, Task: "implement", Status: ledger.Success, Attempts: 1, Route: &ledger.Route{Runtime: "r1"}},
			Texts:  []Text{{Label: "Final answer", Ref: id + "/output.md", Cite: "output.md", Text: untrusted.From(strings.Repeat("done ", 300))}},
		})
	}
	got := string(Evidence(b))
	if len(got) > Budget {
		t.Fatalf("%d bytes, the budget is %d", len(got), Budget)
	}
	for _, e := range b.Jobs {
		section := after(got, "\n## Job "+e.Job.ID+"\n")
		for _, want := range []string{"Its files: " + e.Folder + "/", "status success", "see " + e.Folder} {
			if !strings.Contains(section, want) {
				t.Fatalf("job %s lacks %q in %q", e.Job.ID, want, section)
			}
		}
	}
	if used := len(got) * 100 / Budget; used < 80 {
		t.Errorf("only %d%% of the budget is used", used)
	}
}

// TestTooManyJobsForTheBudget: they are all named, with nothing else, and how long that is
// can be said before there is anything of them.
func TestTooManyJobsForTheBudget(t *testing.T) {
	for _, n := range []int{1, 200, 300, 1000} {
		before, b := Bundle{RunID: "r", Base: "b45e", Outcome: "all is done"}, Bundle{RunID: "r", Base: "b45e", Outcome: "all is done"}
		for i := range n {
			job := &spec.Job{ID: fmt.Sprintf("migrate-module-%04d", i), Effect: "scoped-write", ExpectedOutput: "the module builds", Checks: []spec.Check{{Assert: "it reads well"}}}
			before.Jobs = append(before.Jobs, JobEvidence{Job: job, Folder: "orchestrate-review/" + job.ID})
			b.Jobs = append(b.Jobs, JobEvidence{
				Job: job, Folder: "orchestrate-review/" + job.ID, Status: ledger.JobStatus{ID: job.ID, Status: ledger.Success},
				Texts: []Text{{Label: "Final answer", Ref: job.ID + "/output.md", Text: untrusted.From(strings.Repeat("done ", 3000))}},
			})
		}
		b.MaxBytes = 32768
		got := Evidence(b)
		if least := Least(before); len(got) > max(b.MaxBytes, least) || least != Least(b) {
			t.Errorf("%d jobs: %d bytes of evidence, the budget is %d and the least %d, before it was %d", n, len(got), b.MaxBytes, Least(b), least)
		}
		if named := strings.Count(string(got), "\n## Job "); named != n {
			t.Errorf("of %d jobs %d are named", n, named)
		}
	}
}

// TestALargePatchIsSummarised: how much of each file, the first lines of each, and
// where the whole is.
func TestALargePatchIsSummarised(t *testing.T) {
	b := sample()
	b.MaxBytes = 8000
	var patch strings.Builder
	for _, name := range []string{"one.go", "two.go", "three.go"} {
		fmt.Fprintf(&patch, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,2 +1,900 @@\n+first of %[1]s\n%s+last of %[1]s\n", name, strings.Repeat("+filler\n", 900))
	}
	b.Jobs[1].Folder = "orchestrate-review/fix"
	b.Jobs[1].Texts = []Text{{
		Label: "Patch", Ref: "fix/changes.patch", Cite: "changes.patch", Text: untrusted.From(patch.String()),
		Summary: untrusted.From("M    +902      -0  one.go\nM    +902      -0  two.go\nM    +902      -0  three.go\n"),
	}}
	got := string(Evidence(b))
	for _, want := range []string{
		"; shown in part)", "M    +902      -0  three.go", "first of one.go", "first of two.go", "first of three.go", "lines more …]",
		"the whole patch is in orchestrate-review/fix/changes.patch",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the evidence lacks %q", want)
		}
	}
	if strings.Contains(got, "last of one.go") || len(got) > b.MaxBytes {
		t.Errorf("%d bytes, with the end of a file that is cut", len(got))
	}
	b.MaxBytes = 0
	if got := string(Evidence(b)); !strings.Contains(got, "last of one.go") || strings.Contains(got, "shown in part") || strings.Contains(got, "Not all of it") {
		t.Error("a patch that fits is not shown whole")
	}
}
