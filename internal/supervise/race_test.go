//go:build race

package supervise_test

// raceFactor is how much more memory the race detector is allowed.
const raceFactor = 6
