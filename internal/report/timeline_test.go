package report

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report/picture"
)

func TestAJobWaitsFromTheEndOfItsLastDependency(t *testing.T) {
	in, _ := pageSample()
	r := Build(in)
	rows := r.course(r.criticalPath())
	want := []string{
		"scout: 0-1 failed, 1-2 queued, 2-6.2 success",
		"write: 6.2-6.5 queued, 6.5-67.5 success",
		"test: 67.5-67.6 queued, 67.6-70 failed",
		"review: blocked", "audit: blocked",
		"arbiter: 71-82 success",
	}
	for i, w := range rows {
		if i >= len(want) || inWords(w) != want[i] {
			t.Errorf("%q", inWords(w))
		}
	}
	if rows[0].Href != "#job-scout" || rows[0].Spans[0].Title != "attempt 1 on claude: failed, network, 0s" {
		t.Errorf("%+v", rows[0])
	}
}

func inWords(w picture.Row) string {
	text := w.ID + ":"
	for i, s := range w.Spans {
		if i > 0 {
			text += ","
		}
		if !s.From.IsZero() {
			text += " " + seconds(s.From) + "-" + seconds(s.To)
		}
		text += " " + s.Class
	}
	return text
}

func seconds(t time.Time) string {
	if t.IsZero() {
		return "now"
	}
	return strconv.FormatFloat(t.Sub(day).Round(time.Millisecond).Seconds(), 'f', -1, 64)
}

func TestTheCriticalPathGoesBackFromTheLastEnd(t *testing.T) {
	job := func(id string, end float64, after ...string) Job {
		return Job{Status: ledger.JobStatus{ID: id, Attempts: 1, Status: ledger.Success, StartedAt: at(end - 1), EndedAt: at(end)}, After: after}
	}
	never := Job{Status: ledger.JobStatus{ID: "never", Status: ledger.Blocked, EndedAt: at(99)}, After: []string{"c"}}
	for name, c := range map[string]struct {
		jobs []Job
		want []string
	}{
		"nothing":       {nil, nil},
		"a diamond":     {[]Job{job("a", 1), job("b", 5, "a"), job("c", 7, "a"), job("d", 9, "b", "c"), job("x", 8)}, []string{"a", "c", "d"}},
		"not begun":     {[]Job{job("c", 7), never}, []string{"c"}},
		"unknown job":   {[]Job{job("c", 7, "gone")}, []string{"c"}},
		"a clock moved": {[]Job{job("a", 9, "b"), job("b", 5, "a")}, []string{"a", "b"}},
	} {
		var got []string
		for id := range (Report{Jobs: c.jobs}).criticalPath() {
			got = append(got, id)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatIsUnderWayHasNoEndYet(t *testing.T) {
	jobs := []Job{
		{Status: ledger.JobStatus{ID: "runs", Attempts: 1, Status: ledger.Running, StartedAt: at(2)}},
		{Status: ledger.JobStatus{ID: "waits", Status: ledger.Queued}, After: []string{"runs"}},
		{Status: ledger.JobStatus{ID: "ready", Status: ledger.Queued}},
	}
	var got []string
	for _, w := range (Report{StartedAt: day, Jobs: jobs}).course(nil) {
		got = append(got, inWords(w))
	}
	if diff := cmp.Diff([]string{"runs: 0-2 queued, 2-now running", "waits: queued", "ready: 0-now queued"}, got); diff != "" {
		t.Error(diff)
	}
}
