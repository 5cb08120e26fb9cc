package picture

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orchestrate/internal/figure"
)

var number = regexp.MustCompile(` (?:x|y|width|height)="([^"]*)"`)

// Whatever the clock did, every figure is one, none is negative, all is inside.
func TestATimelineHoldsAnyTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.IntRange(0, 4).Draw(t, "none") == 0 {
				return time.Time{}
			}
			return time.Unix(rapid.Int64Range(-1e6, 1e6).Draw(t, "s"), rapid.Int64Range(0, 1e9).Draw(t, "ns"))
		})
		var rows []Row
		for range rapid.IntRange(1, 12).Draw(t, "rows") {
			r := Row{ID: "job", OnPath: rapid.Bool().Draw(t, "path")}
			for range rapid.IntRange(0, 4).Draw(t, "spans") {
				r.Spans = append(r.Spans, Span{moment.Draw(t, "from"), moment.Draw(t, "to"), rapid.SampledFrom(states).Draw(t, "class"), "title"})
			}
			rows = append(rows, r)
		}
		svg := string(Timeline(rows, moment.Draw(t, "from"), moment.Draw(t, "to")))
		wellFormed(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Fatalf("no number: %s", svg)
		}
		for _, m := range number.FindAllStringSubmatch(svg, -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < -8 || v > Width+1 {
				t.Fatalf("%s in %s", m[0], svg)
			}
		}
	})
}

func TestARowTellsWhatItCameTo(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(100, 0).Add(time.Duration(s * float64(time.Second))) }
	rows := []Row{
		{ID: "one", OnPath: true, Spans: []Span{{at(0), at(2), "queued", "waits"}, {at(2), at(4), "failed", ""}, {at(4), at(10), "success", "second"}}},
		{ID: "two", Spans: []Span{{at(0), at(3), "queued", ""}, {at(3), time.Time{}, "running", ""}}},
		{ID: "three", Spans: []Span{{at(5), at(4), "failed", "the clock was set back"}}},
		{ID: "four"},
	}
	svg := string(Timeline(rows, at(0), at(10)))
	for _, want := range []string{
		`<title>one: 8s, 2 attempts, on the critical path</title>`,
		`<title>two: 7s, running</title>`,
		`<title>three: 0s, failed</title>`,
		`<title>four: queued</title>`,
		`<rect class="t-success" x="516.0" y="34" width="444.0" height="14" rx="2"><title>second</title></rect>`,
		`<path class="t-queued" d="M220.0 41H368.0"><title>waits</title></path>`,
		">10s</text>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

// Rows that never began, while the end is known: no time is shown, not two thousand years.
func TestATimelineWithoutABeginning(t *testing.T) {
	svg := string(Timeline([]Row{{ID: "one"}}, time.Time{}, time.Unix(100, 0)))
	if strings.Count(svg, `class="tick"`) != 1 {
		t.Error(svg)
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	for _, c := range []struct {
		whole time.Duration
		want  string
	}{
		{0, "0s"},
		{7 * time.Millisecond, "0s|1ms|2ms|3ms|4ms|5ms|6ms|7ms"},
		{3 * time.Second, "0s|500ms|1s|1.5s|2s|2.5s|3s"},
		{11 * time.Minute, "0s|2m|4m|6m|8m|10m"},
		{90 * time.Minute, "0s|15m|30m|45m|1h|1h15m|1h30m"},
		{1<<63 - 1, "0s|16384d|32768d|49152d|65536d|81920d|98304d"},
		{60 * 24 * time.Hour, "0s|8d|16d|24d|32d|40d|48d|56d"},
	} {
		var got []string
		for _, m := range ticks(c.whole) {
			got = append(got, figure.Took(m))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%v: %s", c.whole, strings.Join(got, "|"))
		}
	}
}
