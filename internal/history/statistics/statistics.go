// Package statistics has the two figures that a history is summed up by: how sure a
// rate is, and what most cases stay below. It is pure.
package statistics

import "math"

// z is the 97.5 % point of the normal distribution: intervals are of 95 %.
const z = 1.959963984540054

// Confidence is that of the intervals.
const Confidence = 0.95

// Wilson is the score interval (without continuity correction) of the rate behind
// successes of n cases. Of no cases everything is possible: 0 to 1.
func Wilson(successes, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	size, p := float64(n), float64(successes)/float64(n)
	middle := p + z*z/(2*size)
	half := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	whole := 1 + z*z/size
	// At the ends the interval begins or ends with the rate itself, which rounding
	// must not miss.
	return min(p, max(0, (middle-half)/whole)), max(p, min(1, (middle+half)/whole))
}

// Quantile is the value that the share p (0 to 1) of sorted stays below, between two of
// them by linear interpolation: type 7 of Hyndman and Fan, as R and NumPy do by default.
// sorted is not empty.
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(math.Floor(at))
	if below >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
