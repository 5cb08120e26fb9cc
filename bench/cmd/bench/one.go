//go:build linux

package main

import "path/filepath"

// one measures the smallest run, in which the fixed part is nearly all; with -before
// beside that of another build.
func one(b *bench) ([]table, error) {
	builds := []command{b.orchestrate("orchestrate", flat(1), 2)}
	if b.before != "" {
		dir, err := filepath.Abs(b.before)
		if err != nil {
			return nil, err
		}
		other := b.orchestrate("the build before", flat(1), 2)
		other.argv[0] = filepath.Join(dir, "orchestrate")
		builds = append(builds, other)
	}
	samples, err := b.rounds(b.places[0], builds)
	if err != nil {
		return nil, err
	}
	t := table{
		title: "A run of one job of " + aProgram + ", on " + fileSystem(b.places[0]),
		note:  "Milliseconds. The viewer is the command that was called, with the step between it and the engine; the engine is counted with its supervisor and the program.",
		head:  []string{"program", "CPU, whole", "viewer", "engine and below", "wall", "engine MiB", "CPU x the first"},
	}
	for i := range samples {
		s := &samples[i]
		t.add(s.name, number("%.1f", s.cpuPerUnit()), number("%.1f", s.perUnit(cost.viewer)), number("%.1f", s.perUnit(func(c cost) float64 { return c.Engine.CPU })),
			number("%.1f", s.perUnit(func(c cost) float64 { return c.Wall })), number("%.0f", s.median(func(c cost) float64 { return c.Engine.RSS })), number("%.2f", s.times(&samples[0])))
	}
	return []table{t}, nil
}
