package spec

import (
	"fmt"

	"orchestrate/internal/pattern"
)

const (
	// maxJobs bounds what the patterns of one document come to.
	maxJobs = 10_000
	// maxReferences bounds the dependencies that they come to: two long lists of which each
	// job of one depends on each job of the other are many.
	maxReferences = 250_000
	// maxFilled bounds the texts that items were filled into, together, in bytes.
	maxFilled = 32 << 20
)

// kinds are the patterns, in the order in which messages name them.
var kinds = [...]string{PatternForeach, PatternVotes, PatternUntilDry, PatternRepair, PatternJoin}

// made is one job that the document comes to: its fields, and what the patterns say of it.
type made struct {
	own  value
	seed Job  // Part, Item, Round, Gather, Verdict, AfterAll, Require and what it depends on
	bare bool // it has no texts of its own: its session, or the engine, has what it needs
	// feeds are jobs whose answers and outputs it gets as inputs, if it is a program: an
	// agent gets those of all that it depends on.
	feeds []string
}

// source is one job of the document, on its way to the jobs that it stands for.
type source struct {
	own      value
	id       string
	kind     string // of its pattern with rounds or votes, "" = none
	list     *items // that it is made for each of, nil = once
	verifier *source
	verifies *source // the job whose verifier it is
	copies   float64 // how many jobs it comes to
	all      []string
	refs     map[string]*tree // fields that name other jobs, resolved
}

// expander turns the jobs of a document into plain ones.
type expander struct {
	*reader
	root    value
	sources []*source
	byID    map[string]*source
	made    []made
	filled  int // bytes of the texts that items were filled in into
	meant   int // jobs of lists that references meant
}

// expand makes plain jobs of the document's. What is wrong with a pattern is reported, and
// its job then taken as a plain one, so that the rest can be checked.
func (r *reader) expand(root value) []made {
	x := &expander{reader: r, root: root, byID: map[string]*source{}}
	r.def, r.lists = root.field("defaults"), map[string][]string{}
	for _, own := range root.field("jobs").items() {
		if own.t.kind != kindMap {
			continue
		}
		s := &source{own: own, id: own.field("id").text(), copies: 1}
		x.sources = append(x.sources, s)
		if _, taken := x.byID[s.id]; !taken {
			x.byID[s.id] = s
		}
	}
	if r.opt.Resolved {
		x.already()
	} else {
		x.patterns()
	}
	return x.made
}

// already takes the jobs as they are: what patterns made is said in each.
func (x *expander) already() {
	for _, s := range x.sources {
		for _, kind := range kinds {
			if v := s.own.field(kind); v.present() {
				x.failf(v, "pattern", "%s is expanded in a run's jobs.yaml; remove it", kind)
			}
		}
		x.findJobs(s)
		x.made = append(x.made, x.written(s.own))
	}
}

func (x *expander) patterns() {
	for _, s := range x.sources {
		if v := s.own.field("pattern"); v.present() {
			x.failf(v, "pattern", "pattern is what orchestrate writes into a run's jobs.yaml; say foreach, votes, until_dry, repair or join")
		}
		x.classify(s)
	}
	for _, s := range x.sources {
		x.findVerifier(s)
	}
	for _, s := range x.sources {
		x.findItems(s)
	}
	if x.tooMany() {
		return
	}
	for _, s := range x.sources {
		if s.list != nil {
			x.lists[s.id] = s.ids()
		}
	}
	x.defaultReferences()
	for _, s := range x.sources {
		x.findJobs(s)
		x.build(s)
	}
	x.tooLarge()
}

// view is a job of the document over the defaults.
func (x *expander) view(s *source) jobView { return jobView{made: made{own: s.own}, def: x.def} }

// classify finds which patterns a job has, and whether they go together.
func (x *expander) classify(s *source) {
	var with []string // of those that may stand beside foreach, and join
	for _, kind := range kinds[1:] {
		switch v := s.own.field(kind); {
		case !v.present():
		case !x.spoiled[v.path]:
			with = append(with, kind)
		case kind == PatternJoin:
			x.spoiled[s.own.field("prompt").path] = true // which it would have had of the join
		}
	}
	each := s.own.field(PatternForeach).present()
	switch {
	case len(with) == 0:
	case len(with) > 1:
		x.failf(s.own.field(with[1]), "pattern", "%s and %s do not go together; keep one, and let another job do the other", with[0], with[1])
	case each && with[0] == PatternJoin:
		x.failf(s.own.field(PatternJoin), "pattern", "foreach and join do not go together; allowed beside foreach: votes, until_dry or repair")
		x.spoiled[s.own.field("prompt").path] = true // without the join one would be missing
	default:
		s.kind = with[0]
	}
	x.continued(s, each)
	x.checkNumbers(s)
}

// continued refuses continue where a pattern makes several jobs that would begin with it.
func (x *expander) continued(s *source, each bool) {
	v := s.own.field("continue")
	switch {
	case !v.present():
	case s.kind == PatternVotes:
		x.failf(v, "session", "a judge begins a fresh session, and so does each vote; remove continue")
	case s.kind == PatternUntilDry, each:
		x.failf(v, "session", "a session is gone on with by one job only, and a pattern makes several of this one; remove continue")
	}
}

// checkNumbers checks what a schema cannot say of the numbers and paths of a pattern.
func (x *expander) checkNumbers(s *source) {
	p := s.own.field(s.kind)
	switch s.kind {
	case PatternVotes:
		x.atMost(p.field("require"), p.field("of"))
		x.jsonPath(p.field("field"))
	case PatternUntilDry:
		x.atMost(p.field("stop_after"), p.field("rounds"))
		x.jsonPath(p.field("key"))
	case PatternRepair:
		x.jsonPath(p.field("field"))
	}
}

// atMost checks that one number is not larger than another.
func (x *expander) atMost(v, bound value) {
	if most := bound.integer(0); v.present() && most > 0 && v.integer(0) > most {
		name, _ := lastName(bound.path)
		x.failf(v, "pattern", "found %d; allowed: at most %s, which is %d", v.integer(0), name, most)
	}
}

func (x *expander) jsonPath(v value) {
	if v.text() == "" {
		return
	}
	if _, err := pattern.ParsePath(v.text()); err != nil {
		x.failf(v, "pattern", "%s; allowed: the name of a field, or a path such as $.findings[*].id", err)
	}
}

// tooMany reports patterns that come to more jobs than there may be, before any is made.
func (x *expander) tooMany() bool {
	total := 0.0
	for _, s := range x.sources {
		total += s.copies
	}
	if total <= maxJobs || total == float64(len(x.sources)) {
		return false
	}
	x.references = nil
	x.failf(x.root.field("jobs"), "size", "the patterns of this document come to %.0f jobs; allowed: at most %d: shorten the lists, or lower max, rounds or of", total, maxJobs)
	return true
}

// tooLarge reports patterns whose jobs are too much together.
func (x *expander) tooLarge() {
	if len(x.made) == len(x.sources) {
		return
	}
	refs := 0
	if x.meant > maxReferences {
		refs = x.meant
	}
	for i := range x.made {
		m := &x.made[i]
		refs += len(m.own.field("depends_on").list()) + len(m.own.field("inputs").list()) + len(m.seed.DependsOn)
	}
	jobs := x.root.field("jobs")
	switch {
	case refs > maxReferences:
		x.failf(jobs, "size", "the patterns of this document come to %d dependencies or more; allowed: at most %d: put a job with join between two long lists", refs, maxReferences)
	case x.filled > maxFilled:
		x.failf(jobs, "size", "the texts that items are filled into have more than %d bytes (32 MiB) together: put long prompts into a prompt_file, which is kept once", maxFilled)
	default:
		return
	}
	x.made, x.references = nil, nil
}

// build makes the jobs that one of the document stands for.
func (x *expander) build(s *source) {
	if s.list == nil {
		x.rounds(s, group{id: s.id})
		return
	}
	x.checkVariables(s)
	for i, id := range s.ids() {
		x.rounds(s, group{id: id, item: s.list.item(i)})
	}
}

// part is what one job is in a pattern; number 0 = it gathers the others.
func part(kind, of string, number int) *Part { return &Part{Kind: kind, Of: of, Number: number} }

// numbered are the ids of the rounds of a job.
func numbered(id string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%d", id, i+1)
	}
	return ids
}
