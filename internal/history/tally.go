package history

import (
	"cmp"
	"slices"

	"orchestrate/internal/history/statistics"
	"orchestrate/internal/ledger"
)

// What jobs can be told apart by.
const (
	ByRuntime = "runtime"
	ByModel   = "model"
	ByAgent   = "agent"
	ByTask    = "task"
)

// Keys are all of those, in the order of a table's columns.
func Keys() []string { return []string{ByRuntime, ByModel, ByAgent, ByTask} }

// Group is what is known of comparable jobs. A key is null when the jobs are not told
// apart by it and "" when it is not known of them.
type Group struct {
	Runtime *string `json:"runtime"`
	Model   *string `json:"model"`
	Agent   *string `json:"agent"`
	Task    *string `json:"task"`

	N           int `json:"n"` // that came to an end of their own: what all figures are about
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	Blocked     int `json:"blocked"`
	Interrupted int `json:"interrupted"` // by a person or a death, so no part of n

	Rate *float64 `json:"rate"` // of success; null = no job, or only those that ended in some way
	Low  *float64 `json:"low"`  // its 95 % Wilson interval
	High *float64 `json:"high"`

	DurationMs    *Spread        `json:"durationMs"` // of all attempts of a job together
	CostUSD       *Spread        `json:"costUsd"`    // of those that reported it; null = none did
	CostUnknown   int            `json:"costUnknown"`
	Tokens        *Spread        `json:"tokens"`
	TokensUnknown int            `json:"tokensUnknown"`
	Attempts      int            `json:"attempts"`
	Reasons       map[string]int `json:"reasons"`  // why jobs did not succeed
	Verdicts      map[string]int `json:"verdicts"` // of the runs that they were in

	took *Spread // of those that succeeded
}

// Spread is what half and what nine of ten of n values stay below.
type Spread struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

// Tally sums lines up, group by group. Of a job it keeps a few numbers.
type Tally struct {
	by     []string
	filter Filter
	groups map[key4]*sums
	total  sums
}

type key4 struct{ runtime, model, agent, task string }

// sums is a group in the making.
type sums struct {
	Group
	ms, good, cost, tokens []float64
}

// NewTally tells jobs apart by the given keys.
func NewTally(f Filter, by ...string) *Tally {
	return &Tally{by: by, filter: f, groups: map[key4]*sums{}}
}

func (t *Tally) tells(key string) bool { return slices.Contains(t.by, key) }

// Add takes a line in. Where runtimes or models are told apart, or asked for, each that
// had a part in the job counts; else the job counts once.
func (t *Tally) Add(l Line) {
	whole := l.takeWhole()
	takes := []take{whole}
	if t.filter.byRuntime() || t.tells(ByRuntime) || t.tells(ByModel) {
		takes = l.takes()
	}
	for _, one := range takes {
		if !t.filter.lets(one) {
			continue
		}
		t.group(one).add(one)
		t.total.add(one)
	}
}

func (t *Tally) group(one take) *sums {
	var k key4
	for key, to := range map[string]*string{ByRuntime: &k.runtime, ByModel: &k.model, ByAgent: &k.agent, ByTask: &k.task} {
		if t.tells(key) {
			*to = map[string]string{ByRuntime: one.runtime, ByModel: one.model, ByAgent: one.agent, ByTask: one.line.Task}[key]
		}
	}
	if t.groups[k] == nil {
		t.groups[k] = &sums{}
	}
	return t.groups[k]
}

func (s *sums) add(one take) {
	if s.Reasons == nil {
		s.Reasons, s.Verdicts = map[string]int{}, map[string]int{}
	}
	s.Attempts += one.attempts
	if one.status != ledger.Success && one.reason != "" {
		s.Reasons[string(one.reason)]++
	}
	if one.concluded {
		s.Verdicts[one.line.Verdict]++
	}
	switch one.status {
	case ledger.Interrupted:
		s.Interrupted++
		return
	case ledger.Success:
		s.Succeeded++
		s.good = append(s.good, float64(one.ms))
	case ledger.Blocked:
		s.Blocked++
	default:
		s.Failed++
	}
	s.N++
	s.ms = append(s.ms, float64(one.ms))
	if one.exec {
		return
	}
	s.cost, s.CostUnknown = known(s.cost, one.cost, s.CostUnknown)
	s.tokens, s.TokensUnknown = known(s.tokens, one.tokens, s.TokensUnknown)
}

func known[N int64 | float64](all []float64, n *N, unknown int) ([]float64, int) {
	if n == nil {
		return all, unknown + 1
	}
	return append(all, float64(*n)), unknown
}

// done makes the figures; without a rate where the jobs were chosen by how they ended.
func (s *sums) done(rated bool) Group {
	g := s.Group
	if g.Reasons == nil {
		g.Reasons, g.Verdicts = map[string]int{}, map[string]int{}
	}
	if g.N > 0 && rated {
		rate := float64(g.Succeeded) / float64(g.N)
		low, high := statistics.Wilson(g.Succeeded, g.N)
		g.Rate, g.Low, g.High = &rate, &low, &high
	}
	g.DurationMs, g.CostUSD, g.Tokens, g.took = spread(s.ms), spread(s.cost), spread(s.tokens), spread(s.good)
	return g
}

func spread(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return &Spread{N: len(values), P50: statistics.Quantile(values, 0.5), P90: statistics.Quantile(values, 0.9)}
}

// Groups are the groups, sorted by their keys.
func (t *Tally) Groups() []Group {
	out := []Group{}
	for k, s := range t.groups {
		g := s.done(!t.filter.byOutcome())
		for _, field := range []struct {
			key string
			to  **string
			is  string
		}{{ByRuntime, &g.Runtime, k.runtime}, {ByModel, &g.Model, k.model}, {ByAgent, &g.Agent, k.agent}, {ByTask, &g.Task, k.task}} {
			if t.tells(field.key) {
				*field.to = &field.is
			}
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(compare(a.Runtime, b.Runtime), compare(a.Model, b.Model), compare(a.Agent, b.Agent), compare(a.Task, b.Task))
	})
	return out
}

func compare(a, b *string) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Compare(*a, *b)
}

// Total is all jobs together.
func (t *Tally) Total() Group { return t.total.done(!t.filter.byOutcome()) }
