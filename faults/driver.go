//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"orchestrate/faults/campaign"
)

// setting is what decides how an undisturbed run ends.
type setting struct {
	graph campaign.Graph
	free  bool // without the engine's sandbox
}

func (s setting) String() string {
	if s.free {
		return string(s.graph) + " without sandbox"
	}
	return string(s.graph)
}

func settingOf(r campaign.Round) setting { return setting{r.Graph, r.Free} }

// driver plays rounds until there were enough kills.
type driver struct {
	bin, work            string
	kills, each, workers int
	patience             int
	seed                 uint64

	mu      sync.Mutex
	planner *campaign.Planner
	want    map[setting]string // plain reports of undisturbed runs
	done    int                // kills
	rounds  int
	broken  int
	faults  map[campaign.Kind]int
}

func (d *driver) campaign() error {
	begun := time.Now()
	var err error
	if d.bin, err = filepath.Abs(d.bin); err != nil {
		return err
	}
	if d.work, err = os.MkdirTemp(d.work, "orchestrate-faults-"); err != nil {
		return err
	}
	d.planner, d.faults, d.want = campaign.NewPlanner(d.seed), map[campaign.Kind]int{}, map[setting]string{}
	fmt.Printf("seed %d, rounds in %s\n", d.seed, d.work)
	if err := d.undisturbed(); err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make(chan error, d.workers)
	for range d.workers {
		group.Go(func() { errs <- d.worker() })
	}
	group.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	err = errors.Join(err, d.sum(time.Since(begun)))
	if err == nil {
		return os.RemoveAll(d.work)
	}
	return err
}

// undisturbed runs every graph without a kill, in the sandbox and without it.
func (d *driver) undisturbed() error {
	var group sync.WaitGroup
	errs := make([]error, 2*len(campaign.Graphs))
	for i := range errs {
		group.Go(func() {
			errs[i] = d.compareWith(campaign.Round{Graph: campaign.Graphs[i/2], Free: i%2 == 1, Seed: d.seed})
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// compareWith plays a round without a kill and keeps its report as that of its setting.
func (d *driver) compareWith(r campaign.Round) error {
	res, err := d.play(&r)
	if err != nil {
		return err
	}
	if len(res.Faults) > 0 {
		return fmt.Errorf("the undisturbed run of %s in %s: %v", settingOf(r), r.Base, res.Faults)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want[settingOf(r)] = filepath.Join(r.Base, "plain.json")
	fmt.Printf("undisturbed: %s in %s\n", settingOf(r), res.Took.Round(time.Millisecond))
	return nil
}

func (d *driver) worker() error {
	for {
		r, ok := d.next()
		if !ok {
			return nil
		}
		res, err := d.play(&r)
		if err != nil {
			return err
		}
		if err := d.took(r, res); err != nil {
			return err
		}
	}
}

// next is a round to play, unless there were enough.
func (d *driver) next() (campaign.Round, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken >= d.patience || d.done >= d.kills && d.fewest() >= d.each {
		return campaign.Round{}, false
	}
	r, ok := d.planner.Next()
	r.Want = d.want[settingOf(r)]
	return r, ok
}

// fewest is how often the failpoint that was reached least was reached, those left
// out that no round reaches.
func (d *driver) fewest() int {
	least := d.each
	for name, s := range d.planner.Shares() {
		if name != campaign.AnyTime && !s.GivenUp() {
			least = min(least, s.Hits)
		}
	}
	return least
}

// play has a round played by a process of its own.
func (d *driver) play(r *campaign.Round) (res campaign.Result, err error) {
	r.Bin = d.bin
	if r.Base, err = os.MkdirTemp(d.work, fmt.Sprintf("%04d-", r.Number)); err != nil {
		return res, err
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return res, err
	}
	file := filepath.Join(r.Base, "round.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return res, err
	}
	runtime.LockOSThread() // the death signal belongs to the thread that starts the program
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", "round", file)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	out, err := cmd.Output()
	if err != nil {
		return res, fmt.Errorf("round %s: %w", r.Base, err)
	}
	return res, json.Unmarshal(out, &res)
}

// took counts and tells a round. The folder of a broken one is kept.
func (d *driver) took(r campaign.Round, res campaign.Result) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rounds++
	d.done += len(res.Kills)
	d.planner.Learn(res)
	for _, k := range res.Kills {
		fmt.Printf("round %d %s: %s killed %v at %s, last record %s\n", r.Number, settingOf(r), k.Victim, k.PIDs, k.Moment, k.Last)
	}
	if len(res.Faults) == 0 {
		return os.RemoveAll(r.Base)
	}
	d.broken++
	for _, f := range res.Faults {
		d.faults[f.Kind]++
		fmt.Printf("BROKEN round %d: %s: %s\n", r.Number, f.Kind, f.Text)
	}
	fmt.Printf("  seed %d, kept in %s; again: faults again %s\n", r.Seed, r.Base, filepath.Join(r.Base, "round.json"))
	return nil
}
