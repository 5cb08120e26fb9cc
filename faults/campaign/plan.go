//go:build linux

package campaign

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/failpoint"
)

// AnyTime stands among the failpoints for a moment that none names.
const AnyTime = ""

// Planner says what the next round does, so that every failpoint gets its share.
type Planner struct {
	random *rand.Rand
	seed   uint64
	rounds int
	points map[string]*Share
}

// Share is what one failpoint has had so far.
type Share struct {
	Hits    int            // rounds that reached it
	Kills   map[Victim]int // kills there
	dry     int            // rounds in a row that did not reach even the first hit
	planned int
	deepest int // the nth hit to ask for at most
}

// enough is how many rounds may miss a failpoint's first hit before it is given up.
const enough = 6

// NewPlanner plans by the seed, and by what the rounds find.
func NewPlanner(seed uint64) *Planner {
	p := &Planner{random: rand.New(rand.NewPCG(seed, 0)), seed: seed, points: map[string]*Share{}}
	for _, name := range append([]string{AnyTime}, failpoint.Names...) {
		p.points[name] = &Share{Kills: map[Victim]int{}, deepest: deepest(name)}
	}
	return p
}

// onceARun are the failpoints that a command reaches once.
var onceARun = []string{
	failpoint.RunCreated, failpoint.RunStarted, failpoint.Arbitrating, failpoint.VerdictThere, failpoint.ReportThere, failpoint.HistoryThere,
	failpoint.EndAfter, failpoint.Resumed, failpoint.Reconciled, failpoint.Adopting, failpoint.HistoryBefore, failpoint.HistoryWritten,
}

func deepest(name string) int {
	switch {
	case slices.Contains(onceARun, name):
		return 1
	case strings.HasPrefix(name, "ledger.journal"):
		return 40
	case strings.HasPrefix(name, "ledger."), strings.HasPrefix(name, "supervise."):
		return 3
	}
	return 8
}

// whenResuming are the failpoints that only a resume has.
var whenResuming = []string{failpoint.Resumed, failpoint.Reconciled, failpoint.Adopting}

// Next plans a round: of the failpoints that are worth a try the one that has had
// the fewest. ok is false when none is.
func (p *Planner) Next() (Round, bool) {
	point, ok := p.poorest()
	if !ok {
		return Round{}, false
	}
	p.rounds++
	share := p.points[point]
	shot := Shot{p.moment(point), Victims[share.planned%len(Victims)]}
	share.planned++
	r := Round{Number: p.rounds, Seed: p.seed, Graph: p.graph(point), Shots: []Shot{shot}}
	switch {
	case slices.Contains(whenResuming, point): // for some of them an attempt has to be under way
		first := Shot{Moment{Point: failpoint.Started, Nth: 1 + p.random.IntN(4)}, EngineOnly}
		r.Shots = []Shot{first, shot}
	case p.rounds%4 == 0:
		r.Shots = append(r.Shots, p.another())
	}
	r.Rivals, r.Free = p.rounds%7 == 0, p.rounds%5 == 0
	return r, true
}

func (p *Planner) poorest() (name string, ok bool) {
	for _, n := range append([]string{AnyTime}, failpoint.Names...) {
		s := p.points[n]
		if s.GivenUp() {
			continue
		}
		if !ok || s.planned < p.points[name].planned {
			name, ok = n, true
		}
	}
	return name, ok
}

func (p *Planner) moment(point string) Moment {
	if point == AnyTime {
		return Moment{After: p.some(20, 1200)}
	}
	return Moment{Point: point, Nth: 1 + p.random.IntN(p.points[point].deepest)}
}

// another is a shot at the resume.
func (p *Planner) another() Shot {
	m := Moment{After: p.some(10, 600)}
	if p.random.IntN(2) == 0 {
		m = p.moment(failpoint.Names[p.random.IntN(len(failpoint.Names))])
	}
	return Shot{m, Victims[p.random.IntN(len(Victims))]}
}

func (p *Planner) some(from, to int) time.Duration {
	return time.Duration(from+p.random.IntN(to-from)) * time.Millisecond
}

// graph is one in which the failpoint is reached.
func (p *Planner) graph(point string) Graph {
	among := Graphs
	switch {
	case point == failpoint.Arbitrating:
		return Standins
	case strings.HasPrefix(point, "history."), point == failpoint.HistoryThere:
		among = []Graph{Programs, Folder}
	case strings.HasPrefix(point, "workspace."), point == failpoint.Captured, point == failpoint.Placed, point == failpoint.Checked:
		among = []Graph{Programs, Standins}
	}
	return among[p.random.IntN(len(among))]
}

// Learn takes what a round found into account.
func (p *Planner) Learn(res Result) {
	for _, k := range res.Kills {
		s := p.points[k.Moment.Point]
		s.Hits++
		s.Kills[k.Victim]++
		s.dry = 0
	}
	for _, m := range res.Missed {
		s := p.points[m.Point]
		if m.Point == AnyTime {
			continue
		}
		if s.deepest = max(1, min(s.deepest, m.Nth-1)); m.Nth == 1 {
			s.dry++
		}
	}
}

// Shares are what every failpoint has had; AnyTime is among them.
func (p *Planner) Shares() map[string]*Share { return p.points }

// GivenUp says that no round reaches it.
func (s *Share) GivenUp() bool { return s.dry >= enough }
