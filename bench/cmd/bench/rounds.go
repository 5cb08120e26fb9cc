//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// command is one thing to measure.
type command struct {
	name  string
	units int // jobs or files, for the figure per unit
	argv  []string
	// prepare fills the fresh folder in which the command runs.
	prepare func(dir string) error
	// verify looks whether the command did the work, after it was measured.
	verify func(dir string) error
	run    bool // it has an engine
	once   bool // too slow for more than one round
}

// sample is all rounds of one command.
type sample struct {
	command
	costs []cost
}

// rounds runs every command once per round, in an order that turns by one with
// each round, so that a change of the machine's mood meets all of them. Each run
// has a fresh folder; none is removed, because removing makes some file systems
// slow for minutes.
func (b *bench) rounds(place string, all []command) ([]sample, error) {
	samples := make([]sample, len(all))
	for i, c := range all {
		samples[i].command = c
	}
	for round := range b.turns {
		for k := range samples {
			s := &samples[(k+round)%len(samples)]
			if s.once && round > 0 {
				continue
			}
			c, err := b.once(place, s.command, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			s.costs = append(s.costs, c)
		}
	}
	return samples, nil
}

// once runs a command in a fresh folder.
func (b *bench) once(place string, c command, round int) (cost, error) {
	dir, err := os.MkdirTemp(place, fmt.Sprintf("r%d-", round))
	if err != nil {
		return cost{}, err
	}
	return b.in(dir, c)
}

// in runs a command in a folder, whose parent has the home of all commands.
func (b *bench) in(dir string, c command) (cost, error) {
	home := filepath.Join(filepath.Dir(dir), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return cost{}, err
	}
	if c.prepare != nil {
		if err := c.prepare(dir); err != nil {
			return cost{}, err
		}
	}
	env := []string{"HOME=" + home, "PATH=" + b.bin + ":" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	got, err := measure(b.self, dir, env, c.argv)
	if err != nil {
		return cost{}, err
	}
	if got.Exit != 0 {
		return cost{}, fmt.Errorf("exit status %d in %s", got.Exit, dir)
	}
	if c.verify != nil {
		if err := c.verify(dir); err != nil {
			return cost{}, err
		}
	}
	if c.run {
		err = got.findEngine(dir)
	}
	return got, err
}

// median of one figure of a sample.
func (s *sample) median(figure func(cost) float64) float64 {
	all := make([]float64, 0, len(s.costs))
	for _, c := range s.costs {
		all = append(all, figure(c))
	}
	return middle(all)
}

func middle(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// cpuPerUnit is in milliseconds.
func (s *sample) cpuPerUnit() float64 { return s.perUnit(func(c cost) float64 { return c.CPU }) }

// perUnit is the median of a figure in seconds, per unit and in milliseconds.
func (s *sample) perUnit(figure func(cost) float64) float64 {
	return s.median(figure) * 1000 / float64(s.units)
}

// times is the median over the rounds of s's CPU per unit divided by base's, each
// round against itself.
func (s *sample) times(base *sample) float64 {
	return s.ratio(base, func(c cost) float64 { return c.CPU })
}

// wallTimes is times for the time that passed.
func (s *sample) wallTimes(base *sample) float64 {
	return s.ratio(base, func(c cost) float64 { return c.Wall })
}

func (s *sample) ratio(base *sample, figure func(cost) float64) float64 {
	var all []float64
	for i := range min(len(s.costs), len(base.costs)) {
		all = append(all, figure(s.costs[i])/float64(s.units)/(figure(base.costs[i])/float64(base.units)))
	}
	return middle(all)
}

func find(all []sample, name string) *sample {
	i := slices.IndexFunc(all, func(s sample) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}
