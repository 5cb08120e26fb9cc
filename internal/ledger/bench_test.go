//go:build unix

package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/runtime"
)

// transitions appends two records for each of n jobs, in parallel from workers,
// and reports the cost of one.
func transitions(b *testing.B, workers int, add func(*Run, Record) error) {
	const jobs = 10_000
	ids := make([]string, jobs)
	for i := range ids {
		ids[i] = fmt.Sprintf("job-%05d", i)
	}
	for b.Loop() {
		b.StopTimer()
		r := newRun(b, ids...)
		work := make(chan string, jobs)
		for _, id := range ids {
			work <- id
		}
		close(work)
		done := make(chan error, workers)
		b.StartTimer()
		for range workers {
			go func() {
				for id := range work {
					err := add(r, Intent(id, 1, sampleRoute()))
					if err == nil {
						err = add(r, settled(id, 1, Success, ""))
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range workers {
			must(b, <-done)
		}
		must(b, r.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(2*jobs), "us/transition")
}

func BenchmarkTransitionNoSync(b *testing.B) {
	transitions(b, 1, func(r *Run, rec Record) error { return r.Note(rec) })
}

func BenchmarkTransitionSync8(b *testing.B) {
	transitions(b, 8, func(r *Run, rec Record) error { return r.Append(rec) })
}

// BenchmarkJob is all that the ledger does for one small job, eight at a time.
// Its goal is CPU time, which the process's own figure tells.
func BenchmarkJob(b *testing.B) {
	ids := make([]string, b.N)
	for i := range ids {
		ids[i] = fmt.Sprintf("job-%05d", i)
	}
	r := newRun(b, ids...)
	var next atomic.Int64
	var wg sync.WaitGroup
	cpu := cpuTime(b)
	b.ResetTimer()
	for range 8 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := oneJob(r, ids[i-1]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-us/job")
}

func oneJob(r *Run, id string) error {
	_, lock, err := r.BeginAttempt(id, 1)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := r.WriteFile(JobPath(id, CommandFile), []byte("/bin/true\n")); err != nil {
		return err
	}
	if err := r.Append(Intent(id, 1, sampleRoute())); err != nil {
		return err
	}
	if err := r.Note(Started(id, 1, 1, 1)); err != nil {
		return err
	}
	code, route := 0, sampleRoute()
	s := JobStatus{
		SchemaVersion: 1, ID: id, Runtime: "exec", Task: "mechanical", RiskTier: "R1", Status: Success, ExitCode: &code,
		Attempts: 1, Controls: []string{}, Route: &route, Artifacts: []Artifact{}, Checks: []Check{}, Proof: &Proof{Level: "subreaper", Gone: true},
		StartedAt: &day, EndedAt: &day, Usage: &runtime.Usage{},
	}
	if err := r.WriteJSON(JobPath(id, StatusFile), s); err != nil {
		return err
	}
	return r.Append(Settle(s))
}

func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
