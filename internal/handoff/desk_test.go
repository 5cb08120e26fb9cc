package handoff_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

var day = time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// parkedRun is a run of which these jobs are with the session, and its directory.
func parkedRun(t testing.TB, requests ...handoff.Request) (owner *ledger.Run, dir string) {
	t.Helper()
	r, err := ledger.Create(t.TempDir(), day)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	var ids []string
	for _, q := range requests {
		ids = append(ids, q.Job)
	}
	must(t, r.Append(ledger.RunStarted(ledger.RunInfo{RunID: r.ID, Dir: r.Dir, Jobs: ids})))
	for _, q := range requests {
		out(t, r, q)
	}
	return r, r.Dir
}

// out hands an attempt out, as the engine does.
func out(t testing.TB, r *ledger.Run, q handoff.Request) {
	t.Helper()
	must(t, r.Append(ledger.Intent(q.Job, q.N, ledger.Route{Runtime: handoff.Runtime})))
	_, lock, err := r.BeginAttempt(q.Job, q.N)
	must(t, err)
	must(t, lock.Close())
	must(t, r.WriteJSON(ledger.JobPath(q.Job, ledger.RequestFile), q))
	must(t, r.Append(ledger.AwaitingSession(q.Job, q.N)))
}

func request(job string, n int, effect string) handoff.Request {
	return handoff.Request{SchemaVersion: 1, Job: job, N: n, Attempt: fmt.Sprintf("%s.a%d.0123abcd", job, n), Effect: effect, TimeoutMs: 60_000}
}

// take is one caller's turn.
func take(t testing.TB, dir, by string, lease time.Duration, now time.Time) *handoff.Away {
	t.Helper()
	return takes(t, dir, handoff.Taker{By: by, Lease: lease, Waits: true}, now)
}

func takes(t testing.TB, dir string, who handoff.Taker, now time.Time) *handoff.Away {
	t.Helper()
	release, err := ledger.LockHandoff(context.Background(), dir)
	must(t, err)
	defer func() { must(t, release()) }()
	run, err := ledger.Open(dir)
	must(t, err)
	defer func() { must(t, run.Close()) }()
	all, err := handoff.Look(run)
	must(t, err)
	taken, err := handoff.Take(run, all, who, now)
	must(t, err)
	return taken
}

func look(t testing.TB, dir string) map[string]handoff.Away {
	t.Helper()
	run, err := ledger.Open(dir)
	must(t, err)
	defer func() { must(t, run.Close()) }()
	all, err := handoff.Look(run)
	must(t, err)
	byJob := map[string]handoff.Away{}
	for _, a := range all {
		byJob[a.Request.Job] = a
	}
	return byJob
}

func TestEachRequestIsHeldByOne(t *testing.T) {
	const jobs, callers = 12, 40
	var requests []handoff.Request
	for i := range jobs {
		requests = append(requests, request(fmt.Sprintf("j%02d", i), 1, "observe"))
	}
	_, dir := parkedRun(t, requests...)
	var mu sync.Mutex
	var wg sync.WaitGroup
	holders := map[string]string{}
	empty := 0
	for i := range callers {
		wg.Go(func() {
			by := fmt.Sprintf("caller %d", i)
			a := take(t, dir, by, 0, day)
			mu.Lock()
			defer mu.Unlock()
			if a == nil {
				empty++
				return
			}
			if other := holders[a.Request.Job]; other != "" {
				t.Errorf("%s and %s both hold job %s", other, by, a.Request.Job)
			}
			holders[a.Request.Job] = by
		})
	}
	wg.Wait()
	if len(holders) != jobs || empty != callers-jobs {
		t.Fatalf("%d jobs were taken and %d callers got none", len(holders), empty)
	}
	for job, a := range look(t, dir) {
		if a.Lease == nil || a.Lease.By != holders[job] {
			t.Errorf("lease of %s: %+v, held by %s", job, a.Lease, holders[job])
		}
	}
}

func TestJobsAreTakenInTheOrderOfTheSpec(t *testing.T) {
	_, dir := parkedRun(t, request("z", 1, "observe"), request("a", 1, "observe"))
	for _, want := range []string{"z", "a"} {
		if got := take(t, dir, "", 0, day); got == nil || got.Request.Job != want {
			t.Fatalf("took %+v, want %s", got, want)
		}
	}
	if got := take(t, dir, "", 0, day); got != nil {
		t.Errorf("took %s a second time", got.Request.Job)
	}
}

func TestALeaseLastsAsAskedElseAsTheJobsTimeout(t *testing.T) {
	for _, c := range []struct {
		timeoutMs   int64
		asked, want time.Duration
	}{
		{60_000, 0, time.Minute},
		{60_000, time.Second, time.Second},
		{0, 0, handoff.DefaultLease},
		{0, time.Hour, time.Hour},
	} {
		q := request("a", 1, "observe")
		q.TimeoutMs = c.timeoutMs
		_, dir := parkedRun(t, q)
		a := take(t, dir, "me", c.asked, day)
		if got := a.Lease.Until.Sub(day); got != c.want || !a.Lease.At.Equal(day) {
			t.Errorf("timeout %d ms, asked %s: lease of %s, want %s", c.timeoutMs, c.asked, got, c.want)
		}
	}
}

// What an observer let lapse is marked for the engine; a writer keeps its job, since
// nothing says that it writes no more.
func TestLapsedLeases(t *testing.T) {
	_, dir := parkedRun(t, request("reads", 1, "observe"), request("writes", 1, "scoped-write"))
	take(t, dir, "one", time.Minute, day)
	take(t, dir, "one", time.Minute, day)
	before := day.Add(time.Minute - time.Nanosecond)
	if got := take(t, dir, "two", 0, before); got != nil {
		t.Fatalf("took %s from somebody who has it", got.Request.Job)
	}
	after := day.Add(time.Minute)
	early := look(t, dir)
	if a := early["reads"]; a.Lease.Lapsed || a.Back() || a.Over(before) || a.Wanted(before) || !a.Wanted(after) {
		t.Errorf("lapsed too early: %+v", a.Lease)
	}
	if early["writes"].Wanted(after) {
		t.Error("a writer's job is for somebody else")
	}
	if at := handoff.Earliest([]handoff.Away{early["reads"], early["writes"]}, before); !at.Equal(after) {
		t.Errorf("the next lease ends at %v", at)
	}
	if at := handoff.Earliest([]handoff.Away{early["reads"]}, after); !at.IsZero() {
		t.Errorf("a lease that is over ends at %v", at)
	}
	if got := take(t, dir, "two", 0, after); got != nil {
		t.Fatalf("took %s before it is a new attempt", got.Request.Job)
	}
	all := look(t, dir)
	reads, writes := all["reads"], all["writes"]
	if !reads.Lease.Lapsed || !reads.Back() || reads.Unproven(after) || !reads.Until().IsZero() {
		t.Errorf("observer: %+v", reads.Lease)
	}
	if writes.Lease.Lapsed || writes.Back() || !writes.Unproven(after) {
		t.Errorf("writer: %+v", writes.Lease)
	}
}

// Only what somebody is to be given is void: one at a time, for a caller that waits and
// finds no job that is free.
func TestNoMoreLapsesThanIsWanted(t *testing.T) {
	late := day.Add(time.Hour)
	lapsed := func(dir string) (all []string) {
		for job, a := range look(t, dir) {
			if a.Lease != nil && a.Lease.Lapsed {
				all = append(all, job)
			}
		}
		slices.Sort(all)
		return all
	}
	_, dir := parkedRun(t, request("a", 1, "observe"), request("b", 1, "observe"), request("c", 1, "observe"))
	take(t, dir, "one", time.Minute, day)
	take(t, dir, "one", time.Minute, day)
	for _, step := range []struct {
		name  string
		waits bool
		got   string // the job that it takes
		void  []string
	}{
		{"one that waits takes the free one", true, "c", nil},
		{"one that only looks", false, "", nil},
		{"one that waits", true, "", []string{"a"}},
		{"the same asks again, or another", true, "", []string{"a"}},
	} {
		got := ""
		if a := takes(t, dir, handoff.Taker{By: "two", Waits: step.waits}, late); a != nil {
			got = a.Request.Job
		}
		if void := lapsed(dir); got != step.got || !slices.Equal(void, step.void) {
			t.Errorf("%s: took %q, and %v lapsed", step.name, got, void)
		}
	}
	if taken, err := handIn(t, dir, "b", answer(request("b", 1, "observe").Attempt), "late\n"); err != nil || taken.Repeated {
		t.Errorf("what comes late of one that nobody was given: %v, %v", taken, err)
	}
}

func TestAnAttemptThatIsBeingReplacedIsNotGivenOut(t *testing.T) {
	r, dir := parkedRun(t, request("a", 1, "observe"))
	must(t, r.WriteJSON(ledger.JobPath("a", ledger.RequestFile), request("a", 2, "observe")))
	if got := take(t, dir, "", 0, day); got != nil {
		t.Errorf("took attempt %d", got.Request.N)
	}
}

func TestTheLockIsWaitedFor(t *testing.T) {
	_, dir := parkedRun(t, request("a", 1, "observe"))
	release, err := ledger.LockHandoff(context.Background(), dir)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ledger.LockHandoff(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	must(t, release())
	release, err = ledger.LockHandoff(context.Background(), dir)
	must(t, err)
	must(t, release())
}
