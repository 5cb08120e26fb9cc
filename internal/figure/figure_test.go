package figure_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"orchestrate/internal/figure"
)

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", time.Microsecond: "1ms", 250 * time.Millisecond: "250ms", 999 * time.Millisecond: "999ms",
		time.Second: "1s", 1500 * time.Millisecond: "1.5s", 4230 * time.Millisecond: "4.2s", 9960 * time.Millisecond: "10s",
		42 * time.Second: "42s", 59700 * time.Millisecond: "1m", time.Minute: "1m", 83 * time.Second: "1m23s",
		10 * time.Minute: "10m", time.Hour - time.Millisecond: "1h", 2 * time.Hour: "2h", 2*time.Hour + 5*time.Minute + 9*time.Second: "2h5m",
		24*time.Hour - time.Second: "1d", 27 * time.Hour: "1d3h",
	} {
		if got := figure.Took(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := figure.TookMs(83_000); got != "1m23s" {
		t.Errorf("of milliseconds: %q", got)
	}
}

// The live view has six columns for it.
func TestTookIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(-1, int64(99*24*time.Hour)).Draw(t, "d"))
		if got := figure.Took(d); len(got) > 6 {
			t.Errorf("%v: %q", d, got)
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files"} {
		if got := figure.Count(n, "file"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
