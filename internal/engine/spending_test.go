package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

var fake = source{runtime: "claude", model: "m"}

func used(dollars float64, in, out int64) *runtime.Usage {
	return &runtime.Usage{CostUSD: &dollars, InputTokens: &in, OutputTokens: &out}
}

// run takes one attempt from its start to its end.
func (s *spending) run(job string, from source, u *runtime.Usage) {
	s.reserve(job, from)
	s.settle(job, from, u)
}

func TestBudgetLeavesRoomForWhatIsKnown(t *testing.T) {
	var s spending
	b := spec.Budget{USD: 1, Tokens: 1000}
	for n, want := range []string{"", "", "too little of the budget is left: of 1.0000 usd, 0.8000 usd are spent, and an attempt of claude with model m took up to 0.4000 usd"} {
		if got := s.refusal(b, fake); got != want {
			t.Errorf("after %d attempts: %q, want %q", n, got, want)
		}
		s.run("a", fake, used(0.4, 70, 30))
	}
	if got := s.refusal(b, source{free: true}); !strings.Contains(got, "the budget is used up: 1.2000 usd of 1.0000 usd") {
		t.Errorf("a plain program starts when all is spent: %q", got)
	}
}

func TestWhatFitsExactlyStarts(t *testing.T) {
	var s spending
	b := spec.Budget{USD: 0.3} // 0.1 three times is more than that in floating point
	for n := range 3 {
		if why := s.refusal(b, fake); why != "" {
			t.Fatalf("attempt %d: %s", n+1, why)
		}
		s.run("a", fake, used(0.1, 1, 1))
	}
	if s.refusal(b, fake) == "" {
		t.Error("a fourth starts")
	}
}

func TestWhatRunsHoldsItsShare(t *testing.T) {
	var s spending
	b := spec.Budget{Tokens: 1000}
	s.run("first", fake, used(0, 200, 100))
	for _, job := range []string{"a", "b"} {
		if why := s.refusal(b, fake); why != "" {
			t.Fatal(why)
		}
		s.reserve(job, fake)
	}
	want := "too little of the budget is left: of 1000 tokens, 300 tokens are spent and 600 tokens held for what runs, and an attempt of claude with model m took up to 300 tokens"
	if why := s.refusal(b, fake); why != want {
		t.Errorf("%q", why)
	}
	other := source{runtime: "codex"}
	if why := s.refusal(b, other); why != "" {
		t.Errorf("nothing is known of the other, and something is left: %s", why)
	}
	if why := s.refusal(b, source{free: true}); why != "" {
		t.Errorf("a plain program takes nothing: %s", why)
	}
	s.settle("a", fake, used(0, 10, 10)) // less than was held
	if why := s.refusal(b, fake); why != "" {
		t.Errorf("what was not taken is free again: %s", why)
	}
}

func TestWhatIsReportedByARunningAttemptCountsAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	event := func(dollars float64) string {
		data, err := json.Marshal(runtime.Event{Seq: 1, Kind: runtime.EventUsage, Usage: used(dollars, 1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var s spending
	b := spec.Budget{USD: 1}
	s.reserve("a", fake)
	s.held["a"].meter = &meter{path: file}
	s.look() // its file is not there yet
	write(event(0.4) + "\n" + `{"seq":2,"kind":"text","text":"usage"}` + "\n" + event(1)[:20])
	if s.look(); s.refusal(b, fake) != "" {
		t.Error("0.4 of 1 is reported, and nothing more may start")
	}
	write(event(1)[20:] + "\n")
	if s.look(); s.refusal(b, fake) == "" {
		t.Error("all is reported, and more may start")
	}
	s.settle("a", fake, used(0.5, 1, 1)) // the end's count is the one that counts
	if why := s.refusal(b, fake); why != "" {
		t.Error(why)
	}
}

func TestUnknownIsSaidAndNeverZero(t *testing.T) {
	var s spending
	b := spec.Budget{USD: 1}
	s.run("a", fake, nil)
	s.run("b", source{runtime: "exec", free: true}, nil) // a plain program costs no tokens
	for want, b := range map[string]spec.Budget{
		"spent as reported: unknown usd (budget 1), unknown tokens; 1 attempt did not report their cost, so the budget cannot hold them": {USD: 1},
		"": {},
	} {
		if got := s.text(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if why := s.refusal(b, fake); why != "" {
		t.Errorf("what nobody reports stops nothing: %s", why)
	}
	if n := s.unreported(b); n != 1 {
		t.Errorf("%d attempts unknown", n)
	}
}

func TestEachLimitAsksForItsOwnFigure(t *testing.T) {
	in, out := int64(70), int64(30)
	var s spending
	s.run("a", fake, &runtime.Usage{InputTokens: &in, OutputTokens: &out}) // as codex does
	if got := s.text(spec.Budget{Tokens: 900}); got != "spent as reported: unknown usd, 100 tokens (budget 900)" {
		t.Errorf("%q", got)
	}
	if n := s.unreported(spec.Budget{Tokens: 900}); n != 0 {
		t.Errorf("%d attempts did not say what a budget of tokens needs", n)
	}
	if n := s.unreported(spec.Budget{USD: 1}); n != 1 {
		t.Errorf("%d attempts did not say what a budget of dollars needs", n)
	}
}

func TestOddReportsMakeNoRoom(t *testing.T) {
	var s spending
	b := spec.Budget{USD: 1, Tokens: 100}
	s.run("a", fake, used(1, math.MaxInt64, math.MaxInt64))
	s.run("b", fake, used(-50, -50, -50))
	s.run("c", fake, used(math.MaxFloat64, math.MaxInt64, 1))
	if s.refusal(b, source{free: true}) == "" {
		t.Errorf("more may start after %v", s.spent)
	}
	if s.spent[usd] < 0 || s.spent[tokens] < 0 {
		t.Errorf("spent %v", s.spent)
	}
}

// A run that is resumed with its budget counted anew gets somewhere, whatever an
// attempt is known to take.
func TestCountedAnewSomethingStarts(t *testing.T) {
	for _, cost := range []float64{0.2, 0.5, 0.9} {
		var s spending
		b := spec.Budget{USD: 0.5}
		s.run("a", fake, used(cost, 1, 1))
		if s.run("b", fake, used(cost, 1, 1)); !s.usedUp(b) {
			t.Errorf("%g twice of %g is not used up", cost, b.USD)
		}
		fresh := s.anew(b)
		if why := fresh.refusal(b, fake); why != "" || fresh.usedUp(b) {
			t.Errorf("at %g an attempt nothing starts: %s", cost, why)
		}
	}
	var s spending
	if s.run("a", fake, used(0.1, 1, 1)); s.usedUp(spec.Budget{USD: 0.5}) {
		t.Error("there is room for more")
	}
}

// Whoever resumes after a crash goes on where the engine before was: what was spent before
// the budget was counted anew is over and done with.
func TestAResumedRunKnowsWhatItsBudgetIsWorth(t *testing.T) {
	b := spec.Budget{USD: 0.7}
	paid := func(n int) (all []payment) {
		for range n {
			all = append(all, payment{"a", fake, used(0.3, 1, 1)})
		}
		return all
	}
	resumed := payment{}
	for _, c := range []struct {
		payments []payment
		want     int64 // tenths of a dollar
	}{
		{paid(2), 6},
		{append(paid(2), resumed), 0},
		{append(append(paid(2), resumed), paid(1)...), 3},
		{append(append(paid(1), resumed), paid(1)...), 6}, // there was room for one more
	} {
		s := spentBy(c.payments, b)
		if got := s.spent[usd] * 10 / dollar; got != c.want {
			t.Errorf("%d payments: %d tenths, want %d", len(c.payments), got, c.want)
		}
		if s.most[fake][usd] != 0.3*dollar {
			t.Errorf("what an attempt takes is forgotten: %v", s.most)
		}
	}
}

// In whatever order attempts start and end: where it is known what one takes, no start
// lets what is spent and what is held go beyond the budget.
func TestNoStartGoesBeyondTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := spec.Budget{
			USD:    float64(rapid.IntRange(1, 50).Draw(t, "usd")) / 10,
			Tokens: rapid.Int64Range(1, 5000).Draw(t, "tokens"),
		}
		limits := limitsOf(b)
		var s spending
		var running []hold
		var names []string
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			from := source{runtime: rapid.SampledFrom([]string{"claude", "codex"}).Draw(t, "runtime")}
			known := s.most[from]
			job := fmt.Sprint(n)
			if rapid.Bool().Draw(t, "start") {
				if s.refusal(b, from) != "" {
					continue
				}
				before := s.spent.and(s.holding())
				s.reserve(job, from)
				running, names = append(running, hold{from: from}), append(names, job)
				for k, limit := range limits {
					if after := plus(s.spent[k], s.holding()[k]); known[k] > 0 && after > limit || before[k] >= limit {
						t.Fatalf("a start takes %d of %d (kind %d)", after, limit, k)
					}
				}
				continue
			}
			if len(names) > 0 {
				s.settle(names[0], running[0].from, used(rapid.Float64Range(0, 1).Draw(t, "cost"), rapid.Int64Range(0, 500).Draw(t, "in"), 0))
				running, names = running[1:], names[1:]
			}
		}
	})
}

// Where every attempt takes what was expected, the run ends within its budget but for
// those that started before anything was known.
func TestOnlyWhatRanBeforeAnythingWasKnownGoesBeyond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 8).Draw(t, "slots")
		cost := float64(rapid.IntRange(1, 20).Draw(t, "cost")) / 10
		b := spec.Budget{USD: float64(rapid.IntRange(1, 60).Draw(t, "budget")) / 10}
		var s spending
		first := true
		for {
			var wave []string
			for i := range slots {
				if s.refusal(b, fake) == "" {
					wave = append(wave, fmt.Sprint(i))
					s.reserve(fmt.Sprint(i), fake)
				}
			}
			if len(wave) == 0 {
				break
			}
			for _, job := range wave {
				s.settle(job, fake, used(cost, 0, 0))
			}
			if over := s.spent[usd] > limitsOf(b)[usd]; over && !first {
				t.Fatalf("%v spent of %v", s.spent, b.USD)
			} else if over {
				break
			}
			first = false
		}
	})
}
