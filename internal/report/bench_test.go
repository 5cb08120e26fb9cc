package report

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
)

// thousand is a run of a thousand small jobs in ten stages, and what their folders hold.
// In a wide one every job waits for the whole stage before.
func thousand(wide bool) (Input, pageFiles) {
	end := day.Add(time.Minute)
	in := Input{
		RunDir: "r", SpecPath: "jobs.yaml", Jobs: map[string]ledger.JobStatus{}, Commands: map[string]string{}, After: map[string][]string{},
		State: ledger.State{RunID: "r", StartedAt: day, EndedAt: &end, Verdict: "unreviewed"},
	}
	files, stages := pageFiles{}, make([][]string, 10)
	events := `{"seq":1,"at":"2026-07-30T12:00:07Z","kind":"started","pid":17580}` + "\n" + `{"seq":2,"at":"2026-07-30T12:00:08Z","kind":"exited","text":"exit status 0"}` + "\n"
	for i := range 1000 {
		id, stage := fmt.Sprintf("job-%04d", i), i/100
		stages[stage] = append(stages[stage], id)
		if wide && stage > 0 {
			in.After[id] = stages[stage-1]
		}
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: id, Status: ledger.Success, Attempt: 1})
		in.Jobs[id] = ledger.JobStatus{
			ID: id, Status: ledger.Success, Attempts: 1, Runtime: "exec", RiskTier: "R1", DurationMs: 13, StartedAt: at(float64(i) / 20), EndedAt: at(float64(i)/20 + 1),
			Route: &ledger.Route{
				Runtime: "exec", Why: "a plain program", Risk: "R1", RiskWhy: "task mechanical", Isolation: "none", Access: "shell", Sandbox: "landlock",
				Controls: strings.Fields("cwd timeout capture os-sandbox fingerprint"), Candidates: []ledger.Candidate{{Runtime: "exec", Chosen: true, Reasons: []string{"writes bounded by the engine's sandbox (landlock)"}}},
			},
		}
		in.Commands[id] = "cd . && /bin/true"
		for _, name := range []string{ledger.CommandFile, ledger.StdoutFile, ledger.StderrFile, ledger.OutputFile, ledger.ExitFile, ledger.StatusFile, ledger.EnvironmentFile} {
			files[ledger.JobPath(id, name)] = ""
		}
		files[ledger.JobPath(id, ledger.EventsFile)] = events
	}
	return in, files
}

// BenchmarkThousandJobs is the whole report of a run of a thousand small jobs.
func BenchmarkThousandJobs(b *testing.B) {
	in, _ := thousand(false)
	for b.Loop() {
		r := Build(in)
		if _, err := r.JSON(); err != nil {
			b.Fatal(err)
		}
		r.Markdown()
	}
}

// BenchmarkThousandJobsPage is the page of such a run.
func BenchmarkThousandJobsPage(b *testing.B) {
	for _, wide := range []bool{false, true} {
		in, files := thousand(wide)
		r := Build(in)
		b.Run(map[bool]string{false: "flat", true: "wide"}[wide], func(b *testing.B) {
			for b.Loop() {
				if err := r.WriteHTML(io.Discard, files); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
