package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local)

// story is a run that goes on in a test.
type story struct {
	*Live
	now time.Time
}

func newStory(o Outline) *story {
	s := &story{Live: NewLive(), now: noon}
	s.Plan(o)
	var ids []string
	for _, j := range o.Jobs {
		ids = append(ids, j.ID)
	}
	s.take(ledger.RunStarted(ledger.RunInfo{RunID: "r1", Jobs: ids}))
	return s
}

func (s *story) take(r ledger.Record) {
	r.At = s.now
	s.Record(r)
}

func (s *story) later(d time.Duration) { s.now = s.now.Add(d) }

func (s *story) intend(job string, n int, rt string) {
	s.take(ledger.Intent(job, n, ledger.Route{Runtime: rt}))
}

func (s *story) start(job string, n int, rt string) {
	s.intend(job, n, rt)
	s.take(ledger.Started(job, n, 1, 1))
}

func (s *story) settle(job string, status ledger.Status, u *runtime.Usage) {
	st := ledger.JobStatus{ID: job, Attempts: 1, Status: status, Usage: u}
	if status != ledger.Success {
		st.Reason, st.ReasonEvidence = "check", untrusted.From("go test: exit status 1")
	}
	s.take(ledger.Settle(st))
}

func (s *story) picture(w, h int) []string {
	lines, _, _, _ := s.View(Frame{Width: w, Height: h, Now: s.now, At: Following, Keys: "keys"})
	return lines
}

// of is the line of a job.
func (s *story) of(t *testing.T, job string) string {
	t.Helper()
	for _, l := range s.picture(150, 40) {
		if f := strings.Fields(l); len(f) > 1 && f[1] == job {
			return strings.Join(f, " ")
		}
	}
	t.Fatalf("no line of %s in\n%s", job, strings.Join(s.picture(150, 40), "\n"))
	return ""
}

func spent(in, out int64, usd float64) *runtime.Usage {
	return &runtime.Usage{InputTokens: &in, OutputTokens: &out, CostUSD: &usd}
}

var three = Outline{Slots: 2, Arbiter: true, Jobs: []Planned{
	{ID: "a"}, {ID: "b", After: []string{"a"}, Serialize: "db"}, {ID: "c", After: []string{"a"}, Serialize: "db"},
}}

// What a job waits for is said, with the name of what it waits for.
func TestWhatAJobWaitsForIsSaid(t *testing.T) {
	until := noon.Add(time.Hour)
	for _, tc := range []struct {
		name, job, want string
		do              func(s *story)
	}{
		{"a dependency", "b", "- b queued after a", func(*story) {}},
		{"a step of the run", "a", "- a queued before it: asking claude", func(s *story) {
			s.take(ledger.Under("", ledger.StepProbe, "claude", false))
		}},
		{"nothing", "a", "- a queued is next", func(s *story) {
			s.take(ledger.Under("", ledger.StepProbe, "claude", false))
			s.take(ledger.Under("", ledger.StepProbe, "claude", true))
		}},
		{"its worktree", "a", "» a starting 2s unknown unknown claude making its worktree (2s)", func(s *story) {
			s.intend("a", 1, "claude")
			s.take(ledger.Under("a", ledger.StepWorktree, "", false))
			s.later(2 * time.Second)
		}},
		{"another run's writer", "a", "» a starting 0s unknown unknown claude waits for the checkout, in which another writer is at work: r0", func(s *story) {
			s.intend("a", 1, "claude")
			s.take(ledger.Noted("a", "waits for the checkout, in which another writer is at work: r0"))
		}},
		{"a serialize key", "c", "- c queued not beside b (serialize: db)", func(s *story) {
			s.start("a", 1, "claude")
			s.settle("a", ledger.Success, nil)
			s.start("b", 1, "claude")
		}},
		{"a slot", "a", "- a queued waits for one of 2 slots", func(s *story) {
			s.start("b", 1, "claude")
			s.start("c", 1, "claude")
		}},
		{"a retry", "a", "- a queued unknown unknown claude attempt 2 not before 13:00:00; rate_limit", func(s *story) {
			s.start("a", 1, "claude")
			r := ledger.AttemptEnded(ledger.JobStatus{ID: "a", Attempts: 1, Status: ledger.Failed, Reason: runtime.ReasonRateLimit})
			r.Next = &ledger.Next{NotBefore: &until}
			s.take(r)
		}},
		{"a paused runtime", "a", "- a queued unknown unknown claude claude gets no new jobs until 13:00:00 (quota)", func(s *story) {
			s.start("a", 1, "claude")
			r := ledger.AttemptEnded(ledger.JobStatus{ID: "a", Attempts: 1, Status: ledger.Failed, Reason: runtime.ReasonQuota})
			r.Next = &ledger.Next{Pause: "claude", Until: &until}
			s.take(r)
		}},
		{"the jobs", "arbiter", "- arbiter queued judges when all jobs are over", func(*story) {}},
		{"its failure", "a", "✗ a failed 5s unknown unknown claude check: go test: exit status 1", func(s *story) {
			s.start("a", 1, "claude")
			s.later(5 * time.Second)
			s.settle("a", ledger.Failed, nil)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStory(three)
			tc.do(s)
			if got := s.of(t, tc.job); got != tc.want {
				t.Errorf("\n got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// What an agent does is shown as it says it, inert, and what it reported is never made up.
func TestWhatAnAgentDoes(t *testing.T) {
	s := newStory(three)
	s.start("a", 1, "claude")
	say := func(e runtime.Event, want string) {
		t.Helper()
		s.Event("a", 1, e)
		if got := s.of(t, "a"); got != want {
			t.Errorf("\n got %q\nwant %q", got, want)
		}
	}
	say(runtime.Event{Kind: runtime.EventToolCall, Tool: "Bash", Text: untrusted.From("go test\x1b[2J")},
		"» a running 0s unknown unknown claude Bash: go test(U+001B)[2J")
	say(runtime.Event{Kind: runtime.EventToolDone}, "» a running 0s unknown unknown claude did Bash: go test(U+001B)[2J")
	say(runtime.Event{Kind: runtime.EventText, Text: untrusted.From("left \u202eright")},
		"» a running 0s unknown unknown claude says: left (U+202E)right")
	in := int64(12345)
	say(runtime.Event{Kind: runtime.EventUsage, Usage: &runtime.Usage{InputTokens: &in}},
		"» a running 0s 12k/? unknown claude says: left (U+202E)right")
	s.Event("a", 2, runtime.Event{Kind: runtime.EventText, Text: untrusted.From("of another attempt")})
	s.take(ledger.Under("a", ledger.StepCheck, "unit tests", false))
	if got := s.of(t, "a"); !strings.HasSuffix(got, "claude check unit tests") {
		t.Errorf("during its check: %q", got)
	}
}

// What was spent is the sum of what was reported; who did not report is counted.
func TestSpent(t *testing.T) {
	o := three
	o.USD = 5
	s := newStory(o)
	third := func() string { return s.picture(120, 30)[2] }
	if got, want := third(), "tokens 0 in, 0 out  cost $0.00 of $5.00"; got != want {
		t.Errorf("before anything: %q", got)
	}
	s.start("a", 1, "claude")
	if got, want := third(), "tokens unknown in, unknown out  cost unknown of $5.00"; got != want {
		t.Errorf("nothing reported yet: %q", got)
	}
	s.settle("a", ledger.Success, spent(1500, 20, 0.25))
	s.start("b", 1, "codex")
	s.settle("b", ledger.Success, nil)
	if got, want := third(), "tokens 1.5k+? in, 20+? out  cost $0.2500+? of $5.00  (1 attempt did not say)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.of(t, "b"); !strings.Contains(got, "unknown unknown") {
		t.Errorf("an agent that reported nothing: %q", got)
	}
	programs := newStory(Outline{Jobs: []Planned{{ID: "make", Program: true}}})
	programs.start("make", 1, "exec")
	programs.settle("make", ledger.Success, nil)
	if got := programs.of(t, "make"); strings.Contains(got, "unknown") {
		t.Errorf("a program, which has no tokens: %q", got)
	}
}

// The order is that of the graph, and nothing that happens changes it.
func TestOrder(t *testing.T) {
	s := newStory(Outline{Jobs: []Planned{
		{ID: "last", After: []string{"mid"}},
		{ID: "mid", After: []string{"first"}},
		{ID: "first"},
		{ID: "alone"},
		{ID: "loop", After: []string{"loop"}},
	}})
	order := func() string {
		var ids []string
		for _, l := range s.picture(100, 30) {
			if f := strings.Fields(l); len(f) > 1 && strings.Contains("-✗✓»", f[0]) {
				ids = append(ids, f[1])
			}
		}
		return strings.Join(ids, " ")
	}
	const want = "first alone mid loop last"
	if got := order(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.start("alone", 1, "claude")
	s.settle("alone", ledger.Failed, nil)
	if got := order(); got != want {
		t.Errorf("after a job: got %q, want %q", got, want)
	}
}

func many(n int) Outline {
	o := Outline{Slots: 8, Arbiter: true}
	for i := range n {
		p := Planned{ID: fmt.Sprintf("job-%03d", i)}
		if i >= 10 {
			p.After = []string{fmt.Sprintf("job-%03d", i-10)}
		}
		o.Jobs = append(o.Jobs, p)
	}
	return o
}

// Of 200 jobs in 24 rows those that move are in sight, and the others are counted.
func TestWhatMovesIsInSight(t *testing.T) {
	s := newStory(many(200))
	for i := range 150 {
		id := fmt.Sprintf("job-%03d", i)
		s.start(id, 1, "claude")
		if i < 145 && i != 3 {
			s.settle(id, ledger.Success, spent(10, 1, 0.01))
		}
	}
	s.settle("job-003", ledger.Failed, nil)
	text := strings.Join(s.picture(80, 24), "\n")
	for _, want := range []string{"job-145", "job-149", "job-003", "and ", "success", "200 jobs: 1 failed, 5 running, 50 queued, 144 success"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	at := Following
	var seen []string
	for range 300 { // every row is reached by scrolling
		lines, now, first, _ := s.View(Frame{Width: 80, Height: 24, Now: s.now, At: max(0, at+1)})
		if at = now; first == 182 {
			seen = lines
			break
		}
	}
	if text := strings.Join(seen, "\n"); !strings.Contains(text, "arbiter") || !strings.Contains(text, "rows 183 to 201 of 201") {
		t.Errorf("the end is\n%s", text)
	}
}

// A line is never wider than the terminal and there are never more than it has, whatever
// an agent says.
func TestAViewFitsItsTerminal(t *testing.T) {
	words := []string{"a", "日本語", "e\u0301\u0302", "👩‍👩‍👧", "🇩🇪", "\x1b[31m", "\u202e", "️✔️", "ﷺ", "\t", strings.Repeat("x", 300), "\n"}
	rapid.Check(t, func(rt *rapid.T) {
		s := newStory(many(rapid.IntRange(0, 40).Draw(rt, "jobs")))
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 39), 0, 20).Draw(rt, "moved") {
			id := fmt.Sprintf("job-%03d", n)
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(rt, "text"), "")
			s.start(id, 1, text)
			s.Event(id, 1, runtime.Event{Kind: runtime.EventText, Text: untrusted.From(text)})
			s.take(ledger.Noted("", "n"+text))
			s.Say(text, s.now)
			if n%3 == 0 {
				s.settle(id, ledger.Failed, nil)
			}
		}
		f := Frame{
			Width: rapid.IntRange(1, 150).Draw(rt, "width"), Height: rapid.IntRange(1, 40).Draw(rt, "height"),
			At: rapid.IntRange(-1, 50).Draw(rt, "at"), Colour: rapid.Bool().Draw(rt, "colour"), Now: s.now, Keys: "q: leave",
		}
		lines, _, _, _ := s.View(f)
		if len(lines) > f.Height {
			rt.Fatalf("%d lines for a height of %d", len(lines), f.Height)
		}
		for _, l := range lines {
			if width(l) > f.Width {
				rt.Fatalf("%d columns of %d: %q", width(l), f.Width, l)
			}
			if strings.Contains(l, "\u202e") || strings.Contains(strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[36m", "").Replace(l), "\x1b") {
				rt.Fatalf("it acts on the terminal: %q", l)
			}
		}
	})
}

// Without colours there is not one escape sequence in a picture.
func TestWithoutColours(t *testing.T) {
	s := newStory(three)
	s.start("a", 1, "claude")
	if text := strings.Join(s.picture(80, 24), ""); strings.ContainsRune(text, 0x1b) {
		t.Errorf("%q", text)
	}
	lines, _, _, _ := s.View(Frame{Width: 80, Height: 24, Now: s.now, Colour: true})
	if text := strings.Join(lines, ""); !strings.Contains(text, "\x1b[36m»\x1b[0m") {
		t.Errorf("with colours: %q", text)
	}
}

// The summary has a line for each job that failed or needs a person, and the totals last.
func TestSummary(t *testing.T) {
	s := newStory(three)
	s.start("a", 1, "claude")
	s.settle("a", ledger.Failed, spent(10, 2, 0.5))
	for _, id := range []string{"b", "c"} {
		s.take(ledger.Settle(ledger.JobStatus{ID: id, Status: ledger.Blocked, Reason: "dependency", ReasonEvidence: untrusted.From("a failed")}))
	}
	s.take(ledger.Told(ledger.AboutCheckout, "x.txt changed"))
	s.later(time.Minute)
	s.take(ledger.RunEnded("fail", 1))
	want := []string{
		"a failed: check: go test: exit status 1", "b blocked: dependency: a failed", "c blocked: dependency: a failed",
		"note: x.txt changed",
		"run r1  ended: fail  1m", "3 jobs: 1 failed, 2 blocked", "tokens 10 in, 2 out  cost $0.5000",
	}
	if got := s.Summary(s.now.Add(time.Hour), false); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// At 80 columns with ids that are long and alike each row can be told from the others,
// and what waits says why in the room of the figures that it has not.
func TestLongIdsAndWaitsAtEightyColumns(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf("job-%s-%03d", strings.Repeat("z", 30), n) }
	s := newStory(Outline{Slots: 1, Jobs: []Planned{{ID: long(1)}, {ID: long(2)}, {ID: long(3)}, {ID: long(4)}, {ID: "next", After: []string{long(1)}}}})
	s.start(long(1), 1, "claude")
	due := s.now.Add(time.Hour)
	s.intend(long(2), 1, "codex")
	s.take(ledger.Record{
		Kind: ledger.KindAttemptEnded, Job: long(2), Attempt: 1, Status: ledger.Failed, Reason: runtime.ReasonRateLimit,
		Settled: &ledger.JobStatus{Usage: spent(10, 1, 0.01)}, Next: &ledger.Next{NotBefore: &due},
	})
	s.take(ledger.Settle(ledger.JobStatus{ID: long(3), Status: ledger.Blocked, Reason: "dependency", ReasonEvidence: untrusted.From("breaks has failed and is needed")}))
	want := []string{
		"» job-zzzzzz…zzzzz-001 running         0s   unknown unknown claude",
		"- job-zzzzzz…zzzzz-002 queued      attempt 2 not before 13:00:00; rate_limit",
		"! job-zzzzzz…zzzzz-003 blocked     dependency: breaks has failed and is needed",
		"- job-zzzzzz…zzzzz-004 queued      waits for one of 1 slots",
		"-  next                queued      after job-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-001",
	}
	lines := s.picture(80, 24)
	if got := lines[4:9]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, columns := range []int{0, 1, 4, 5, 8, 20} {
		if got := width(middle("日本語の長い名前の仕事", columns)); got > columns {
			t.Errorf("%d columns of %d", got, columns)
		}
	}
}

// A terminal that shows only ASCII gets nothing else, also where something is cut off.
func TestASCII(t *testing.T) {
	s := newStory(Outline{Jobs: []Planned{{ID: strings.Repeat("a", 99) + "b"}}})
	s.take(ledger.Told(ledger.AboutRun, strings.Repeat("long ", 99)))
	s.Say(strings.Repeat("said ", 99), s.now)
	lines, _, _, _ := s.View(Frame{Width: 80, Height: 24, Now: s.now, At: Following, ASCII: true, Keys: strings.Repeat("k", 99)})
	s.take(ledger.Settle(ledger.JobStatus{ID: "b", Status: ledger.Blocked, ReasonEvidence: untrusted.From(strings.Repeat("why ", 99))}))
	text := strings.Join(append(lines, s.Summary(s.now, true)...), "\n")
	if strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e }) || !strings.Contains(text, "aaa~aaa") {
		t.Error(text)
	}
}

// A run that was resumed has gone on since its beginning, and what its engines say alike
// stands once.
func TestResumed(t *testing.T) {
	s := newStory(three)
	s.take(ledger.Noted("", "nobody reviews this run"))
	s.later(45 * time.Second)
	s.take(ledger.RunEnded("blocked", 130))
	s.take(ledger.Resumed(false))
	s.take(ledger.Noted("", "nobody reviews this run"))
	s.later(3 * time.Second)
	if got, want := s.picture(80, 24)[0], "run r1  running (resumed)  48s, 3s since it was resumed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.take(ledger.RunEnded("unreviewed", 0))
	all := s.Summary(s.now, false)
	if want := "run r1  ended: unreviewed (resumed)  48s, 3s since it was resumed"; !strings.Contains(strings.Join(all, "\n"), want) {
		t.Errorf("no %q in %q", want, all)
	}
	if n := strings.Count(strings.Join(all, "\n"), "note: nobody reviews"); n != 1 {
		t.Errorf("%d times in %q", n, all)
	}
}

// That a run is a rehearsal, and that it was asked to stop, is in its first line.
func TestWhatNobodyMayOverlook(t *testing.T) {
	s := newStory(three)
	s.take(ledger.RunStarted(ledger.RunInfo{RunID: "r1", Rehearse: true}))
	head := func() string { return s.picture(80, 24)[0] }
	if got, want := head(), "run r1  running (REHEARSAL)  0s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.take(ledger.Told(ledger.AboutStop, "it was asked to stop"))
	if got, want := head(), "run r1  stopping (REHEARSAL)  0s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.take(ledger.RunEnded("fail", 130))
	if got, want := s.Summary(s.now, false)[0], "run r1  ended: fail (REHEARSAL)  0s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.take(ledger.Resumed(false))
	if got := head(); strings.Contains(got, "stopping") {
		t.Errorf("resumed: %q", got)
	}
}
