package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrate/internal/ledger"
)

var at = time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)

func workspace(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(Path(root)), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

func jobs(n int) []ledger.JobStatus {
	var all []ledger.JobStatus
	for i := range n {
		all = append(all, ledger.JobStatus{ID: fmt.Sprint("job", i), Status: ledger.Success, Attempts: 1})
	}
	return all
}

func TestOnlyDispatchedAndSettledJobsAreRemembered(t *testing.T) {
	all := []ledger.JobStatus{
		{ID: "done", Status: ledger.Success, Attempts: 2, Runtime: "exec", DurationMs: 5},
		{ID: "failed", Status: ledger.Failed, Reason: "timeout", Attempts: 1, TimedOut: true},
		{ID: "blocked", Status: ledger.Blocked},
		{ID: "queued", Status: ledger.Queued, Attempts: 1},
	}
	lines := Lines("r1", "fail", all, at)
	if len(lines) != 2 || lines[0].JobID != "done" || lines[1].JobID != "failed" {
		t.Fatalf("%+v", lines)
	}
	if l := lines[1]; l.RunID != "r1" || l.Verdict != "fail" || !l.TimedOut || l.Usage != nil {
		t.Errorf("%+v", l)
	}
}

func TestRehearsalsAreNotRemembered(t *testing.T) {
	all := jobs(3)
	all[1].Rehearsal = true
	if lines := Lines("r", "rehearsal", all, at); lines != nil {
		t.Errorf("%+v", lines)
	}
	root := workspace(t)
	if err := Append(root, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(Path(root)); !os.IsNotExist(err) {
		t.Errorf("nothing to say, and yet: %v", err)
	}
}

func TestRunsThatEndTogetherDoNotMix(t *testing.T) {
	root := workspace(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := Append(root, Lines(fmt.Sprint("run", i), "pass", jobs(20), at)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(Path(root))
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for line := range bytes.Lines(data) {
		var l Line
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if len(runs) == 0 || runs[len(runs)-1] != l.RunID {
			runs = append(runs, l.RunID)
		}
	}
	if len(runs) != 16 {
		t.Errorf("lines of one run are not together: %v", runs)
	}
}

func TestATornLineSpoilsNoOther(t *testing.T) {
	root := workspace(t)
	if err := os.WriteFile(Path(root), []byte(`{"runId":"dead`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Append(root, Lines("r", "pass", jobs(1), at)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(Path(root))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 3 || !json.Valid([]byte(lines[1])) || !json.Valid([]byte(lines[2])) {
		t.Errorf("%q", lines)
	}
}
