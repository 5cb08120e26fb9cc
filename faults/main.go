//go:build linux

// Faults is the kill campaign: it starts runs, kills what belongs to them at every
// failpoint and at other moments, resumes them, and fails if anything was lost, done
// twice, left behind or torn. `make faults` builds what it needs.
//
//	faults -bin DIR -kills 1000 -each 20    the campaign
//	faults again FILE                       one of its rounds again, from its round.json
//
// `faults work` and `faults round` are parts of it that it starts itself. The exit
// status is 3 when rounds are broken and 1 when the campaign could not be done.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"orchestrate/faults/campaign"
)

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "faults:", err)
	if errors.As(err, &brokenError{}) {
		os.Exit(3)
	}
	os.Exit(1)
}

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "work":
			return campaign.Work(args[1:])
		case "round":
			return round(args[1:])
		case "again":
			return again(args[1:])
		}
	}
	var d driver
	f := flag.NewFlagSet("faults", flag.ContinueOnError)
	f.StringVar(&d.bin, "bin", "", "folder of orchestrate and orchestrate-supervise, built with the tag faults")
	f.StringVar(&d.work, "work", os.TempDir(), "where rounds have their folders")
	f.IntVar(&d.kills, "kills", 100, "how many kills there are at least")
	f.IntVar(&d.each, "each", 1, "how often every failpoint is hit at least")
	f.IntVar(&d.workers, "workers", 4, "rounds at the same time")
	f.Uint64Var(&d.seed, "seed", 1, "what the plan of the rounds starts from")
	f.IntVar(&d.patience, "broken", 10, "broken rounds after which it ends early")
	if err := f.Parse(args); err != nil {
		return err
	}
	return d.campaign()
}

// round plays the round in a file; its result goes to standard output.
func round(args []string) error {
	r, err := read(args)
	if err != nil {
		return err
	}
	res, err := campaign.Play(r)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

func read(args []string) (r campaign.Round, err error) {
	if len(args) != 1 {
		return r, errors.New("say which round: the path of a round.json")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// again plays a round once more, in a folder beside its own.
func again(args []string) error {
	r, err := read(args)
	if err != nil {
		return err
	}
	if r.Base, err = os.MkdirTemp(filepath.Dir(r.Base), "again-"); err != nil {
		return err
	}
	res, err := campaign.Play(r)
	if err != nil {
		return err
	}
	fmt.Println(r.Base)
	return json.NewEncoder(os.Stdout).Encode(res)
}
