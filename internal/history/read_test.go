package history

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// worked is a line of a job that an agent did.
func worked(run, job string, change ...func(*Line)) Line {
	l := Line{
		SchemaVersion: 1, RunID: run, JobID: job, Runtime: "claude", Model: "m", Task: "implement",
		DurationMs: 1000, Status: ledger.Success, Attempts: 1, Earlier: []Attempt{}, Verdict: "pass", At: at,
	}
	for _, c := range change {
		c(&l)
	}
	return l
}

func failed(why runtime.Reason) func(*Line) {
	return func(l *Line) { l.Status, l.Reason = ledger.Failed, why }
}

func by(name, model string) func(*Line) {
	return func(l *Line) { l.Runtime, l.Model = name, model }
}

func text(t *testing.T, lines ...Line) string {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}

func write(t *testing.T, content string) (root string) {
	t.Helper()
	root = workspace(t)
	if err := os.WriteFile(Path(root), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func jobsOf(t *testing.T, root string, most int64) (ids []string, read Read) {
	t.Helper()
	read, err := Scan(root, most, func(l Line) { ids = append(ids, l.RunID+"/"+l.JobID+" "+l.Verdict) })
	if err != nil {
		t.Fatal(err)
	}
	return ids, read
}

func TestOnlyTheNewestLineOfAJobCounts(t *testing.T) {
	judgedAgain := func(l *Line) { l.Verdict = "fail" }
	root := write(t, text(t, worked("r1", "a"), worked("r1", "b"), worked("r2", "a"), worked("r1", "a", judgedAgain)))
	ids, read := jobsOf(t, root, 0)
	if d := cmp.Diff([]string{"r1/b pass", "r2/a pass", "r1/a fail"}, ids); d != "" {
		t.Error(d)
	}
	if want := (Read{Lines: 4, Jobs: 3, Superseded: 1}); read != want {
		t.Errorf("%+v", read)
	}
}

func TestWhatIsNoLineIsCountedAndSpoilsNothing(t *testing.T) {
	a := text(t, worked("r", "a"))
	next := strings.Replace(text(t, worked("r", "a", by("other", "x"))), `"schemaVersion":1`, `"schemaVersion":2`, 1)
	played := text(t, worked("s", "a", by("standin", "")))
	longLine := `{"schemaVersion":1,"runId":"` + strings.Repeat("x", 3*longest) + `"}` + "\n"
	negative := text(t, worked("r", "b", func(l *Line) { l.DurationMs = -1 }))
	root := write(t, a+next+played+"\n  \n"+longLine+"not json\n[]\n"+negative+text(t, worked("r", "c"))+a[:40])
	ids, read := jobsOf(t, root, 0)
	if d := cmp.Diff([]string{"r/a pass", "r/c pass"}, ids); d != "" {
		t.Error(d)
	}
	if want := (Read{Lines: 9, Jobs: 2, Torn: 5, Unknown: 1, Rehearsals: 1}); read != want {
		t.Errorf("%+v", read)
	}
}

func TestTheLastLineMayLackItsEnd(t *testing.T) {
	root := write(t, strings.TrimSuffix(text(t, worked("r", "a"), worked("r", "b")), "\n"))
	if ids, read := jobsOf(t, root, 0); len(ids) != 2 || read.Torn != 0 {
		t.Errorf("%v, %+v", ids, read)
	}
}

func TestAHistoryThatIsNotThereIsEmpty(t *testing.T) {
	if ids, read := jobsOf(t, t.TempDir(), 0); ids != nil || read != (Read{}) {
		t.Errorf("%v, %+v", ids, read)
	}
}

func TestABoundedReadTakesTheEnd(t *testing.T) {
	var all []Line
	for n := range 100 {
		all = append(all, worked("r", fmt.Sprint("job", n)))
	}
	content := text(t, all...)
	root := write(t, content)
	line := int64(len(content) / 100)
	ids, read := jobsOf(t, root, 10*line)
	if len(ids) < 8 || len(ids) > 10 || ids[len(ids)-1] != "r/job99 pass" || read.Torn != 0 {
		t.Errorf("%v, %+v", ids, read)
	}
	if ids, _ := jobsOf(t, root, int64(len(content))); len(ids) != 100 {
		t.Errorf("%d of 100 within the bound", len(ids))
	}
}

func TestWhatThisProgramWritesIsWhole(t *testing.T) {
	root := workspace(t)
	status := jobs(1)[0]
	status.Runtime, status.Task = "codex", "review"
	if err := Append(root, Lines("r", "pass", []ledger.JobStatus{status}, nil, time.Now())); err != nil {
		t.Fatal(err)
	}
	if ids, read := jobsOf(t, root, 0); len(ids) != 1 || read.Torn != 0 {
		t.Errorf("%v, %+v", ids, read)
	}
}
