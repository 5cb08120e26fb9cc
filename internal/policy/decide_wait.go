package policy

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Zones finds a time zone by its name; time.LoadLocation is one.
type Zones func(name string) (*time.Location, error)

// longestWait is the most that is believed: limits by the month are the longest
// that services have.
const longestWait = 32 * 24 * time.Hour

// StatedWait is how long after the attempt's end its runtime is to be left alone, as
// it said itself: as a duration in its stream, or, where it ran into a limit, in words
// in the line that is kept as evidence ("try again at 4:04 AM", "resets 9pm
// (Europe/Berlin)"). A time of day without a zone is one of ended's. 0 = it did not
// say, or nothing believable.
func StatedWait(why runtime.Reason, o runtime.Outcome, ended time.Time, zones Zones) time.Duration {
	wait := time.Duration(o.RetryAfterMs) * time.Millisecond
	if why == runtime.ReasonRateLimit || why == runtime.ReasonQuota {
		if at, ok := ResetTime(o.Evidence, ended, zones); ok {
			wait = max(wait, at.Sub(ended))
		}
	}
	if wait < 0 || wait > longestWait {
		return 0
	}
	return wait
}

// ResetTime is when a limit ends according to what a runtime said at the given time.
// ok is false when it does not say so in any known form, or says something that
// cannot be meant: then it is unknown.
func ResetTime(said untrusted.Text, at time.Time, zones Zones) (reset time.Time, ok bool) {
	for _, read := range []func(string, time.Time, Zones) (time.Time, bool){stampIn, delayIn, dateIn, clockIn} {
		if reset, ok = read(said.Unshown(), at, zones); ok {
			ok = !reset.Before(at) && reset.Sub(at) <= longestWait
			break
		}
	}
	if !ok {
		return time.Time{}, false
	}
	return reset, true
}

// lead is what stands before the words for a time, so that no other number is taken
// for one. Between them are at most a few words without a full stop.
const lead = `(?:resets?|reset_at|resets_at|try again|retry|available again|renews?|until)\b[^.;\n0-9]{0,24}?`

const (
	epoch   = `(?i)(?:resets?_?at"?\s*[:=]\s*"?|limit reached\|)(\d{10})(\d{3})?\b`
	isoTime = `(?i)` + lead + `(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))`
)

// find compiles its pattern when it is needed: limits are rare, and else every start of
// the program would pay for it.
func find(pattern, said string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(said) }

// stampIn reads a point in time that needs no interpretation.
func stampIn(said string, _ time.Time, _ Zones) (time.Time, bool) {
	if m := find(epoch, said); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(seconds, 0), err == nil
	}
	if m := find(isoTime, said); m != nil {
		t, err := time.Parse(time.RFC3339, m[1])
		return t, err == nil
	}
	return time.Time{}, false
}

const (
	inSeconds = `(?i)(?:resets?_in(?:_seconds)?|retry[-_ ]?after(?:_seconds)?)"?\s*[:=]\s*"?(\d{1,7})\b(?:[^0-9a-z.]|$)`
	amount    = `(\d+(?:\.\d+)?)\s*(ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)`
	delay     = `(?i)(?:\b(?:in|after)|retryDelay"?\s*:)\s*"?((?:` + amount + `[\s,]*(?:and\s+)?)*` + amount + `)\b`
	waits     = `(?i)\b(?:resets?|again|retry|retryDelay|available|renews?|wait)\b`
)

// delayIn reads how long it takes: "try again in 3 days 8 minutes", "reset after
// 3h12m5s", `"retryDelay": "34s"`, `"resets_in_seconds": 90`.
func delayIn(said string, at time.Time, _ Zones) (time.Time, bool) {
	if m := find(inSeconds, said); m != nil {
		n, err := strconv.Atoi(m[1])
		return at.Add(time.Duration(n) * time.Second), err == nil
	}
	for _, m := range regexp.MustCompile(delay).FindAllStringSubmatchIndex(said, -1) {
		before := said[max(0, m[0]-40):m[2]]
		if find(waits, before) == nil {
			continue // it is about something else
		}
		var wait float64
		for _, p := range regexp.MustCompile(`(?i)`+amount).FindAllStringSubmatch(said[m[2]:m[3]], -1) {
			n, err := strconv.ParseFloat(p[1], 64)
			if err != nil {
				return time.Time{}, false
			}
			wait += n * float64(unitOf(p[2]))
		}
		if wait > float64(longestWait) {
			return time.Time{}, false
		}
		return at.Add(time.Duration(wait)), true
	}
	return time.Time{}, false
}

func unitOf(word string) time.Duration {
	switch word = strings.ToLower(word); {
	case word == "ms":
		return time.Millisecond
	case word[0] == 'd':
		return 24 * time.Hour
	case word[0] == 'h':
		return time.Hour
	case word[0] == 'm':
		return time.Minute
	}
	return time.Second
}

const (
	hour  = `(\d{1,2})(?::(\d\d))?\s*([ap]\.?m\b)?`
	place = `(?:\s*\(?(UTC|GMT)\b|\s*\(([a-z_]+(?:/[a-z_+-]+)+)\))?`
)

const (
	dated = `(?i)` + lead + `\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?(?:\s+(\d{4}),?)?(?:\s+at)?\s+` + hour + place
	clock = `(?i)` + lead + hour + place
)

// dateIn reads a day and a time: "try again at Feb 22nd, 2026 9:25 PM", "resets Oct
// 28, 5pm (UTC)". Without a year it is the next such day.
func dateIn(said string, at time.Time, zones Zones) (time.Time, bool) {
	m := find(dated, said)
	if m == nil {
		return time.Time{}, false
	}
	zone, h, minute, ok := timeOfDay(m[4:], at, zones)
	if !ok {
		return time.Time{}, false
	}
	month := time.Month(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(m[1]))/3 + 1)
	day, _ := strconv.Atoi(m[2]) // one or two digits
	if m[3] != "" {
		year, _ := strconv.Atoi(m[3]) // four digits
		return time.Date(year, month, day, h, minute, 0, 0, zone), true
	}
	t := time.Date(at.In(zone).Year(), month, day, h, minute, 0, 0, zone)
	if t.Before(at) {
		t = t.AddDate(1, 0, 0)
	}
	return t, true
}

// clockIn reads a time of day: "try again at 4:04 AM", "resets 21:20". It is the next
// such time, or now when that very minute has just begun.
func clockIn(said string, at time.Time, zones Zones) (time.Time, bool) {
	m := find(clock, said)
	if m == nil || m[2] == "" && m[3] == "" { // a bare number is no time of day
		return time.Time{}, false
	}
	zone, h, minute, ok := timeOfDay(m[1:], at, zones)
	if !ok {
		return time.Time{}, false
	}
	local := at.In(zone)
	t := time.Date(local.Year(), local.Month(), local.Day(), h, minute, 0, 0, zone)
	switch late := at.Sub(t); {
	case late >= time.Minute:
		t = t.AddDate(0, 0, 1)
	case late > 0:
		t = at
	}
	return t, true
}

// timeOfDay understands hour, minute, "am" or "pm", and zone. A zone that is not known
// makes the time unknown.
func timeOfDay(m []string, at time.Time, zones Zones) (zone *time.Location, h, minute int, ok bool) {
	h, _ = strconv.Atoi(m[0])      // one or two digits
	minute, _ = strconv.Atoi(m[1]) // two digits, or "" for the full hour
	if half := strings.ToLower(m[2]); half != "" {
		if h < 1 || h > 12 {
			return nil, 0, 0, false
		}
		h %= 12
		if half[0] == 'p' {
			h += 12
		}
	}
	zone = at.Location()
	if name := m[3] + m[4]; name != "" {
		var err error
		if zone, err = zones(name); err != nil {
			return nil, 0, 0, false
		}
	}
	return zone, h, minute, h < 24 && minute < 60
}
