package reclaim

import (
	"strings"
	"testing"

	"orchestrate/internal/ledger"
)

func TestDecide(t *testing.T) {
	tree := Facts{Run: "R", Job: "a", Kind: KindWorktree, Status: ledger.Success}
	with := func(change func(*Facts)) Facts {
		f := tree
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		facts     Facts
		fate      string
		why, next string // parts
	}{
		"work that nobody integrated": {tree, Keep, "not integrated", "orchestrate integrate R"},
		"integrated":                  {with(func(f *Facts) { f.Into = "refs/heads/main" }), Remove, "refs/heads/main", ""},
		"merged by hand":              {with(func(f *Facts) { f.Reached = "refs/heads/main" }), Keep, "no integration", "--discard R/a"},
		"a failed attempt":            {with(func(f *Facts) { f.Status = ledger.Failed }), Keep, "did not succeed", "--discard R/a"},
		"a failed attempt before one that was integrated": {
			with(func(f *Facts) { f.Status, f.Replaced = ledger.Failed, "refs/heads/main" }), Remove, "later attempt", "",
		},
		"a failed attempt before one that succeeded": {
			with(func(f *Facts) { f.Status, f.Later = ledger.Failed, true }), Keep, "a later one of its job did", "orchestrate integrate R",
		},
		"an observer":                  {with(func(f *Facts) { f.Observer, f.Status = true, ledger.Failed }), Remove, "only looked", ""},
		"nothing changed":              {with(func(f *Facts) { f.Empty = true }), Remove, "changed nothing", ""},
		"cut off while made":           {with(func(f *Facts) { f.Unused, f.Status = true, "" }), Remove, "nobody worked", ""},
		"discarded":                    {with(func(f *Facts) { f.Given, f.Status = true, ledger.Failed }), Remove, "discarded", ""},
		"discarded in a run to resume": {with(func(f *Facts) { f.Given, f.Again = true, true }), Remove, "discarded", ""},
		"discarded in a live run":      {with(func(f *Facts) { f.Given, f.Live, f.Ends = true, "process 7 is at it", "wait" }), Keep, "process 7", "wait"},
		"discarded, and somebody's by now": {
			with(func(f *Facts) { f.Given, f.Foreign, f.By = true, "somebody committed", "git log x" }), Keep, "somebody committed", "git log x",
		},
		"integrated, in a run to resume": {with(func(f *Facts) { f.Into, f.Again = "refs/heads/main", true }), Keep, "resumed", "orchestrate resume R"},
		"an integration was cut off":     {with(func(f *Facts) { f.Into, f.Cut = "refs/heads/main", "it was cut off" }), Keep, "cut off", "orchestrate integrate R"},
		"discarded, and an integration was cut off": {
			with(func(f *Facts) { f.Given, f.Cut = true, "it was cut off" }), Keep, "cut off", "orchestrate integrate R",
		},
		"a run directory with an integration that was cut off": {
			Facts{Run: "R", Kind: KindRun, Given: true, Cut: "it was cut off"}, Keep, "cut off", "orchestrate integrate R",
		},
		"integrated, with somebody's repository in it": {with(func(f *Facts) { f.Into, f.Nested = "refs/heads/main", "at lib has commits" }), Keep, "at lib has commits", "--discard R/a"},
		"discarded, with somebody's repository in it":  {with(func(f *Facts) { f.Given, f.Nested = true, "at lib has commits" }), Remove, "discarded", ""},
		"unreadable":                {with(func(f *Facts) { f.Unknown, f.Given = "damaged", true }), Keep, "damaged", ""},
		"a run directory":           {Facts{Run: "R", Kind: KindRun, Into: "refs/heads/main"}, Keep, "evidence", "--discard R"},
		"a discarded run directory": {Facts{Run: "R", Kind: KindRun, Given: true}, Remove, "discarded", ""},
		"temporary files":           {Facts{Run: "R", Kind: KindPrivate}, Remove, "temporary", ""},
		"what was salvaged":         {Facts{Run: "R", Kind: KindSalvage, Given: true}, Keep, "earlier clean", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(c.facts)
			if d.Fate != c.fate || !strings.Contains(d.Why, c.why) || !strings.Contains(d.Next, c.next) {
				t.Errorf("got %+v, want %s because of %q, next %q", d, c.fate, c.why, c.next)
			}
		})
	}
}

func TestARunDirectoryStaysWithWhatItExplains(t *testing.T) {
	items := []Item{
		{Kind: KindRun, Run: "R", Fate: Remove},
		{Kind: KindBranch, Run: "R", Fate: Keep},
		{Kind: KindWorktree, Run: "R", Fate: Remove},
		{Kind: KindRun, Run: "S", Fate: Remove},
		{Kind: KindSalvage, Run: "S", Fate: Keep},
	}
	Settle(items)
	if items[0].Fate != Keep || items[3].Fate != Remove {
		t.Errorf("got %+v", items)
	}
}
