//go:build linux

// Bench compares orchestrate with its peers and with the least that the work can
// cost, command beside command in one run. See bench/README.md.
//
//	bench jobs      -bin DIR -work DIR[,DIR] -out FILE   many small jobs: flat, wide, chain
//	bench scale     -bin DIR -work DIR[,DIR] -out FILE   one run of very many jobs
//	bench worker    -bin DIR -work DIR -out FILE         batches of the worker form over a long list and a short one
//	bench one       -bin DIR -work DIR -out FILE         one run of one job
//	bench start     -bin DIR -work DIR -out FILE         start-up
//	bench worktrees -bin DIR -work DIR[,DIR] -out FILE   isolated writers beside bare git
//	bench flood     -bin DIR -work DIR[,DIR] -out FILE   a program that floods its output
//
// The other subcommands are parts that these measure: measure, floor, drop,
// supervisors, trees.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say what to run: jobs, scale, worker, one, start, flood or worktrees")
	}
	parts := map[string]func([]string) error{
		"measure": measureMain, "floor": floorMain, "drop": dropMain, "supervisors": supervisorsMain, "trees": treesMain,
	}
	if part, ok := parts[args[0]]; ok {
		return part(args[1:])
	}
	suites := map[string]func(*bench) ([]table, error){"jobs": jobs, "scale": scale, "worker": workers, "one": one, "start": starts, "flood": floods, "worktrees": worktrees}
	suite, ok := suites[args[0]]
	if !ok {
		return fmt.Errorf("no suite %q: jobs, scale, worker, one, start, flood or worktrees", args[0])
	}
	b, out, err := setUp(args[0], args[1:])
	if err != nil {
		return err
	}
	tables, err := suite(b)
	if err != nil {
		return err
	}
	return write(out, args[0], b, tables)
}

// bench is what every suite gets.
type bench struct {
	self   string   // this program
	bin    string   // folder of orchestrate, orchestrate-supervise and the peers that were built
	places []string // folders to work in, each its own table
	turns  int
	scale  int    // jobs of the large run
	before string // folder of another build, "" none
	slow   bool   // also what takes minutes
}

func setUp(suite string, args []string) (b *bench, out string, err error) {
	b = &bench{}
	fs := flag.NewFlagSet(suite, flag.ContinueOnError)
	work := fs.String("work", "", "folders to work in, comma-separated; never emptied")
	fs.StringVar(&b.bin, "bin", "bin", "folder with the programs")
	fs.StringVar(&out, "out", "", "file for the tables")
	fs.IntVar(&b.turns, "rounds", 5, "rounds; each runs every command once")
	fs.IntVar(&b.scale, "jobs", 10000, "scale, worker: jobs of the large run")
	fs.StringVar(&b.before, "before", "", "one: folder with the programs of another build to compare with")
	fs.BoolVar(&b.slow, "slow", false, "also run what takes minutes (go-task on the wide graph)")
	if err := fs.Parse(args); err != nil {
		return nil, "", err
	}
	if b.self, err = os.Executable(); err != nil {
		return nil, "", err
	}
	if b.bin, err = filepath.Abs(b.bin); err != nil {
		return nil, "", err
	}
	for dir := range strings.SplitSeq(*work, ",") {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, "", err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, "", err
		}
		fresh, err := os.MkdirTemp(dir, suite+"-")
		if err != nil {
			return nil, "", err
		}
		b.places = append(b.places, fresh)
	}
	return b, out, nil
}

// write puts the tables on stdout and into the file.
func write(out, suite string, b *bench, tables []table) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n%s\n", suite, machine(b.turns))
	for _, t := range tables {
		text.WriteString("\n" + t.String())
	}
	if _, err := io.WriteString(os.Stdout, text.String()); err != nil || out == "" {
		return err
	}
	return os.WriteFile(out, []byte(text.String()), 0o644)
}
