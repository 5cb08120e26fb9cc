package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/arbiter"
)

// Many patches that wait are one line, which counts those that are left.
func TestManyPatchesAreOneLine(t *testing.T) {
	const integrate = "orchestrate integrate 20260730-120005"
	single := func(id string) string {
		return "the patch of job " + id + " waits to be integrated: " + integrate
	}
	many := func(n int) string {
		return fmt.Sprintf("the patches of %d jobs wait to be integrated: %s", n, integrate)
	}
	for _, c := range []struct {
		jobs, brought string
		then, now     []string
	}{
		{jobs: "a b", then: []string{single("a"), single("b")}, now: []string{single("a"), single("b")}},
		{jobs: "a b", brought: "a", then: []string{single("a"), single("b")}, now: []string{single("b")}},
		{jobs: "a b c", then: []string{many(3)}, now: []string{many(3)}},
		{jobs: "a b c d", brought: "b", then: []string{many(4)}, now: []string{many(3)}},
		{jobs: "a b c d", brought: "b d", then: []string{many(4)}, now: []string{single("a"), single("c")}},
		{jobs: "a b c", brought: "a b c", then: []string{many(3)}},
	} {
		in := sample()
		in.State.Verdict, in.State.Jobs, in.Jobs, in.Patches, in.Approvals, in.Judgement = arbiter.Pass, nil, nil, nil, nil, nil
		in.Checkout = []string{"look at README.md"}
		for _, id := range strings.Fields(c.jobs) {
			in.Patches = append(in.Patches, Patch{Job: id, Path: id + "/changes.patch"})
		}
		brought := map[string]bool{}
		for _, id := range strings.Fields(c.brought) {
			brought[id] = true
		}
		r := Build(in)
		if want := append(slices.Clone(in.Checkout), c.then...); !slices.Equal(r.NeedsPerson, want) {
			t.Errorf("%s: %q, want %q", c.jobs, r.NeedsPerson, want)
		}
		if got, want := r.StillNeeds(brought), append(slices.Clone(in.Checkout), c.now...); !slices.Equal(got, want) {
			t.Errorf("%s without %s: %q, want %q", c.jobs, c.brought, got, want)
		}
	}
}

// Where integrate takes nothing over, the line leads to the commands.
func TestManyPatchesOfAFailedRun(t *testing.T) {
	in := sample()
	in.Patches = []Patch{{Job: "a"}, {Job: "b"}, {Job: "c"}}
	r := Build(in)
	if got, want := r.NeedsPerson[len(r.NeedsPerson)-1], "the patches of 3 jobs wait to be integrated: orchestrate report 20260730-120005 shows the commands"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A count reads right for one thing as for several.
func TestCountsReadRight(t *testing.T) {
	for want, got := range map[string]string{
		"1 file (1 line added, 0 deleted)":                                         Patch{Files: 1, Added: 1}.Extent(),
		"2 files, 1 of them binary (0 lines added, 3 deleted)":                     Patch{Files: 2, Binary: 1, Deleted: 3}.Extent(),
		"unknown (1 attempt did not say)":                                          Usage{UnknownJobs: 1}.String(),
		"1 of 1 job succeeded, 0 failed, 0 blocked, 0 interrupted, 0 not settled":  Totals{Total: 1, Succeeded: 1}.String(),
		"0 of 2 jobs succeeded, 1 failed, 1 blocked, 0 interrupted, 0 not settled": Totals{Total: 2, Failed: 1, Blocked: 1}.String(),
		"unknown of 1 token, 10m of time (1 attempt did not say)":                  (&Budget{Tokens: ptr(int64(1)), WallMs: ptr(int64(600_000)), UnknownAttempts: 1}).String(),
		"$0.2500 of $1.00, 7 of 2000 tokens":                                       (&Budget{USD: ptr(1.0), SpentUSD: ptr(0.25), Tokens: ptr(int64(2000)), SpentTokens: ptr(int64(7))}).String(),
		"":                                                                         (*Budget)(nil).String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// report.md and report.html say the same of the budget.
func TestBudgetIsInBothForms(t *testing.T) {
	in := sample()
	in.Budget = &Budget{USD: ptr(5.0), SpentUSD: ptr(0.0125)}
	r := Build(in)
	page, err := r.HTML(pageFiles{})
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"md": string(r.Markdown()), "html": string(page)} {
		if !strings.Contains(text, "$0.0125 of $5.00") {
			t.Errorf("%s does not say it", form)
		}
	}
}
