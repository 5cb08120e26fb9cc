package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
)

var at = time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)

// appendVar makes this test program one that ends a run: its number and, after a
// space, the workspace.
const appendVar = "ORCHESTRATE_TEST_APPEND"

func TestMain(m *testing.M) {
	if n, root, ok := strings.Cut(os.Getenv(appendVar), " "); ok {
		if err := AppendOnce(root, Lines("run"+n, "pass", jobs(20), nil, at)); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

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
		{ID: "not-needed", Status: ledger.Skipped, Reason: "not_needed"},
		{ID: "votes", Status: ledger.Success, Decided: "2 of 3 accepted"}, // the engine gathered them
	}
	earlier := map[string][]ledger.JobStatus{"done": {{ID: "done", Runtime: "codex", Model: "m", Status: ledger.Failed, Reason: "rate_limit", DurationMs: 7}}}
	lines := Lines("r1", "fail", all, earlier, at)
	if len(lines) != 2 || lines[0].JobID != "done" || lines[1].JobID != "failed" {
		t.Fatalf("%+v", lines)
	}
	if diff := cmp.Diff([]Attempt{{"codex", "m", ledger.Failed, "rate_limit", 7, nil}}, lines[0].Earlier); diff != "" {
		t.Error(diff)
	}
	if l := lines[1]; l.Earlier == nil || len(l.Earlier) > 0 || l.RunID != "r1" || l.Verdict != "fail" || !l.TimedOut || l.Usage != nil {
		t.Errorf("%+v", l)
	}
}

func TestRehearsalsAreNotRemembered(t *testing.T) {
	all := jobs(3)
	all[1].Rehearsal = true
	if lines := Lines("r", "rehearsal", all, nil, at); lines != nil {
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
			if err := Append(root, Lines(fmt.Sprint("run", i), "pass", jobs(20), nil, at)); err != nil {
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
		if err := Append(root, Lines("r", "pass", jobs(1), nil, at)); err != nil {
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

// lines are what the history holds; a line that is none fails the test.
func lines(t *testing.T, root string) []Line {
	t.Helper()
	data, err := os.ReadFile(Path(root))
	if err != nil {
		t.Fatal(err)
	}
	var all []Line
	for text := range bytes.Lines(data) {
		var l Line
		if err := json.Unmarshal(text, &l); err != nil || text[len(text)-1] != '\n' {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, l)
	}
	return all
}

func TestTwentyProcessesAppendWholeLines(t *testing.T) {
	root := workspace(t)
	var procs []*exec.Cmd
	for i := range 40 { // every run twice, as one that died before it could say that it had ended
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), appendVar+"="+strconv.Itoa(i%20)+" "+root)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		procs = append(procs, cmd)
	}
	for _, cmd := range procs {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	seen := map[key]bool{}
	for _, l := range lines(t, root) {
		if seen[l.key()] {
			t.Errorf("twice: %+v", l)
		}
		seen[l.key()] = true
	}
	if len(seen) != 20*20 {
		t.Errorf("%d lines, want 400", len(seen))
	}
}

func TestOnlyWhatIsNewIsAppendedOnce(t *testing.T) {
	root := workspace(t)
	again := func(verdict string, change func([]ledger.JobStatus)) {
		t.Helper()
		all := jobs(3)
		if change != nil {
			change(all)
		}
		if err := AppendOnce(root, Lines("r", verdict, all, nil, at.Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
	}
	if err := Append(root, Lines("r", "pass", jobs(2), nil, at)); err != nil { // it died before job2
		t.Fatal(err)
	}
	again("pass", nil)
	again("pass", nil)
	if got := lines(t, root); len(got) != 3 || got[2].JobID != "job2" {
		t.Fatalf("after the same run again: %+v", got)
	}
	again("pass", func(all []ledger.JobStatus) { all[1].Attempts = 2 })
	again("pass", func(all []ledger.JobStatus) { all[1].Attempts = 2 })
	again("pass", func(all []ledger.JobStatus) { all[0].Status = ledger.Failed })
	if got := lines(t, root); len(got) != 5 || got[3].Attempts != 2 || got[4].Status != ledger.Failed {
		t.Errorf("after a job ran again, and one ended in another way: %+v", got)
	}
	again("fail", nil) // another verdict is news of every job
	if got := lines(t, root); len(got) != 8 {
		t.Errorf("after another verdict: %d lines", len(got))
	}
	if err := AppendOnce(root, Lines("other", "fail", jobs(1), nil, at)); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, root); len(got) != 9 {
		t.Errorf("after another run: %d lines", len(got))
	}
}

func TestATornLineIsNotTakenForOneThatIsThere(t *testing.T) {
	root := workspace(t)
	if err := Append(root, Lines("r", "pass", jobs(2), nil, at)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(Path(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{1, 20} {
		if err := os.WriteFile(Path(root), data[:len(data)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := AppendOnce(root, Lines("r", "pass", jobs(2), nil, at)); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(Path(root))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for text := range bytes.Lines(after) {
			if json.Valid(text) && bytes.Contains(text, []byte(`"job1"`)) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("cut by %d: job1 is there %d times:\n%s", cut, found, after)
		}
	}
}
