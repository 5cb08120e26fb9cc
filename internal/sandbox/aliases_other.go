//go:build !linux

package sandbox

type mount struct{}

func mounts() []mount { return nil }

func aliases(string, []mount) []string { return nil }
