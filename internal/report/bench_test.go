package report

import (
	"fmt"
	"testing"

	"orchestrate/internal/ledger"
)

// BenchmarkThousandJobs is the whole report of a run of a thousand small jobs.
func BenchmarkThousandJobs(b *testing.B) {
	in := Input{RunDir: "r", SpecPath: "jobs.yaml", Jobs: map[string]ledger.JobStatus{}, Commands: map[string]string{}}
	for i := range 1000 {
		id := fmt.Sprintf("job-%04d", i)
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: id, Status: ledger.Success, Attempt: 1})
		in.Jobs[id] = ledger.JobStatus{ID: id, Status: ledger.Success, Attempts: 1, Runtime: "exec", RiskTier: "R1"}
		in.Commands[id] = "/bin/true"
	}
	for b.Loop() {
		r := Build(in)
		if _, err := r.JSON(); err != nil {
			b.Fatal(err)
		}
		r.Markdown()
	}
}
