package history

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

func tally(f Filter, by []string, lines ...Line) *Tally {
	t := NewTally(f, by...)
	for _, l := range lines {
		t.Add(l)
	}
	return t
}

func cost(dollars float64) func(*Line) {
	return func(l *Line) {
		l.Usage = &runtime.Usage{CostUSD: &dollars, InputTokens: new(int64(10)), OutputTokens: new(int64(5))}
	}
}

func took(ms int64) func(*Line) { return func(l *Line) { l.DurationMs = ms } }

var everything = []string{ByRuntime, ByModel, ByTask}

func TestFiguresOfAGroup(t *testing.T) {
	groups := tally(Filter{}, everything,
		worked("r", "a", took(1000), cost(0.1)),
		worked("r", "b", took(2000), cost(0.2)),
		worked("r", "c", took(3000)),
		worked("r", "d", took(4000), failed(runtime.ReasonTimeout)),
		worked("r", "e", took(9000), func(l *Line) { l.Status, l.Reason = ledger.Interrupted, runtime.ReasonCancelled }),
	).Groups()
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	g := groups[0]
	if g.N != 4 || g.Succeeded != 3 || g.Failed != 1 || g.Interrupted != 1 || *g.Rate != 0.75 || g.Attempts != 5 {
		t.Errorf("%+v", g)
	}
	if math.Abs(*g.Low-0.3006) > 1e-4 || math.Abs(*g.High-0.9544) > 1e-4 {
		t.Errorf("interval %g to %g", *g.Low, *g.High)
	}
	if d := g.DurationMs; d.N != 4 || d.P50 != 2500 || d.P90 != 3700 {
		t.Errorf("duration %+v", *d)
	}
	if c := g.CostUSD; c.N != 2 || math.Abs(c.P50-0.15) > 1e-9 || g.CostUnknown != 2 {
		t.Errorf("cost %+v, %d unknown", *c, g.CostUnknown)
	}
	if g.Tokens.P50 != 15 || g.TokensUnknown != 2 || g.Reasons["timeout"] != 1 || g.Reasons["cancelled"] != 1 || g.Verdicts["pass"] != 5 {
		t.Errorf("%+v", g)
	}
}

func TestUnknownIsNoFigure(t *testing.T) {
	g := tally(Filter{}, everything, worked("r", "a")).Groups()[0]
	if g.CostUSD != nil || g.Tokens != nil || g.CostUnknown != 1 {
		t.Errorf("%+v", g)
	}
	program := tally(Filter{}, everything, worked("r", "a", by("exec", ""))).Groups()[0]
	if program.CostUSD != nil || program.CostUnknown != 0 {
		t.Errorf("a plain program costs nothing that could be unknown: %+v", program)
	}
	none := tally(Filter{}, everything).Total()
	if none.Rate != nil || none.Low != nil || none.DurationMs != nil {
		t.Errorf("of nothing: %+v", none)
	}
}

// Whoever a job was moved away from did not do it, whoever did after that.
func TestEachRuntimeAnswersForItsOwnPart(t *testing.T) {
	moved := worked("r", "a", by("codex", "n"), took(500), cost(0.3), func(l *Line) {
		l.Attempts = 3
		l.Earlier = []Attempt{
			{"claude", "m", ledger.Failed, runtime.ReasonRateLimit, 100, nil},
			{"claude", "m", ledger.Failed, runtime.ReasonCrash, 200, nil},
		}
	})
	groups := tally(Filter{}, []string{ByRuntime}, moved).Groups()
	if len(groups) != 2 {
		t.Fatalf("%+v", groups)
	}
	claude, codex := groups[0], groups[1]
	if claude.N != 1 || claude.Failed != 1 || claude.Attempts != 2 || claude.DurationMs.P50 != 300 || claude.Reasons["crash"] != 1 || len(claude.Verdicts) != 0 {
		t.Errorf("claude: %+v", claude)
	}
	if codex.Succeeded != 1 || codex.Attempts != 1 || codex.DurationMs.P50 != 500 || codex.Verdicts["pass"] != 1 {
		t.Errorf("codex: %+v", codex)
	}
	whole := tally(Filter{}, []string{ByTask}, moved).Groups()
	if len(whole) != 1 || whole[0].N != 1 || whole[0].Succeeded != 1 || whole[0].DurationMs.P50 != 800 || whole[0].CostUSD != nil || whole[0].CostUnknown != 1 {
		t.Errorf("the job as a whole: %+v", whole[0])
	}
	if g := tally(Filter{Runtimes: []string{"claude"}}, []string{ByTask}, moved).Total(); g.N != 1 || g.Succeeded != 0 {
		t.Errorf("only claude's part: %+v", g)
	}
}

func TestFilters(t *testing.T) {
	later := func(l *Line) { l.At = at.Add(time.Hour) }
	lines := []Line{
		worked("r1", "a"), worked("r1", "b", failed(runtime.ReasonCheckFailed)),
		worked("r2", "a", by("codex", "n"), later), worked("r2", "b", func(l *Line) { l.Task, l.Verdict = "review", "fail" }),
	}
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 4},
		{Filter{Runtimes: []string{"codex"}}, 1},
		{Filter{Runtimes: []string{"codex", "claude"}, Models: []string{"m"}}, 3},
		{Filter{Tasks: []string{"review"}}, 1},
		{Filter{Runs: []string{"r1"}}, 2},
		{Filter{Statuses: []string{"failed"}}, 1},
		{Filter{Reasons: []string{"check_failed"}}, 1},
		{Filter{Verdicts: []string{"fail"}}, 1},
		{Filter{Since: new(at.Add(time.Minute))}, 1},
		{Filter{Since: new(at)}, 4},
		{Filter{Runs: []string{"r1"}, Tasks: []string{"review"}}, 0},
	} {
		if got := tally(c.filter, everything, lines...).Total().N; got != c.want {
			t.Errorf("%+v: %d, want %d", c.filter, got, c.want)
		}
	}
}

// Of the jobs that failed none succeeded, which is no rate of anything.
func TestJobsChosenByTheirEndHaveNoRate(t *testing.T) {
	parts := append(some("implement", "codex", "m", 28, 60), some("implement", "claude", "n", 12, 60)...)
	for _, f := range []Filter{{Statuses: []string{"failed"}}, {Reasons: []string{"check_failed"}}, {Verdicts: []string{"pass"}}} {
		all := tally(f, everything, parts...)
		if g := all.Total(); g.N == 0 || g.Rate != nil || g.Low != nil {
			t.Errorf("%+v: %+v", f, g)
		}
		if got := Suggest(all.Groups(), nil, nil); len(got) > 0 {
			t.Errorf("%+v: %q", f, got)
		}
	}
}

// However jobs are told apart, none is lost and the figures hold together.
func TestGroupsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []Line
		for n := range rapid.IntRange(0, 60).Draw(t, "jobs") {
			l := worked("r", fmt.Sprint(n), by(rapid.SampledFrom([]string{"claude", "codex"}).Draw(t, "runtime"), rapid.SampledFrom([]string{"", "m"}).Draw(t, "model")))
			l.Task = rapid.SampledFrom([]string{"scout", "review"}).Draw(t, "task")
			l.Status = rapid.SampledFrom([]ledger.Status{ledger.Success, ledger.Failed, ledger.Interrupted, ledger.Blocked}).Draw(t, "status")
			lines = append(lines, l)
		}
		all := tally(Filter{}, everything, lines...)
		sum := 0
		for _, g := range all.Groups() {
			sum += g.N + g.Interrupted
			if g.N != g.Succeeded+g.Failed+g.Blocked {
				t.Fatalf("%+v", g)
			}
			if g.Rate != nil && (*g.Rate < *g.Low || *g.Rate > *g.High) {
				t.Fatalf("%g outside of %g to %g", *g.Rate, *g.Low, *g.High)
			}
		}
		if total := all.Total(); sum != len(lines) || total.N+total.Interrupted != sum {
			t.Fatalf("%d jobs, %d in groups, %d in all", len(lines), sum, total.N)
		}
	})
}

// some are n jobs of a task, of which the first ok succeed.
func some(task, name, model string, ok, n int) (lines []Line) {
	for i := range n {
		l := worked("r-"+name+model, fmt.Sprint(task, i), by(name, model), func(l *Line) { l.Task = task })
		if i >= ok {
			failed(runtime.ReasonCheckFailed)(&l)
		}
		lines = append(lines, l)
	}
	return lines
}

func suggested(declared []Declared, about func(Group) bool, parts ...[]Line) []string {
	all := NewTally(Filter{}, everything...)
	for _, lines := range parts {
		for _, l := range lines {
			all.Add(l)
		}
	}
	return Suggest(all.Groups(), declared, about)
}

func TestASuggestionNeedsEnoughAndAClearDifference(t *testing.T) {
	good, bad := some("implement", "codex", "m", 28, 31), some("implement", "claude", "n", 12, 33)
	got := suggested(nil, nil, good, bad)
	want := "for task implement, codex with model m succeeded in 28 of 31 jobs (95 % Wilson interval 75-97 %) " +
		"and claude with model n in 12 of 33 jobs (95 % Wilson interval 22-53 %), most often for check_failed (21): the intervals do not overlap"
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	for name, parts := range map[string][][]Line{
		"29 are too few":            {good, bad[:29]},
		"chance":                    {some("implement", "codex", "m", 28, 31), some("implement", "claude", "n", 24, 33)},
		"another task":              {good, some("review", "claude", "n", 12, 33)},
		"a model that nobody knows": {good, some("implement", "claude", "", 12, 33)},
		"a plain program":           {good, some("implement", "exec", "n", 12, 33)},
		"nobody to compare with":    {good},
	} {
		if got := suggested(nil, nil, parts...); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	elsewhere := func(Group) bool { return false }
	if got := suggested(nil, elsewhere, good, bad); len(got) > 0 {
		t.Errorf("of no interest: %q", got)
	}
}

func TestSuggestionsAreFew(t *testing.T) {
	parts := [][]Line{some("implement", "best", "m", 30, 30)}
	for n := range 9 {
		parts = append(parts, some("implement", "weak", fmt.Sprint(n), 1, 30))
	}
	if got := suggested(nil, nil, parts...); len(got) != mostSuggestions {
		t.Errorf("%d", len(got))
	}
}

func TestALongTimeoutIsNamed(t *testing.T) {
	jobs := some("scout", "codex", "m", 40, 45) // a second each
	declared := func(d time.Duration) []Declared {
		return []Declared{{"codex", "m", "scout", d}, {"codex", "m", "scout", d}}
	}
	got := suggested(declared(30*time.Minute), nil, jobs)
	if len(got) != 1 || !strings.Contains(got[0], "nine of ten of the 40 successful jobs of codex with model m took at most 1s, and the timeout is 30m") {
		t.Errorf("%q", got)
	}
	for _, d := range []time.Duration{5 * time.Second, time.Minute} {
		if got := suggested(declared(d), nil, jobs); len(got) > 0 {
			t.Errorf("%s: %q", d, got)
		}
	}
	if got := suggested(declared(time.Hour), nil, jobs[:25]); len(got) > 0 {
		t.Errorf("too few: %q", got)
	}
}
