package picture

import "time"

// steps are the distances between ticks that a person can count in.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// mostTicks is how many there may be, so that their words do not meet.
const mostTicks = 8

// ticks are the marks of an axis, from its beginning.
func ticks(whole time.Duration) []time.Duration {
	step := steps[len(steps)-1]
	for _, s := range steps {
		if whole/s <= mostTicks {
			step = s
			break
		}
	}
	for whole/step > mostTicks {
		step *= 2
	}
	var all []time.Duration
	for n := range whole/step + 1 {
		all = append(all, n*step)
	}
	return all
}
