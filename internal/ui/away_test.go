package ui

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// await hands a job's attempt to the hosting session.
func (s *story) await(job string, n int, agent string) {
	s.take(ledger.Intent(job, n, ledger.Route{Runtime: handoff.Runtime, Agent: agent}))
	s.take(ledger.AwaitingSession(job, n))
}

func TestLiveSaysWhereAJobOfTheSessionIs(t *testing.T) {
	s := newStory(Outline{Slots: 1, Jobs: []Planned{{ID: "scout"}, {ID: "fix", Writes: true}, {ID: "next"}}})
	s.await("scout", 1, "Explore")
	s.await("fix", 2, "")
	s.later(90 * time.Second)
	a := Attempt{"scout", 1}
	for _, tc := range []struct {
		name     string
		take     func()
		job, say string
	}{
		{"nobody has it", func() {}, "scout", "? scout awaiting 1m30s unknown unknown internal awaits the hosting session (agent Explore)"},
		{"an agent is not named", func() {}, "fix", "? fix awaiting 1m30s unknown unknown internal, attempt 2 awaits the hosting session"},
		{"it takes no slot", func() {}, "next", "- next queued is next"},
		{"another attempt's lease", func() { s.Taken(Attempt{"scout", 2}, "x", s.now.Add(time.Hour), false) }, "scout", "awaits the hosting session (agent Explore)"},
		{"taken", func() { s.Taken(a, "shell 4", s.now.Add(time.Minute), false) }, "scout", "with shell 4 until 12:02:30"},
		{"the lease is over", func() { s.later(2 * time.Minute) }, "scout", "awaits the hosting session (agent Explore); shell 4 had it until 12:02:30"},
		{"that of a writer", func() { s.Taken(Attempt{"fix", 2}, "", s.now, false) }, "fix", "lease over since 12:03:30: that its writer has ended is not known"},
		{"handed in", func() { s.Taken(a, "shell 4", s.now, true) }, "scout", "was handed in, is taken in next"},
	} {
		tc.take()
		if got := s.of(t, tc.job); !strings.HasSuffix(got, tc.say) {
			t.Errorf("%s: %q, want it to end with %q", tc.name, got, tc.say)
		}
	}
	s.settle("scout", ledger.Success, nil)
	if got := s.of(t, "scout"); !strings.HasPrefix(got, "✓ scout success") {
		t.Errorf("when it was taken in: %q", got)
	}
}

func TestLiveEndsWhenTheEngineLeaves(t *testing.T) {
	s := newStory(Outline{Jobs: []Planned{{ID: "scout"}}})
	s.await("scout", 1, "Explore")
	s.take(ledger.Parked(4))
	if !s.Ended() {
		t.Error("the view goes on, though nothing can")
	}
	head := strings.Join(s.picture(120, 12), "\n")
	for _, want := range []string{"run r1  awaits the hosting session", "1 job: 1 awaiting", "next: orchestrate next r1 --wait 50s --json"} {
		if !strings.Contains(head, want) {
			t.Errorf("the view lacks %q:\n%s", want, head)
		}
	}
	if got := strings.Join(s.Summary(s.now, false), "\n"); !strings.Contains(got, "scout awaiting: awaits the hosting session (agent Explore)") {
		t.Errorf("the summary is\n%s", got)
	}
	s.take(ledger.Resumed(false))
	if s.Ended() {
		t.Error("the run was taken up, and the view says it has ended")
	}
}

func TestLinesTellOfJobsOfTheSession(t *testing.T) {
	var out bytes.Buffer
	l := NewLines(&out)
	say := func(r ledger.Record) { r.At = noon; l.Record(r) }
	say(ledger.Intent("scout", 1, ledger.Route{Runtime: handoff.Runtime, Agent: "Expl\x1bore"}))
	if out.Len() > 0 {
		t.Errorf("before it can be taken: %q", out.String())
	}
	say(ledger.AwaitingSession("scout", 1))
	say(ledger.AwaitingSession("fix", 2))
	say(ledger.Parked(4))
	for _, want := range []string{
		"scout                awaits the hosting session (agent Expl(U+001B)ore)\n", "fix                  awaits the hosting session, attempt 2\n",
		"  nothing else can go on before the hosting session acts\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestHoldersAreReadFromTheFilesOfTheNewestAttempt(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "scout", name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "scout"), 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := OpenEvents(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	look := func(n int) (said []string) {
		e.Holders([]Attempt{{"scout", n}, {"other", 1}}, func(a Attempt, by string, _ time.Time, handedIn bool) {
			said = append(said, a.Job+" "+by+map[bool]string{true: " handed in"}[handedIn])
		})
		return said
	}
	if got := look(1); got != nil {
		t.Errorf("without files: %v", got)
	}
	write(ledger.LeaseFile, handoff.Lease{SchemaVersion: 1, Attempt: "scout.a1.0badcafe", By: "me", Until: noon})
	if got := look(1); len(got) != 1 || got[0] != "scout me" {
		t.Errorf("taken: %v", got)
	}
	if got := look(2); got != nil {
		t.Errorf("of an attempt before: %v", got)
	}
	write(ledger.SubmissionFile, handoff.Submission{SchemaVersion: 1, Attempt: "scout.a1.0badcafe"})
	if got := look(1); len(got) != 1 || got[0] != "scout me handed in" {
		t.Errorf("handed in: %v", got)
	}
}
