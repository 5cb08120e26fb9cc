package ui

import (
	"fmt"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// usage is what the attempts of a job, or of a run, reported. What was not reported is
// counted as unknown and never as 0.
type usage struct {
	in, out sum
	cost    sum
	now     *runtime.Usage // of the attempt under way, as it said so far
	begun   bool           // an attempt of it was begun
}

// sum adds up what was said, and counts who did not say.
type sum struct {
	total   float64
	said    int
	unknown int
}

func (s *sum) add(n float64) { s.total += n; s.said++ }

func (u *usage) begin() { u.now, u.begun = nil, true }

// end takes in what an attempt reported in all.
func (u *usage) end(st *ledger.JobStatus) {
	u.now = nil
	var said *runtime.Usage
	if st != nil {
		said = st.Usage
	}
	u.add(said, true)
}

// add counts one attempt; of one that is not over, what it did not say yet is not unknown.
func (u *usage) add(said *runtime.Usage, over bool) {
	if said == nil {
		said = &runtime.Usage{}
	}
	if said.InputTokens != nil {
		u.in.add(float64(*said.InputTokens))
	} else if over {
		u.in.unknown++
	}
	if said.OutputTokens != nil {
		u.out.add(float64(*said.OutputTokens))
	} else if over {
		u.out.unknown++
	}
	if said.CostUSD != nil {
		u.cost.add(*said.CostUSD)
	} else if over {
		u.cost.unknown++
	}
}

// soFar is u with what the attempt under way has said.
func (u usage) soFar() usage {
	u.add(u.now, false)
	return u
}

// plus adds what another job reported.
func (u *usage) plus(o usage) {
	o = o.soFar()
	u.begun = u.begun || o.begun
	for _, p := range []struct{ to, from *sum }{{&u.in, &o.in}, {&u.out, &o.out}, {&u.cost, &o.cost}} {
		p.to.total += p.from.total
		p.to.said += p.from.said
		p.to.unknown += p.from.unknown
	}
}

const unknown = "unknown"

// show is a sum in the form that f gives it; a part that is unknown is said.
func (s sum) show(f func(float64) string) string {
	switch {
	case s.said == 0:
		return unknown
	case s.unknown > 0:
		return f(s.total) + "+?"
	}
	return f(s.total)
}

// tokens is what fits a column: those in, and those out.
func (u usage) tokens() string {
	if u.in.said+u.out.said == 0 {
		return unknown
	}
	part := func(s sum) string {
		if s.said == 0 {
			return "?"
		}
		return count(s.total)
	}
	text := part(u.in) + "/" + part(u.out)
	if u.in.unknown+u.out.unknown > 0 && u.in.said > 0 && u.out.said > 0 {
		text += "+?"
	}
	return text
}

// count is a number of tokens in at most five characters.
func count(n float64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%.0f", n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", n/1e3)
	case n < 999500:
		return fmt.Sprintf("%.0fk", n/1e3)
	case n < 9.95e6:
		return fmt.Sprintf("%.1fM", n/1e6)
	}
	return fmt.Sprintf("%.0fM", n/1e6)
}

func dollars(n float64) string {
	if n != 0 && n < 1 {
		return fmt.Sprintf("$%.4f", n)
	}
	return fmt.Sprintf("$%.2f", n)
}
