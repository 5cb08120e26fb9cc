package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"orchestrate/internal/figure"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// The two things that a budget counts beside time.
const (
	usd    = iota // in billionths of a dollar, so that sums are exact
	tokens        // in and out together
	kinds
)

// amount is some of each, 0 where nothing is known.
type amount [kinds]int64

// dollar is one in the unit of an amount.
const dollar = 1e9

// limitsOf are the bounds of a budget, 0 = none.
func limitsOf(b spec.Budget) amount { return amount{nano(b.USD), b.Tokens} }

func nano(dollars float64) int64 {
	if dollars >= math.MaxInt64/dollar {
		return math.MaxInt64
	}
	return int64(math.Round(dollars * dollar))
}

// amountOf is what a runtime reported, and of what it reported nothing that can be
// meant: a cost below zero would make room for more.
func amountOf(u *runtime.Usage) (a amount, silent [kinds]bool) {
	silent = [kinds]bool{true, true}
	if u == nil {
		return a, silent
	}
	if c := u.CostUSD; c != nil && *c >= 0 {
		a[usd], silent[usd] = nano(*c), false
	}
	silent[tokens] = u.InputTokens == nil || u.OutputTokens == nil
	for _, n := range []*int64{u.InputTokens, u.OutputTokens} {
		if n != nil && *n >= 0 {
			a[tokens] = plus(a[tokens], *n)
		}
	}
	return a, silent
}

// plus adds what cannot be below zero, and stops at the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (a amount) and(b amount) amount {
	for k := range a {
		a[k] = plus(a[k], b[k])
	}
	return a
}

// atLeast is the larger of each.
func (a amount) atLeast(b amount) amount {
	for k := range a {
		a[k] = max(a[k], b[k])
	}
	return a
}

// source is who is paid: attempts of one runtime and model are taken to cost alike.
// A plain program, and what never ran, is free.
type source struct {
	runtime, model string // as asked for
	free           bool
}

// spending is what the runtimes reported over all attempts, and what those under way
// may still report. What they did not report is unknown, not zero.
type spending struct {
	spent  amount
	told   [kinds]bool       // somebody reported that
	silent [kinds]int        // agents' attempts that did not
	most   map[source]amount // the largest that an attempt reported
	held   map[string]*hold  // by job: its attempt under way
	wait   map[string]bool   // jobs that were refused a start and have not got one since
}

// hold is what an attempt under way keeps others from spending: as much as one like it
// took before, or what it has reported already if that is more.
type hold struct {
	from source
	amount
	meter *meter // reads what it reports while it runs; nil = it has no process yet
}

// settle takes in what an attempt of the job reported when it ended.
func (s *spending) settle(job string, from source, u *runtime.Usage) {
	delete(s.held, job)
	if from.free {
		return
	}
	a, silent := amountOf(u)
	s.spent = s.spent.and(a)
	for k := range kinds {
		if silent[k] {
			s.silent[k]++
		} else {
			s.told[k] = true
		}
	}
	if s.most == nil {
		s.most = map[source]amount{}
	}
	s.most[from] = s.most[from].atLeast(a)
}

// holding is what the attempts under way hold.
func (s *spending) holding() (sum amount) {
	for _, h := range s.held {
		sum = sum.and(h.amount)
	}
	return sum
}

// reserve holds back what an attempt is expected to take, for one that starts.
func (s *spending) reserve(job string, from source) {
	if s.held == nil {
		s.held = map[string]*hold{}
	}
	s.held[job] = &hold{from: from, amount: s.most[from]}
	delete(s.wait, job)
}

// refuse notes that the job does not start.
func (s *spending) refuse(job string) {
	if s.wait == nil {
		s.wait = map[string]bool{}
	}
	s.wait[job] = true
}

// refusal says why the budget allows no attempt of that runtime and model to start now;
// "" = it does. Where nothing is known of what such an attempt takes, nothing can be held
// back for it, so it starts as long as anything is left.
func (s *spending) refusal(b spec.Budget, from source) string {
	held := s.holding()
	for k, limit := range limitsOf(b) {
		taken := plus(s.spent[k], held[k])
		switch next := s.most[from][k]; {
		case limit <= 0:
		case s.spent[k] >= limit:
			return fmt.Sprintf("the budget is used up: %s of %s", inWords(k, s.spent[k]), inWords(k, limit))
		case from.free:
		case next == 0 && taken >= limit:
			return fmt.Sprintf("nothing of the budget is free: of %s, %s are spent and %s held for what runs",
				inWords(k, limit), inWords(k, s.spent[k]), inWords(k, held[k]))
		case plus(taken, next) > limit:
			return fmt.Sprintf("too little of the budget is left: of %s, %s are spent%s, and an attempt of %s took up to %s",
				inWords(k, limit), inWords(k, s.spent[k]), alsoHeld(k, held[k]), from, inWords(k, next))
		}
	}
	return ""
}

func alsoHeld(kind int, n int64) string {
	if n == 0 {
		return ""
	}
	return " and " + inWords(kind, n) + " held for what runs"
}

func (f source) String() string {
	if f.model == "" {
		return f.runtime
	}
	return f.runtime + " with model " + f.model
}

func inWords(kind int, n int64) string {
	if kind == tokens {
		return figure.Count(n, "token")
	}
	return fmt.Sprintf("%.4f usd", float64(n)/dollar)
}

// usedUp reports whether the budget would keep some attempt from starting although
// nothing runs: one like those that were made.
func (s *spending) usedUp(b spec.Budget) bool {
	if s.refusal(b, source{free: true}) != "" {
		return true
	}
	for from := range s.most {
		if s.refusal(b, from) != "" {
			return true
		}
	}
	return false
}

// anew is the spending of a run that gets its budget once more. What is known of costs
// stays known, unless an attempt takes more than the whole budget: then that is what
// the person who resumes wants to pay, and no run would ever begin it.
func (s *spending) anew(b spec.Budget) spending {
	fresh := spending{most: map[source]amount{}}
	limits := limitsOf(b)
	for from, a := range s.most {
		for k, limit := range limits {
			if limit > 0 && a[k] > limit {
				a[k] = 0
			}
		}
		fresh.most[from] = a
	}
	return fresh
}

// unreported counts the attempts without a figure that the budget needs; without a
// budget, those without a cost.
func (s *spending) unreported(b spec.Budget) (n int) {
	limits := limitsOf(b)
	for k := range kinds {
		if limits[k] > 0 || limits == (amount{}) && k == usd {
			n = max(n, s.silent[k])
		}
	}
	return n
}

// text says where the budget stands; "" without one.
func (s *spending) text(b spec.Budget) string {
	limits := limitsOf(b)
	if limits == (amount{}) {
		return ""
	}
	var parts, blind []string
	for k, limit := range limits {
		part := "unknown " + [kinds]string{"usd", "tokens"}[k]
		if s.told[k] || s.silent[k] == 0 {
			part = inWords(k, s.spent[k])
		}
		if limit > 0 {
			part += fmt.Sprintf(" (budget %s)", bound(k, limit))
		}
		parts = append(parts, part)
		if limit > 0 && s.silent[k] > 0 {
			blind = append(blind, fmt.Sprintf("%s did not report their %s, so the budget cannot hold them", figure.Count(s.silent[k], "attempt"), [kinds]string{"cost", "tokens"}[k]))
		}
	}
	return "spent as reported: " + strings.Join(slices.Concat([]string{strings.Join(parts, ", ")}, blind), "; ")
}

func bound(kind int, n int64) string {
	if kind == tokens {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%g", float64(n)/dollar)
}
