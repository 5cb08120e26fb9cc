// Package figure writes numbers as a person reads them. Whatever shows a run takes the
// words from here, so that the same run is told in the same words everywhere.
package figure

import (
	"fmt"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// Took says how long something took in at most six characters, as exactly as a person
// needs it: 250ms, 4.2s, 1m23s, 2h, 1d3h.
func Took(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d.Milliseconds(), 1))
	case d < 10*time.Second:
		d = d.Round(time.Second / 10)
	case d < time.Hour:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Minute)
	}
	switch {
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	case d < time.Hour:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return two(d, time.Hour, "h", time.Minute, "m")
	}
	return two(d, day, "d", time.Hour, "h")
}

// TookMs is Took of that many milliseconds.
func TookMs(ms int64) string { return Took(time.Duration(ms) * time.Millisecond) }

// two is a duration in two units, without the second where there is none of it.
func two(d, one time.Duration, oneName string, other time.Duration, otherName string) string {
	text := fmt.Sprintf("%d%s", d/one, oneName)
	if rest := d % one / other; rest > 0 {
		text += fmt.Sprintf("%d%s", rest, otherName)
	}
	return text
}

// Count counts things: 1 file, 2 files.
func Count[N int | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
