package policy

import (
	"fmt"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// zones knows two places, so that no test depends on the machine's.
func zones(name string) (*time.Location, error) {
	switch name {
	case "UTC":
		return time.UTC, nil
	case "Europe/Berlin":
		return time.FixedZone(name, 3600), nil
	}
	return nil, fmt.Errorf("no zone %s", name)
}

// TestResetTime holds the ways in which services and programs say when a limit ends
// against what they mean. It is 20:00 where the machine is, two hours before UTC.
func TestResetTime(t *testing.T) {
	here := time.FixedZone("here", -2*3600)
	at := time.Date(2026, 2, 20, 20, 0, 30, 0, here)
	const unknown = ""
	for said, want := range map[string]string{
		// a time of day, on this clock
		"You've hit your usage limit. Upgrade to Pro or try again at 4:04 AM.":                                                                                                      "2026-02-21T04:04:00-02:00",
		"You’ve hit your usage limit. Upgrade to Pro (https://example.com/explore/pro), visit https://example.com/settings/usage to purchase more credits or try again at 6:02 AM.": "2026-02-21T06:02:00-02:00",
		"try again at 11:59 PM.":                                  "2026-02-20T23:59:00-02:00",
		"usage limit reached, resets 21:20":                       "2026-02-20T21:20:00-02:00",
		"5-hour limit reached ∙ resets 7pm":                       "2026-02-21T19:00:00-02:00",
		"You've hit your limit · resets at 12am":                  "2026-02-21T00:00:00-02:00",
		"Your limit will reset at 8pm.":                           "2026-02-20T20:00:30-02:00",
		"Your limit will reset at 12:30 p.m.":                     "2026-02-21T12:30:00-02:00",
		"Your limit will reset at 2am (Europe/Berlin).":           "2026-02-21T02:00:00+01:00",
		"resets 10:30pm (UTC)":                                    "2026-02-20T22:30:00Z",
		"resets 9pm (Atlantis/Center)":                            unknown,
		"resets 25:10":                                            unknown,
		"resets 13pm":                                             unknown,
		"try again at Feb 22nd, 2026 9:25 PM.":                    "2026-02-22T21:25:00-02:00",
		"You've hit your weekly limit · resets Feb 28, 5pm (UTC)": "2026-02-28T17:00:00Z",
		"resets Mar 1 at 9am":                                     "2026-03-01T09:00:00-02:00",
		"resets Feb 1, 5pm":                                       unknown, // a year away
		"try again at Feb 22nd, 2016 9:25 PM.":                    unknown,

		// how long it takes
		"Rate limit reached. Please try again in 1.5s.":                   "2026-02-20T20:00:31-02:00",
		"Try again in 3 days 8 minutes.":                                  "2026-02-23T20:08:30-02:00",
		"try again in 2 hours, 5 minutes and 10 seconds":                  "2026-02-20T22:05:40-02:00",
		"Your quota will reset after 3h12m5s.":                            "2026-02-20T23:12:35-02:00",
		"You exceeded your current quota. Please retry in 34.0s.":         "2026-02-20T20:01:04-02:00",
		`{"@type":"x.RetryInfo","retryDelay":"34s"}`:                      "2026-02-20T20:01:04-02:00",
		`{"type":"usage_limit_reached","resets_in_seconds":90}`:           "2026-02-20T20:02:00-02:00",
		"429 Too Many Requests, Retry-After: 120":                         "2026-02-20T20:02:30-02:00",
		"try again in 900 days":                                           unknown,
		`{"type":"usage_limit_reached","resets_at":1771632000}`:           "2026-02-20T22:00:00-02:00",
		"Claude AI usage limit reached|1771632000":                        "2026-02-20T22:00:00-02:00",
		"quota exceeded, resets at 2026-02-21T09:00:00Z":                  "2026-02-21T09:00:00Z",
		`{"type":"usage_limit_reached","resets_at":1571632000}`:           unknown, // past
		"The request was retried 3 times":                                 unknown,
		"try again later":                                                 unknown,
		"You have used 3 of 5 requests in 20 minutes":                     unknown,
		"This request would exceed your rate limit of 50,000 per minute.": unknown,
		"limit of 10 requests reached; retry with fewer than 20":          unknown,
		"try again in 5 meters":                                           unknown,
		"resets 9pm and/or later":                                         "2026-02-20T21:00:00-02:00",
		"resets 23:30 UTC":                                                "2026-02-20T23:30:00Z",
		"":                                                                unknown,
	} {
		got, ok := ResetTime(untrusted.From(said), at, zones)
		if (want != unknown) != ok {
			t.Errorf("%q: %v, %v", said, got, ok)
			continue
		}
		if want == unknown {
			continue
		}
		wanted, err := time.Parse(time.RFC3339, want)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Truncate(time.Second).Equal(wanted) {
			t.Errorf("%q: %v, want %v", said, got, wanted)
		}
	}
}

// The stream's own figure and the words may both be there; the later holds. What
// cannot be meant is no wait at all.
func TestStatedWait(t *testing.T) {
	at := time.Date(2026, 2, 20, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why  runtime.Reason
		ms   int64
		said string
		want time.Duration
	}{
		{runtime.ReasonRateLimit, 0, "slow down", 0},
		{runtime.ReasonRateLimit, 2000, "slow down", 2 * time.Second},
		{runtime.ReasonRateLimit, 2000, "try again in 5s", 5 * time.Second},
		{runtime.ReasonRateLimit, 9000, "try again in 5s", 9 * time.Second},
		{runtime.ReasonRateLimit, 0, "resets 21:20", 80 * time.Minute},
		{runtime.ReasonQuota, 0, "resets 21:20", 80 * time.Minute},
		{runtime.ReasonNetwork, 2000, "resets 21:20", 2 * time.Second},
		{runtime.ReasonCrash, 0, "try again in 5 hours", 0},
		{runtime.ReasonRateLimit, -5, "", 0},
		{runtime.ReasonRateLimit, 1 << 60, "", 0},
	} {
		if got := StatedWait(c.why, runtime.Outcome{RetryAfterMs: c.ms, Evidence: untrusted.From(c.said)}, at, zones); got != c.want {
			t.Errorf("%s, %d ms, %q: %v, want %v", c.why, c.ms, c.said, got, c.want)
		}
	}
}
