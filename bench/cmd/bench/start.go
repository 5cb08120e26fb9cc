//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"

	"orchestrate/internal/supervise"
	"orchestrate/internal/version"
)

// starts measures start-up. One start is too short for the clock of CPU time, so
// each command is started many times in a row by the floor, whose own cost shows in
// the row of /bin/true.
func starts(b *bench) ([]table, error) {
	const n = 200
	start := func(name string, argv ...string) command {
		return command{name: name, units: n, argv: append([]string{b.self, "floor", "-n", "200", "-j", "1"}, argv...)}
	}
	samples, err := b.rounds(b.places[0], []command{
		start("/bin/true", aProgram),
		start("hello world in Go", filepath.Join(b.bin, "hello")),
		start("orchestrate version", filepath.Join(b.bin, "orchestrate"), "version"),
		start("orchestrate --help", filepath.Join(b.bin, "orchestrate"), "--help"),
		{name: "supervisor: started, greeted, let go", units: n, argv: []string{b.self, "supervisors", "-n", "200", filepath.Join(b.bin, "orchestrate-supervise")}},
		{name: "the same, as a subcommand of orchestrate", units: n, argv: []string{b.self, "supervisors", "-n", "200", filepath.Join(b.bin, "orchestrate"), "supervise"}},
	})
	if err != nil {
		return nil, err
	}
	t := table{
		title: "Start-up",
		note:  "Each row includes what starting a program from Go costs: compare with the first.",
		head:  []string{"command", "CPU ms per start", "wall ms per start", "largest process MiB", "CPU x hello world"},
	}
	hello := find(samples, "hello world in Go")
	for i := range samples {
		s := &samples[i]
		t.add(s.name, number("%.2f", s.cpuPerUnit()), number("%.2f", s.median(func(c cost) float64 { return c.Wall })*1000/n),
			number("%.0f", s.median(func(c cost) float64 { return c.RSS })), number("%.2f", s.times(hello)))
	}
	return []table{t}, nil
}

// supervisorsMain starts supervisors one after another and gives them no job.
func supervisorsMain(args []string) error {
	fs := flag.NewFlagSet("supervisors", flag.ContinueOnError)
	n := fs.Int("n", 1, "how many")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("supervisors -n N PROGRAM…")
	}
	for range *n {
		slot, err := supervise.Start(context.Background(), fs.Args(), version.Version)
		if err != nil {
			return err
		}
		if err := slot.Close(); err != nil {
			return fmt.Errorf("supervisor: %w", err)
		}
	}
	return nil
}
