package spec

import (
	"orchestrate/internal/prompts"
)

// group is a job of the document, or what it is for one item of a list.
type group struct {
	id   string
	item *Item
}

// rounds makes the jobs of one group: the votes or rounds, then what gathers them.
func (x *expander) rounds(s *source, g group) {
	switch {
	case s.verifies != nil:
		x.verifications(s, g)
	case s.kind == PatternVotes:
		x.votes(s, g)
	case s.kind == PatternUntilDry:
		x.untilDry(s, g)
	case s.kind == PatternRepair:
		x.work(s, g)
	case s.kind == PatternJoin:
		x.join(s, g)
	default:
		seed := g.seed()
		if g.item != nil {
			seed.Part = part(PatternForeach, s.id, g.item.Number)
		}
		x.made = append(x.made, made{own: x.fields(s, g, g.id, s.refs), seed: seed})
	}
}

// seed is what the list says of each job of a group.
func (g group) seed() Job {
	j := Job{Item: g.item}
	if g.item != nil {
		j.DependsOn = g.item.From
	}
	return j
}

func (x *expander) votes(s *source, g group) {
	p := s.own.field(PatternVotes)
	of := s.times()
	votes := Votes{Of: of, Require: int(p.field("require").integer(int64(of/2 + 1))), Verdict: verdict(p)}
	ids := numbered(g.id, of)
	for k, id := range ids {
		seed := g.seed()
		seed.Part, seed.Verdict = part(PatternVotes, g.id, k+1), &votes.Verdict
		x.made = append(x.made, made{own: x.fields(s, g, id, s.refs), seed: seed})
	}
	x.gather(s, g, Gather{Kind: PatternVotes, Members: ids, Votes: &votes})
}

// verdict is where a pattern says that one stands, and what accepts.
func verdict(p value) Verdict {
	return Verdict{Field: p.field("field").or("verdict"), Accept: p.field("accept").or("pass")}
}

func (x *expander) untilDry(s *source, g group) {
	p := s.own.field(PatternUntilDry)
	n := s.times()
	dry := &Dry{StopAfter: int(p.field("stop_after").integer(int64(min(2, n)))), Key: p.field("key").text()}
	ids := numbered(g.id, n)
	for k, id := range ids {
		m := made{own: x.fields(s, g, id, s.refs), seed: g.seed(), feeds: ids[:k]}
		m.seed.Part = part(PatternUntilDry, g.id, k+1)
		m.seed.Round = &Round{Rule: RuleNotDry, Of: ids[:k], Dry: dry} // the first says, too, what its answer must hold
		if k > 0 {
			m.seed.DependsOn = append(append([]string{}, m.seed.DependsOn...), ids[:k]...)
		}
		x.made = append(x.made, m)
	}
	x.gather(s, g, Gather{Kind: PatternUntilDry, Members: ids, Dry: dry})
}

// ofRepair is what both that gather a repair know: s does the work, and id is its group's.
func (x *expander) ofRepair(s *source, id, verifier string) Gather {
	v := verdict(s.own.field(PatternRepair))
	g := Gather{Kind: PatternRepair, Work: numbered(id, s.times()), Verifies: numbered(verifier, s.times()), Verdict: &v}
	for k := range g.Work {
		g.Members = append(g.Members, g.Work[k], g.Verifies[k])
	}
	return g
}

// beside is the id of the same item's group of another job, which has the same list.
func (g group) beside(s *source) string {
	if g.item == nil {
		return s.id
	}
	return s.ids()[g.item.Number-1]
}

// work makes the rounds of work of a repair. From the second on the session goes on, so
// that it needs nothing but what was found.
func (x *expander) work(s *source, g group) {
	all := x.ofRepair(s, g.id, g.beside(s.verifier))
	for k, id := range all.Work {
		m := made{own: x.fields(s, g, id, s.refs), seed: g.seed()}
		m.seed.Part = part(PatternRepair, g.id, k+1)
		if k > 0 {
			before, found := all.Work[k-1], all.Verifies[k-1]
			changes := map[string]*tree{"continue": textAt(s.own.field(PatternRepair).at(), before)}
			for _, key := range append([]string{"depends_on", "worktree", "fallback_runtime", "prompt"}, ownTexts[:]...) {
				changes[key] = nil
			}
			if of := m.own.field("worker"); of.field("resumes").present() { // only the first begins with that
				changes["worker"] = of.with(map[string]*tree{"resumes": nil}).t
			}
			m.own, m.bare = m.own.with(changes), true
			m.seed.DependsOn = []string{before, found}
			m.seed.Round = &Round{Rule: RuleFailed, Of: []string{found}}
		}
		x.made = append(x.made, m)
	}
	x.gather(s, g, all)
}

// ownTexts are the fields, besides prompt, that say what a job is given to read.
var ownTexts = [...]string{"prompt_file", "skill", "instructions", "inputs"}

// verifications makes the rounds of the verifier of a repair, each a fresh session.
func (x *expander) verifications(s *source, g group) {
	work := s.verifies
	worker := g.beside(work)
	all := x.ofRepair(work, worker, g.id)
	for k, id := range all.Verifies {
		refs := x.resolved(s, func(ref string) []string {
			if ref == work.id || ref == worker {
				return all.Work[k : k+1]
			}
			return x.lookup(ref)
		})
		m := made{own: x.fields(s, g, id, refs), seed: g.seed()}
		m.seed.Part, m.seed.Verdict = part(PatternRepair, g.id, k+1), all.Verdict
		if k > 0 {
			m.seed.Round = &Round{Rule: RuleMended, Of: all.Work[k : k+1]}
		}
		x.made = append(x.made, m)
	}
	x.gather(s, g, all)
}

// gather makes the job that stands for the others of its group.
func (x *expander) gather(s *source, g group, of Gather) {
	like := x.fields(s, g, g.id, nil)
	at := like.field("id").at()
	t := &tree{kind: kindMap, at: like.t.at, fields: map[string]*tree{}, keyAt: like.t.keyAt}
	for _, key := range []string{"id", "timeout", "expected_output", "cwd"} {
		if v := like.field(key); v.t != nil {
			t.set(key, v.t)
		}
	}
	t.set("task", textAt(at, "mechanical"))
	t.set("effect", textAt(at, "observe"))
	like.t = t
	x.made = append(x.made, made{own: like, seed: Job{
		Part: part(of.Kind, g.id, 0), Item: g.item, Gather: &of, DependsOn: of.Members, AfterAll: true,
	}})
}

// join makes the job that brings others' results together.
func (x *expander) join(s *source, g group) {
	p := s.own.field(PatternJoin)
	m := made{own: x.fields(s, g, g.id, s.refs), seed: g.seed()}
	m.seed.Part = part(PatternJoin, s.id, 0)
	for _, v := range joined(p) {
		m.seed.DependsOn = append(m.seed.DependsOn, x.lookup(v.text())...)
	}
	m.seed.DependsOn = distinct(m.seed.DependsOn)
	m.feeds, m.seed.Part.Joins = m.seed.DependsOn, m.seed.DependsOn
	if n := p.field("require"); n.present() {
		m.seed.AfterAll, m.seed.Require = true, int(n.integer(1))
		if all := len(m.seed.DependsOn); m.seed.Require > all {
			x.failf(n, "pattern", "found %d; allowed: at most %d, which is how many jobs it joins", m.seed.Require, all)
		}
	}
	if !x.hasPrompt(s) {
		text, err := prompts.Text(prompts.Synthesis)
		if err != nil {
			x.failf(p, "prompt", "%s", err)
		}
		m.own = m.own.with(map[string]*tree{"prompt": textAt(p.at(), text)})
	}
	x.made = append(x.made, m)
}

// joined are the ids in a join, in both of its forms.
func joined(p value) []value {
	if p.t != nil && p.t.kind == kindMap {
		p = p.field("of")
	}
	return p.items()
}

// hasPrompt reports whether a job says what is to be done, itself or by default.
func (x *expander) hasPrompt(s *source) bool {
	v := x.view(s)
	for _, key := range []string{"prompt_file", "command", "skill"} {
		if v.get(key).present() {
			return true
		}
	}
	return s.own.field("prompt").present()
}
