package statistics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Newcombe, Two-sided confidence intervals for the single proportion, Statistics in
// Medicine 17 (1998), table I, method 3; and Brown, Cai and DasGupta (2001) for 1 of 1.
func TestWilsonAsPublished(t *testing.T) {
	for _, c := range []struct {
		successes, n int
		low, high    float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{29, 29, 0.8830, 1},
	} {
		low, high := Wilson(c.successes, c.n)
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, published are %.4f to %.4f", c.successes, c.n, low, high, c.low, c.high)
		}
	}
	if low, high := Wilson(0, 0); low != 0 || high != 1 {
		t.Errorf("of nothing: %g to %g", low, high)
	}
}

func TestWilsonHoldsTheRateAndNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "successes")
		more := rapid.IntRange(2, 20).Draw(t, "times")
		low, high := Wilson(k, n)
		p := float64(k) / float64(n)
		if low < 0 || high > 1 || low > p || high < p {
			t.Fatalf("%d of %d: %g to %g", k, n, low, high)
		}
		narrowLow, narrowHigh := Wilson(k*more, n*more)
		if narrowHigh-narrowLow >= high-low {
			t.Fatalf("%d of %d: as wide with %d times as many", k, n, more)
		}
		mirrorLow, mirrorHigh := Wilson(n-k, n)
		if math.Abs(mirrorLow-(1-high)) > 1e-12 || math.Abs(mirrorHigh-(1-low)) > 1e-12 {
			t.Fatalf("%d of %d is not the mirror of %d", k, n, n-k)
		}
	})
}

// As R's quantile(x, p) and numpy.quantile(x, p) say.
func TestQuantilesOfType7(t *testing.T) {
	for _, c := range []struct {
		sorted  []float64
		p, want float64
	}{
		{[]float64{5}, 0.9, 5},
		{[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4}, 0.9, 3.7},
		{[]float64{1, 2, 3, 4}, 0, 1},
		{[]float64{1, 2, 3, 4}, 1, 4},
		{[]float64{15, 20, 35, 40, 50}, 0.4, 29},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9, 9.1},
	} {
		if got := Quantile(c.sorted, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%g of %v: %g, want %g", c.p, c.sorted, got, c.want)
		}
	}
}

func TestQuantilesAreOfWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 200).Draw(t, "values")
		slices.Sort(values)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		low, high := Quantile(values, min(p, q)), Quantile(values, max(p, q))
		if low > high+1e-6 || low < values[0] || high > values[len(values)-1]+1e-6 {
			t.Fatalf("%g and %g of %v", low, high, values)
		}
	})
}
