package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

func started(jobs ...string) Record {
	return RunStarted(RunInfo{RunID: "r", Jobs: jobs})
}

// feed folds records, numbered as the ledger would.
func feed(recs ...Record) (State, error) {
	var f folder
	for i, r := range recs {
		r.SchemaVersion, r.Seq = SchemaVersion, int64(i+1)
		if r.At.IsZero() {
			r.At = day.Add(time.Duration(i) * time.Second)
		}
		if err := f.apply(r); err != nil {
			return f.state, err
		}
	}
	return f.state, nil
}

func TestAJobsLife(t *testing.T) {
	s, err := feed(
		started("a", "b"),
		Intent("a", 1, Route{Runtime: "claude", Model: "m"}),
		Started("a", 1, 10, 5),
		Imported("a", 1, runtime.Event{Seq: 1, Kind: runtime.EventText, Text: untrusted.From("hi")}),
		AttemptEnded(JobStatus{ID: "a", Attempts: 1, Status: Failed, Reason: runtime.ReasonNetwork, ReasonEvidence: untrusted.From("reset")}),
		Intent("a", 2, Route{Runtime: "codex"}),
		Started("a", 2, 11, 6),
		Settle(JobStatus{ID: "a", Attempts: 2, Status: Success, Model: "observed"}),
		settled("b", 0, Blocked, runtime.BlockedNoRoute),
		Arbitrating(),
		Intent(ArbiterJob, 1, Route{Runtime: "codex"}),
		Started(ArbiterJob, 1, 12, 7),
		settled(ArbiterJob, 1, Success, ""),
		RunEnded("fail", 1),
	)
	must(t, err)
	at := func(i int) *time.Time { v := day.Add(time.Duration(i) * time.Second); return &v }
	one := 1
	want := State{
		SchemaVersion: 1, Seq: 14, RunID: "r", Phase: PhaseEnded, StartedAt: day, EndedAt: at(13), Verdict: "fail", ExitStatus: &one,
		Arbiter:   &JobState{ID: ArbiterJob, Status: Success, Attempt: 1, Runtime: "codex", StartedAt: at(11), EndedAt: at(12), Earlier: []Earlier{}},
		Approvals: []Approval{}, Paused: []Paused{},
		Jobs: []JobState{
			{
				ID: "a", Status: Success, Attempt: 2, Runtime: "codex", Model: "observed", StartedAt: at(2), EndedAt: at(7),
				Earlier: []Earlier{{Attempt: 1, Runtime: "claude", Model: "m", Status: Failed, Reason: runtime.ReasonNetwork}},
			},
			{ID: "b", Status: Blocked, Reason: runtime.BlockedNoRoute, EndedAt: at(8), Earlier: []Earlier{}},
		},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

// TestPausedRuntimes: the longer pause holds, a start after its end ends it, and a
// resumed run finds out whether a quota is back.
func TestPausedRuntimes(t *testing.T) {
	at := func(i int) *time.Time { v := day.Add(time.Duration(i) * time.Second); return &v }
	limit := func(rt string, until *time.Time) Record {
		r := Settle(JobStatus{ID: rt, Attempts: 1, Status: Failed, Reason: runtime.ReasonRateLimit})
		r.Next = &Next{Pause: rt, Until: until, Resets: until}
		return r
	}
	begin := []Record{started("a", "b", "c", "d")}
	for _, id := range []string{"a", "b", "c", "d"} {
		begin = append(begin, Intent(id, 1, Route{Runtime: id}))
	}
	again := limit("a", at(90))
	again.Job, again.Settled, again.Attempt = "b", &JobStatus{ID: "b", Attempts: 1, Status: Failed, Reason: runtime.ReasonRateLimit}, 1
	shorter := limit("a", at(20))
	shorter.Job, shorter.Settled, shorter.Attempt = "c", &JobStatus{ID: "c", Attempts: 1, Status: Failed, Reason: runtime.ReasonRateLimit}, 1
	for name, c := range map[string]struct {
		then []Record
		want []Paused
	}{
		"a stated time":  {[]Record{limit("a", at(50))}, []Paused{{"a", runtime.ReasonRateLimit, at(50), at(50)}}},
		"the longer":     {[]Record{limit("a", at(50)), again, shorter}, []Paused{{"a", runtime.ReasonRateLimit, at(90), at(90)}}},
		"for good":       {[]Record{limit("a", nil), again}, []Paused{{"a", runtime.ReasonRateLimit, nil, nil}}},
		"a start after":  {[]Record{limit("a", at(5)), Resumed(false), Requeued("a", "x"), Intent("a", 2, Route{Runtime: "a"})}, []Paused{}},
		"a start before": {[]Record{limit("a", at(99)), Resumed(false), Requeued("a", "x"), Intent("a", 2, Route{Runtime: "a"})}, []Paused{{"a", runtime.ReasonRateLimit, at(99), at(99)}}},
		"resumed":        {[]Record{limit("a", nil), limit("b", at(99)), Resumed(false)}, []Paused{{"b", runtime.ReasonRateLimit, at(99), at(99)}}},
	} {
		s, err := feed(append(slices.Clone(begin), c.then...)...)
		must(t, err)
		if diff := cmp.Diff(c.want, s.Paused); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAResumedRunGoesOnFromWhereItStood(t *testing.T) {
	life := []Record{
		started("a", "b", "c", "d"),
		Intent("a", 1, Route{Runtime: "codex"}),
		Started("a", 1, 10, 5),
		Intent("b", 1, Route{Runtime: "codex"}),
		settled("c", 0, Blocked, runtime.BlockedApproval),
		Arbitrating(),
		Intent(ArbiterJob, 1, Route{Runtime: "codex"}),
		settled(ArbiterJob, 1, Success, ""),
		RunEnded("fail", 1),
		Resumed(false),
	}
	s, err := feed(life...)
	must(t, err)
	if s.Phase != PhaseRunning || s.EndedAt != nil || s.Verdict != "" || s.ExitStatus != nil || s.Resumes != 1 {
		t.Errorf("resumed: %+v", s)
	}
	for job, want := range map[string]Status{"a": Running, "b": Queued, "c": Blocked, "d": Queued, ArbiterJob: Success} {
		if j := s.Job(job); j.Status != want {
			t.Errorf("%s is %s, not %s", job, j.Status, want)
		}
	}
	again := []Record{ // the attempts under way end as any do, then all are done again
		AttemptEnded(JobStatus{ID: "a", Attempts: 1, Status: Interrupted}),
		settled("b", 1, Success, ""),
		Requeued("b", "its input changed"),
		Requeued("c", "approved"),
		Requeued("d", "never mind"),
		Requeued(ArbiterJob, "b changed"),
		Intent("a", 2, Route{Runtime: "exec"}),
		Intent("b", 2, Route{Runtime: "exec"}),
		Intent("c", 1, Route{Runtime: "exec"}),
		Arbitrating(),
		Intent(ArbiterJob, 2, Route{Runtime: "exec"}),
		RunEnded("blocked", 130),
		Resumed(true),
	}
	two, err := feed(append(life, again...)...)
	must(t, err)
	if two.Phase != PhaseRunning || two.Resumes != 2 {
		t.Errorf("resumed again: %+v", two)
	}
	if c := two.Job("c"); c.Status != Queued || c.Attempt != 1 || c.Reason != "" || c.EndedAt != nil {
		t.Errorf("c: %+v", c)
	}
	if a := two.Job("a"); len(a.Earlier) != 1 || a.Earlier[0].Attempt != 1 {
		t.Errorf("a: %+v", a)
	}
	if b := two.Job("b"); b.Attempt != 2 || b.EndedAt != nil {
		t.Errorf("b: %+v", b)
	}
}

var allowed = Given{Approval: Approval{Job: "a", Effect: "scoped-write", Digest: "dd", By: "tty"}, Shown: "all of it"}

// TestWhatWasApprovedIsInTheState: of each life, and it moves no job.
func TestWhatWasApprovedIsInTheState(t *testing.T) {
	s, err := feed(started("a"), Approved(allowed), Resumed(false), Approved(allowed))
	must(t, err)
	if len(s.Approvals) != 2 || s.Approvals[1] != allowed.Approval || s.Job("a").Status != Queued {
		t.Errorf("%+v", s)
	}
}

// expanded is the list of a, found in answers with these digests.
func expanded(sources ...string) Record {
	return ExpandedTo("a", Expanded{Of: "list", Sources: sources, Items: []json.RawMessage{json.RawMessage(`"x"`)}})
}

// TestAListIsSaidAnewWhereItsSourcesChanged: and neither that nor a job that is skipped is
// an attempt.
func TestAListIsSaidAnewWhereItsSourcesChanged(t *testing.T) {
	s, err := feed(
		started("a", "b"), expanded("s"), settled("b", 0, Skipped, runtime.NotNeeded), RunEnded("pass", 0),
		Resumed(false), Requeued("b", "the list has changed"), expanded("t"),
	)
	must(t, err)
	want := []JobState{{ID: "a", Status: Queued, Earlier: []Earlier{}}, {ID: "b", Status: Queued, Earlier: []Earlier{}}}
	if diff := cmp.Diff(want, s.Jobs); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotHappenIsRefused(t *testing.T) {
	intent, run := Intent("a", 1, Route{Runtime: "exec"}), Started("a", 1, 1, 0)
	for name, recs := range map[string][]Record{
		"nothing before the start":       {Noted("", "x")},
		"two starts":                     {started("a"), started("a")},
		"an id twice":                    {started("a", "a")},
		"a job called arbiter":           {started("arbiter")},
		"an unknown job":                 {started("a"), Intent("b", 1, Route{})},
		"a note on an unknown job":       {started("a"), Noted("b", "x")},
		"an empty note":                  {started("a"), Noted("", "")},
		"start without intent":           {started("a"), run},
		"two intents":                    {started("a"), intent, intent},
		"a skipped attempt":              {started("a"), Intent("a", 2, Route{})},
		"two starts of one attempt":      {started("a"), intent, run, run},
		"an event of another attempt":    {started("a"), intent, run, Imported("a", 2, runtime.Event{})},
		"an event of no attempt":         {started("a"), Imported("a", 0, runtime.Event{})},
		"an attempt again once settled":  {started("a"), settled("a", 0, Blocked, ""), intent},
		"settled twice":                  {started("a"), settled("a", 0, Blocked, ""), settled("a", 0, Failed, "")},
		"settled as running":             {started("a"), settled("a", 0, Running, "")},
		"settled as an older attempt":    {started("a"), intent, settled("a", 0, Failed, "")},
		"an end of no attempt":           {started("a"), AttemptEnded(JobStatus{ID: "a", Status: Failed})},
		"arbitrating twice":              {started("a"), Arbitrating(), Arbitrating()},
		"an arbiter that was not asked":  {started("a"), Started(ArbiterJob, 1, 1, 0)},
		"an end without verdict":         {started("a"), RunEnded("", 0)},
		"anything after the end":         {started("a"), RunEnded("pass", 0), Noted("", "x")},
		"an attempt beside its older":    {started("a"), intent, Intent("a", 2, Route{})},
		"a start of an ended attempt":    {started("a"), intent, AttemptEnded(JobStatus{ID: "a", Attempts: 1, Status: Failed}), run},
		"an attempt that ends twice":     {started("a"), intent, AttemptEnded(JobStatus{ID: "a", Attempts: 1, Status: Failed}), AttemptEnded(JobStatus{ID: "a", Attempts: 1, Status: Failed})},
		"resuming before the start":      {Resumed(false)},
		"requeued in a first life":       {started("a"), settled("a", 0, Blocked, ""), Requeued("a", "x")},
		"requeued while it runs":         {started("a"), intent, run, Resumed(false), Requeued("a", "x")},
		"requeued while it is intended":  {started("a"), intent, Resumed(false), Requeued("a", "x")},
		"requeued without a reason":      {started("a"), settled("a", 0, Blocked, ""), Resumed(false), Requeued("a", "")},
		"requeued after the end":         {started("a"), settled("a", 0, Blocked, ""), Resumed(false), RunEnded("pass", 0), Requeued("a", "x")},
		"an arbiter never asked, again":  {started("a"), Resumed(false), Requeued(ArbiterJob, "x")},
		"a note about a stranger thing":  {started("a"), Told("weather", "x")},
		"a job's note about the run":     {started("a"), {Kind: KindNote, Job: "a", About: AboutRun, Text: untrusted.From("x")}},
		"an approval of nothing":         {started("a"), {Kind: KindApproved, Job: "a"}},
		"an approval of another job":     {started("a", "b"), {Kind: KindApproved, Job: "b", Approval: &Given{Approval: allowed.Approval}}},
		"an approval of a stranger":      {started("b"), Approved(allowed)},
		"an approval by nobody":          {started("a"), Approved(Given{Approval: Approval{Job: "a", Digest: "dd"}})},
		"a list of a stranger":           {started("b"), expanded("s")},
		"a list of nobody":               {started("a"), ExpandedTo("a", Expanded{Sources: []string{"s"}})},
		"a list from nowhere":            {started("a"), expanded()},
		"a list twice":                   {started("a"), expanded("s"), expanded("t")},
		"the same list once more":        {started("a"), expanded("s"), Resumed(false), expanded("s")},
		"a list that says nothing":       {started("a"), {Kind: KindExpanded, Job: "a"}},
		"an unknown kind":                {started("a"), {Kind: "surprise"}},
		"an intent that names no route":  {started("a"), {Kind: KindIntent, Job: "a", Attempt: 1}},
		"a run without an id":            {RunStarted(RunInfo{})},
		"an event that carries no event": {started("a"), intent, run, {Kind: KindEvent, Job: "a", Attempt: 1}},
	} {
		before, err := feed(recs[:len(recs)-1]...)
		if err != nil {
			t.Errorf("%s: too early: %v", name, err)
		}
		after, err := feed(recs...)
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: refused, but the state moved:\n%s", name, diff)
		}
	}
}

// TestReplayOfEveryPrefix drives random legal histories through the real files
// and checks that reading any number of whole lines gives the state of that moment.
func TestReplayOfEveryPrefix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, err := Create(t.TempDir(), day)
		must(t, err)
		defer func() { must(t, r.Close()) }()
		must(t, r.Append(RunStarted(RunInfo{RunID: r.ID, Jobs: []string{"a", "b", "c"}})))
		states := []State{{}, r.State()}
		for range rapid.IntRange(0, 25).Draw(rt, "steps") {
			before := r.State()
			if err := r.Note(anyRecord(rt, before)); err != nil {
				if diff := cmp.Diff(before, r.State()); diff != "" {
					rt.Fatalf("a refused record moved the state:\n%s", diff)
				}
				continue
			}
			states = append(states, r.State())
		}
		must(t, r.Append())
		data, err := os.ReadFile(r.Path(JournalFile))
		must(t, err)
		lines := bytes.SplitAfter(data, []byte("\n"))
		cut := rapid.IntRange(0, len(states)-1).Draw(rt, "lines")
		prefix := bytes.Join(lines[:cut], nil)
		if cut < len(states)-1 { // and a torn one
			prefix = append(prefix, lines[cut][:rapid.IntRange(0, len(lines[cut])-1).Draw(rt, "bytes")]...)
		}
		var f folder
		_, err = f.replay("journal", bytes.NewReader(prefix), nil)
		must(t, err)
		if diff := cmp.Diff(states[cut], f.state); diff != "" {
			rt.Fatalf("%d lines:\n%s", cut, diff)
		}
	})
}

// anyRecord is often, not always, one that can happen next.
func anyRecord(rt *rapid.T, s State) Record {
	job := rapid.SampledFrom(append(s.Jobs, JobState{ID: ArbiterJob})).Draw(rt, "job")
	n := job.Attempt
	text := rapid.String().Draw(rt, "text")
	return rapid.SampledFrom([]Record{
		Intent(job.ID, n+1, Route{Runtime: "exec", Model: text}),
		Started(job.ID, n, 7, 9),
		Imported(job.ID, n, runtime.Event{Seq: 1, At: day, Kind: runtime.EventText, Text: untrusted.From(text)}),
		AttemptEnded(JobStatus{ID: job.ID, Attempts: n, Status: Failed, Reason: runtime.ReasonCrash, ReasonEvidence: untrusted.From(text)}),
		settled(job.ID, n, Success, ""),
		settled(job.ID, n, Failed, runtime.ReasonTimeout),
		Noted("", text),
		Told(AboutRun, text),
		Arbitrating(),
		RunEnded("pass", 0),
		Resumed(false),
		Requeued(job.ID, text),
	}).Draw(rt, "record")
}

func TestDamageIsRefusedWithItsPlace(t *testing.T) {
	r := newRun(t, "a")
	must(t, r.Append(Noted("", "one"), Noted("", "two"), Noted("", "three")))
	good, err := os.ReadFile(r.Path(JournalFile))
	must(t, err)
	lines := strings.SplitAfter(string(good), "\n")
	for name, c := range map[string]struct {
		line int
		text string
	}{
		"bad JSON in the middle": {2, lines[0] + "{\n" + lines[2]},
		"bad JSON at the end":    {5, string(good) + "oops\n"},
		"a line that is gone":    {2, lines[0] + lines[2]},
		"a line twice":           {3, lines[0] + lines[1] + lines[1]},
		"an unknown kind":        {2, lines[0] + strings.Replace(lines[1], `"note"`, `"wish"`, 1)},
		"another version":        {1, strings.Replace(lines[0], `"schemaVersion":1`, `"schemaVersion":2`, 1)},
		"an unknown key":         {2, lines[0] + strings.Replace(lines[1], `{`, `{"x":1,`, 1)},
		"two records on a line":  {2, lines[0] + strings.TrimSpace(lines[1]) + lines[2]},
		"an empty line":          {2, lines[0] + "\n"},
		"zeros":                  {2, lines[0] + "\x00\x00\n"},
		"without its beginning":  {1, lines[1]},
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(dir+"/"+JournalFile, []byte(c.text), 0o600))
		_, err := Replay(dir)
		var bad *CorruptError
		if !errors.As(err, &bad) || bad.Line != c.line {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := fmt.Sprintf("%s line %d", bad.Path, c.line); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "start a new run") {
			t.Errorf("%s: message %q", name, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no run directory") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestLongLinesReplay(t *testing.T) {
	r := newRun(t, "a")
	must(t, r.Append(Noted("", strings.Repeat("y", 300<<10)), Noted("", "end")))
	s, err := Replay(r.Dir)
	must(t, err)
	if s.Seq != 3 {
		t.Errorf("seq %d", s.Seq)
	}
}

func TestARecordThatCannotBeEncodedChangesNothing(t *testing.T) {
	r := newRun(t, "a")
	must(t, r.Append(Intent("a", 1, Route{Runtime: "exec"})))
	nan := 0.0
	nan /= nan
	bad := Settle(JobStatus{ID: "a", Attempts: 1, Status: Success, Usage: &runtime.Usage{CostUSD: &nan}})
	var unsupported *json.UnsupportedValueError
	if err := r.Append(bad); !errors.As(err, &unsupported) {
		t.Errorf("append of NaN: %v", err)
	}
	if j := r.State().Job("a"); j.Status != Queued {
		t.Errorf("the job moved: %+v", j)
	}
}

// That a run was asked to stop is known until it has ended or goes on.
func TestStopping(t *testing.T) {
	var f folder
	n := int64(0)
	for _, step := range []struct {
		rec  Record
		says string
	}{
		{RunStarted(RunInfo{RunID: "r", Jobs: []string{"a"}}), ""},
		{Told(AboutStop, "asked to stop"), "asked to stop"},
		{Intent("a", 1, Route{Runtime: "exec"}), "asked to stop"},
		{Resumed(false), ""},
		{Told(AboutStop, "asked again"), "asked again"},
		{RunEnded("blocked", 130), ""},
	} {
		n++
		step.rec.SchemaVersion, step.rec.Seq = SchemaVersion, n
		must(t, f.apply(step.rec))
		if got := f.state.Stopping.Line(0); got != step.says {
			t.Errorf("after %s: %q, want %q", step.rec.Kind, got, step.says)
		}
	}
}
