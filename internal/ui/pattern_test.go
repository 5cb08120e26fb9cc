package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// audits is a list of up to 50 items that another job makes, and votes on what came of it.
func audits() Outline {
	o := Outline{Slots: 8, Jobs: []Planned{{ID: "list"}}}
	for n := 1; n <= 50; n++ {
		o.Jobs = append(o.Jobs, Planned{ID: fmt.Sprintf("audit-%d", n), After: []string{"list"}, List: "audit", Number: n})
	}
	return Outline{Slots: 8, Jobs: append(o.Jobs, Planned{ID: "vote", After: []string{"audit-1", "audit-2"}, AfterAll: true, Gathers: true}, Planned{ID: "last", After: []string{"vote"}})}
}

func skipped(job string) ledger.Record {
	return ledger.Settle(ledger.JobStatus{ID: job, Status: ledger.Skipped, Reason: runtime.NotNeeded, ReasonEvidence: untrusted.From("the list has 3 items")})
}

func (s *story) expand(items ...string) {
	s.take(ledger.Settle(ledger.JobStatus{ID: "list", Status: ledger.Success, Attempts: 1}))
	e := ledger.Expanded{Of: "audit"}
	for _, text := range items {
		e.Items = append(e.Items, json.RawMessage(text))
	}
	s.take(ledger.ExpandedTo("audit-1", e))
	for n := len(items) + 1; n <= 50; n++ {
		s.take(skipped(fmt.Sprintf("audit-%d", n)))
	}
}

func TestTheViewFoldsWhatWasNotNeeded(t *testing.T) {
	s := newStory(audits())
	s.expand(`"auth"`, `{"name":"x"}`, `"\u001b[31mred"`)
	s.start("audit-1", 1, "claude")
	view := strings.Join(s.picture(150, 40), "\n")
	for _, want := range []string{"5 jobs: ", "; 47 not needed", "audit-1 (auth)", `audit-2 ({"name":"x"})`, "audit-3 (", "after audit-1, audit-2"} {
		if !strings.Contains(view, want) {
			t.Errorf("the view does not say %q:\n%s", want, view)
		}
	}
	for _, never := range []string{"audit-4", "audit-50", "skipped", "\x1b[31m"} {
		if strings.Contains(view, never) {
			t.Errorf("the view has %q:\n%s", never, view)
		}
	}
}

func TestTheViewSaysWhatWasGathered(t *testing.T) {
	s := newStory(Outline{Jobs: []Planned{{ID: "vote-1"}, {ID: "vote", After: []string{"vote-1"}, AfterAll: true, Gathers: true}, {ID: "last", After: []string{"vote"}}}})
	s.take(ledger.Settle(ledger.JobStatus{ID: "vote", Status: ledger.Success, Decided: "2 of 3 accepted, 2 required"}))
	if got := s.of(t, "vote"); !strings.Contains(got, "success 2 of 3 accepted, 2 required") {
		t.Error(got)
	}
	s.take(ledger.Requeued("vote", "a vote was done again"))
	s.take(ledger.Settle(ledger.JobStatus{ID: "vote", Status: ledger.Failed, Reason: runtime.ReasonNotVerified, ReasonEvidence: untrusted.From("1 of 3 accepted")}))
	view := strings.Join(s.picture(150, 60), "\n")
	if !strings.Contains(view, "2 jobs: 2 queued; 1 pattern not met") || !strings.Contains(view, "not_verified: 1 of 3 accepted") {
		t.Error(view)
	}
}

// TestWhatOnlyHasToEnd: a job that joins others waits for those that run, not for one that failed.
func TestWhatOnlyHasToEnd(t *testing.T) {
	s := newStory(Outline{Jobs: []Planned{{ID: "a"}, {ID: "b"}, {ID: "all", After: []string{"a", "b"}, AfterAll: true}}})
	s.take(ledger.Settle(ledger.JobStatus{ID: "a", Status: ledger.Failed, Reason: "crash"}))
	if got := s.of(t, "all"); !strings.HasSuffix(got, "after b") {
		t.Error(got)
	}
}

func TestLinesTellSkippedJobsTogether(t *testing.T) {
	var out bytes.Buffer
	l := NewLines(&out)
	s := &story{Live: NewLive(), now: noon}
	take := func(r ledger.Record) { r.At = s.now; l.Record(r) }
	take(ledger.ExpandedTo("audit-1", ledger.Expanded{Of: "audit", Items: []json.RawMessage{[]byte(`"auth"`)}}))
	for n := 2; n <= 50; n++ {
		take(skipped(fmt.Sprintf("audit-%d", n)))
	}
	take(ledger.Settle(ledger.JobStatus{ID: "audit-1", Status: ledger.Success, Attempts: 1, Item: json.RawMessage(`"auth"`)}))
	take(ledger.Settle(ledger.JobStatus{ID: "vote", Status: ledger.Success, Decided: "dry after round 3 of at most 5"}))
	want := `      0s  audit                its list has 1 item
      0s  audit-2 … audit-50   49 jobs not needed: the list has 3 items
      0s  audit-1              success (auth)
      0s  vote                 success: dry after round 3 of at most 5
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// TestJobsBlockedAlikeAreOneLineMore: the first is told at once, the others when something else
// is.
func TestJobsBlockedAlikeAreOneLineMore(t *testing.T) {
	var out bytes.Buffer
	l := NewLines(&out)
	blocked := func(job, why string) {
		l.Record(ledger.Settle(ledger.JobStatus{ID: job, Status: ledger.Blocked, Reason: runtime.BlockedExpansion, ReasonEvidence: untrusted.From(why)}))
	}
	blocked("p-1", "no JSON")
	if !strings.Contains(out.String(), "p-1 ") {
		t.Errorf("the first is not told at once: %q", out.String())
	}
	for n := 2; n <= 1000; n++ {
		blocked(fmt.Sprintf("p-%d", n), "no JSON")
	}
	blocked("q-1", "another thing")
	blocked("q-2", "another thing")
	l.Record(ledger.RunEnded("fail", 3))
	var got []string
	for _, text := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		_, text, _ = strings.Cut(strings.TrimSpace(text), "  ")
		got = append(got, strings.Join(strings.Fields(text), " "))
	}
	want := []string{
		"p-1 blocked: expansion: no JSON", "p-2 … p-1000 999 jobs more blocked: the same as p-1",
		"q-1 blocked: expansion: another thing", "q-2 1 job more blocked: the same as q-1", "verdict: fail",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}
