package arbiter

import (
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// world is one row of the whole truth table.
type world struct {
	early, broken bool
	mode          string
	noRoute       bool
	answer        string // pass | fail | blocked | unusable | none
	finds         string // "" | no: a question is answered wrong | contradiction | unsure: one is not answered | unresolved
	falseCitation bool
	shown         string // by what is cited of job b and is there: own | base: what it started from | other: another job's work
	assertion     string // yes | no | unsure | "" = nothing is said of it
	independence  string
	required      bool
	rehearsal     bool
}

// verdict says in the words of the contract what a run is worth; it knows nothing of
// how Judge goes about it.
func (w world) verdict() string {
	v := w.reviewed()
	if w.rehearsal && (v == "pass" || v == "unreviewed") {
		return "rehearsal"
	}
	return v
}

func (w world) reviewed() string {
	independent := w.independence == "independent"
	switch {
	case w.early: // nothing to judge, or not settled
		return "blocked"
	case w.broken: // a failure of layer 1 fails the run whatever anyone says
		return "fail"
	case w.mode == "checks-only": // asked for, it gives unreviewed
		return "unreviewed"
	case w.noRoute: // no qualified route
		return "blocked"
	case w.answer == "none" || w.answer == "unusable": // what does not parse is not a pass
		return "blocked"
	case w.required && !independent && !w.rehearsal: // an independent judge or none
		return "blocked"
	case w.answer == "fail" || w.finds == "no" || w.finds == "contradiction" || w.assertion == "no":
		return "fail"
	case w.answer == "blocked" || w.finds == "unsure" || w.finds == "unresolved": // leaves a question open
		return "blocked"
	case w.assertion != "yes":
		return "blocked"
	case w.falseCitation: // cites what is not there
		return "blocked"
	case w.shown != "own": // a pass needs evidence of the work
		return "blocked"
	}
	return "pass"
}

func (w world) judged() Case {
	v := good("a", "b")
	v.Jobs[0].Assertions = nil
	if w.assertion != "" {
		v.Jobs[0].Assertions = []Assertion{{Name: "it reads well", Holds: w.assertion}}
	}
	switch w.finds {
	case "no", "unsure":
		v.Questions[5].Answer = w.finds // a pass needs yes
	case "unresolved":
		v.UnresolvedQuestions = []untrusted.Text{untrusted.From("who?")}
	case "contradiction":
		v.Contradictions = []untrusted.Text{untrusted.From("a says so, b does not")}
	}
	c := Case{
		Mode: w.mode, Rehearsal: w.rehearsal, Independence: w.independence, RequireIndependent: w.required,
		Judged: []Asked{{Job: "a", Asserts: []string{"it reads well"}}, {Job: "b"}},
	}
	if w.early {
		c.Early = "no job succeeded"
	}
	if w.broken {
		c.Findings = []ledger.Finding{{Rule: RuleOwnership, Job: "a", Detail: "x"}}
	}
	if w.noRoute {
		c.Obstacle = "no route"
	}
	switch w.answer {
	case "none":
	case "unusable":
		c.Unusable = "not JSON"
	default:
		v.Overall = w.answer
		c.Answer, c.Jobs = &v, Verify(v, everything{})
		c.Own, c.Jobs[1].Citations = notBase, []ledger.Citation{w.cited()}
		if w.falseCitation { // beside one that is there
			c.Jobs[1].Citations = append(c.Jobs[1].Citations, ledger.Citation{Kind: "artifact", Ref: "b:gone.md"})
		}
	}
	return c
}

func (w world) cited() ledger.Citation {
	switch w.shown {
	case "base":
		return ledger.Citation{Kind: "commit", Ref: "b:base", Found: true}
	case "other":
		return ledger.Citation{Kind: "artifact", Ref: "a:output.md", Found: true}
	}
	return ledger.Citation{Kind: "artifact", Ref: "b:output.md", Found: true}
}

// each calls f for every world there is.
func each(f func(world)) {
	both := []bool{false, true}
	var set []func(*world, func())
	add := func(n int, put func(w *world, i int)) {
		set = append(set, func(w *world, next func()) {
			for i := range n {
				put(w, i)
				next()
			}
		})
	}
	pick := func(list []string, put func(w *world, s string)) {
		add(len(list), func(w *world, i int) { put(w, list[i]) })
	}
	flag := func(put func(w *world, b bool)) { add(2, func(w *world, i int) { put(w, both[i]) }) }
	flag(func(w *world, b bool) { w.early = b })
	flag(func(w *world, b bool) { w.broken = b })
	pick([]string{ModeRequired, ModeChecksOnly}, func(w *world, s string) { w.mode = s })
	flag(func(w *world, b bool) { w.noRoute = b })
	pick([]string{Pass, Fail, Blocked, "unusable", "none"}, func(w *world, s string) { w.answer = s })
	pick([]string{"", "no", "contradiction", "unsure", "unresolved"}, func(w *world, s string) { w.finds = s })
	flag(func(w *world, b bool) { w.falseCitation = b })
	pick([]string{"own", "base", "other"}, func(w *world, s string) { w.shown = s })
	pick([]string{"yes", "no", "unsure", ""}, func(w *world, s string) { w.assertion = s })
	pick([]string{"independent", "not-independent: job a was done by the same family (x)", ""}, func(w *world, s string) { w.independence = s })
	flag(func(w *world, b bool) { w.required = b })
	flag(func(w *world, b bool) { w.rehearsal = b })
	var w world
	var from func(int)
	from = func(i int) {
		if i == len(set) {
			f(w)
			return
		}
		set[i](&w, func() { from(i + 1) })
	}
	from(0)
}

// TestTheWholeTruthTable holds Judge to the contract's words in every case there is.
func TestTheWholeTruthTable(t *testing.T) {
	seen, wrong := map[string]int{}, 0
	each(func(w world) {
		j := Judge(w.judged())
		want := w.verdict()
		seen[want]++
		if (j.Verdict != want || (len(j.Why) == 0) != (want == Pass)) && wrong < 5 {
			wrong++
			t.Errorf("%+v: %s because %q, want %s", w, j.Verdict, j.Why, want)
		}
	})
	total := 0
	for _, v := range []string{Pass, Fail, Blocked, Unreviewed, Rehearsal} {
		total += seen[v]
		if seen[v] == 0 {
			t.Errorf("no case gives %s", v)
		}
	}
	if want := 2 * 2 * 2 * 2 * 5 * 5 * 2 * 3 * 4 * 3 * 2 * 2; total != want {
		t.Errorf("%d cases, want %d", total, want)
	}
	// A pass is rare: an answer of pass, nothing open or false, and independence proven or
	// not asked for.
	if seen[Pass] != 4 {
		t.Errorf("%d cases pass; four may: proven independence, required or not, and none or unknown where it is not required", seen[Pass])
	}
}
