package engine

import (
	"fmt"

	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// spending is what the runtimes reported over all attempts. What they did not
// report is unknown, not zero.
type spending struct {
	usd     float64
	tokens  int64
	unknown int // agents' attempts without a figure that a budget needs
}

func (s *spending) add(u *runtime.Usage, exec bool) {
	if exec {
		return
	}
	if u == nil {
		s.unknown++
		return
	}
	if u.CostUSD != nil {
		s.usd += *u.CostUSD
	} else {
		s.unknown++
	}
	for _, n := range []*int64{u.InputTokens, u.OutputTokens} {
		if n != nil {
			s.tokens += *n
		}
	}
}

// within reports whether more may be started.
func (s *spending) within(b spec.Budget) bool {
	return (b.USD <= 0 || s.usd < b.USD) && (b.Tokens <= 0 || s.tokens < b.Tokens)
}

// text says where the budget stands; "" without one.
func (s *spending) text(b spec.Budget) string {
	if b.USD <= 0 && b.Tokens <= 0 {
		return ""
	}
	text := fmt.Sprintf("spent as reported: %.4f usd", s.usd)
	if b.USD > 0 {
		text += fmt.Sprintf(" (budget %g)", b.USD)
	}
	text += fmt.Sprintf(", %d tokens", s.tokens)
	if b.Tokens > 0 {
		text += fmt.Sprintf(" (budget %d)", b.Tokens)
	}
	if s.unknown > 0 {
		text += fmt.Sprintf("; %d attempts did not report their cost, so the budget cannot hold them", s.unknown)
	}
	return text
}
