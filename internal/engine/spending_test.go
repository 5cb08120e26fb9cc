package engine

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

func TestBudgetStopsAtWhatWasReported(t *testing.T) {
	usd, in, out := 0.6, int64(70), int64(30)
	var s spending
	b := spec.Budget{USD: 1, Tokens: 250}
	for n, want := range []bool{true, true, false} {
		if got := s.within(b); got != want {
			t.Errorf("after %d attempts: may start = %v, want %v", n, got, want)
		}
		s.add(&runtime.Usage{CostUSD: &usd, InputTokens: &in, OutputTokens: &out}, false)
	}
	if s.within(spec.Budget{Tokens: 300}) {
		t.Error("300 tokens are used up and more may start")
	}
}

func TestOnlyLimitsThatAreSetAreSaid(t *testing.T) {
	s := spending{usd: 0.25, tokens: 70}
	for want, b := range map[string]spec.Budget{
		"spent as reported: 0.2500 usd (budget 1), 70 tokens":             {USD: 1},
		"spent as reported: 0.2500 usd, 70 tokens (budget 90)":            {Tokens: 90},
		"spent as reported: 0.2500 usd (budget 1), 70 tokens (budget 90)": {USD: 1, Tokens: 90},
	} {
		if got := s.text(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestUnknownCostIsSaidAndNeverZero(t *testing.T) {
	var s spending
	s.add(nil, false)
	s.add(nil, true) // a plain program costs no tokens
	if text := s.text(spec.Budget{USD: 1}); !strings.Contains(text, "1 attempts did not report their cost") {
		t.Errorf("text = %q", text)
	}
	if text := s.text(spec.Budget{}); text != "" {
		t.Errorf("without a budget: %q", text)
	}
}
