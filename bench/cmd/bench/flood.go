//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// floodSize is how much the program writes that floods its output.
const floodSize = 1 << 30

var flood = []string{"head", "-c", fmt.Sprint(floodSize), "/dev/zero"}

// floods measures a program that floods its output, beside the least that bounds a
// stream: keep the first MiB in a file, drop the rest.
func floods(b *bench) (tables []table, err error) {
	spec := fmt.Sprintf("version: 1\narbiter: {mode: checks-only}\njobs:\n"+
		"- {id: flood, runtime: exec, effect: observe, command: [head, -c, '%d', /dev/zero], timeout: 5m, expected_output: nothing}\n", floodSize)
	for _, place := range b.places {
		all := []command{
			{name: "floor: keep 1 MiB, drop the rest", units: 1, argv: append([]string{b.self, "drop"}, flood...)},
			{
				name: "orchestrate, whole run", units: 1, argv: []string{filepath.Join(b.bin, "orchestrate"), "run", "spec.yaml"}, run: true,
				prepare: file("spec.yaml", spec), verify: verifyFlood,
			},
		}
		if installed("parallel") {
			all = append(all, command{
				name: "parallel --results, keeps all of it", units: 1,
				argv: append(append([]string{"parallel", "--will-cite", "-n0", "--results", "res"}, flood...), ":::", "1"),
			})
		}
		samples, err := b.rounds(place, all)
		if err != nil {
			return nil, err
		}
		tables = append(tables, floodTable(samples, fileSystem(place)))
	}
	return tables, nil
}

func floodTable(samples []sample, where string) table {
	t := table{
		title: "1 GiB into the bound, on " + where,
		note:  "Throughput by wall time and CPU seconds of the whole tree, the writing program included; the ratio is of throughput, round by round.",
		head:  []string{"command", "MB/s", "CPU s", "largest process MiB", "throughput x floor"},
	}
	for i := range samples {
		s := &samples[i]
		var ratios []float64
		for k := range s.costs {
			ratios = append(ratios, samples[0].costs[k].Wall/s.costs[k].Wall)
		}
		t.add(s.name, number("%.0f", floodSize/1e6/s.median(func(c cost) float64 { return c.Wall })), number("%.2f", s.median(func(c cost) float64 { return c.CPU })),
			number("%.0f", s.median(func(c cost) float64 { return c.RSS })), number("%.2f", middle(ratios)))
	}
	return t
}

// verifyFlood expects the bound to be kept, and the evidence to say so.
func verifyFlood(dir string) error {
	if err := verifyRun(dir, 1); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "plans/reports/orchestrate-*/flood/stdout.txt"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("no stdout.txt in %s", dir)
	}
	st, err := os.Stat(found[0])
	if err == nil && (st.Size() < 1<<19 || st.Size() > 1<<20+1<<10) {
		err = fmt.Errorf("%s has %d bytes: the bound is 1 MiB", found[0], st.Size())
	}
	return err
}

// dropMain is that floor.
func dropMain(args []string) error {
	if len(args) == 0 {
		return errors.New("drop COMMAND…")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout = w
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 1<<20); err != nil {
		return err
	}
	kept, err := os.Create("kept")
	if err != nil {
		return err
	}
	defer kept.Close()
	if _, err := io.CopyN(kept, r, 1<<20); err != nil {
		return err
	}
	if _, err := io.CopyBuffer(dropped{}, struct{ io.Reader }{r}, make([]byte, 256<<10)); err != nil {
		return err
	}
	return cmd.Wait()
}

// dropped takes everything. It is not io.Discard, which would read in chunks of
// its own size.
type dropped struct{}

func (dropped) Write(p []byte) (int, error) { return len(p), nil }
