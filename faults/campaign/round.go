//go:build linux

package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/ledger"
)

// Moment is when to kill: the nth hit of a failpoint, or, without a name, some time
// after the command was started.
type Moment struct {
	Point string        `json:"point"`
	Nth   int           `json:"nth"`
	After time.Duration `json:"after"`
	// Attempt says that a supervisor's hit counts only if an attempt's lock names it:
	// others probe.
	Attempt bool `json:"attempt"`
}

func (m Moment) String() string {
	if m.Point == "" {
		return "after " + m.After.String()
	}
	return fmt.Sprintf("%s:%d", m.Point, m.Nth)
}

// Shot is a moment and who is killed then.
type Shot struct {
	Moment Moment `json:"moment"`
	Victim Victim `json:"victim"`
}

// Round is what one round does: a command, with a shot each, until no shot is left;
// then resumes that nobody disturbs.
type Round struct {
	Number int        `json:"number"`
	Seed   uint64     `json:"seed"`
	Graph  Graph      `json:"graph"`
	Given  *Workspace `json:"given,omitempty"` // instead of a graph's
	Shots  []Shot     `json:"shots"`           // the first at the run, the others at resumes
	Rivals bool       `json:"rivals"`          // the last resume is two at once
	Free   bool       `json:"free"`            // without the engine's sandbox
	Base   string     `json:"base"`            // the round's folder
	Bin    string     `json:"bin"`             // where the programs are
	Want   string     `json:"want"`            // the undisturbed run's plain report, a file; "" = this is that run
}

// Kill is one that was done.
type Kill struct {
	Moment Moment `json:"moment"`
	Victim Victim `json:"victim"`
	PIDs   []int  `json:"pids"`
	Last   string `json:"last"` // the journal's last record then
}

// Result is what a round found.
type Result struct {
	Kills   []Kill        `json:"kills"`
	Missed  []Moment      `json:"missed"` // the command ended before
	Took    time.Duration `json:"took"`
	Adopted []Held        `json:"adopted"` // ran on when only the engine was killed
	Faults  []Fault       `json:"faults"`
}

// limits bound what a fault could make endless.
const (
	commandLimit = 3 * time.Minute
	goneLimit    = 15 * time.Second
	resumeLimit  = 6
)

// play is one round under way.
type play struct {
	Round
	Result
	Workspace
	log *os.File
}

// Play does a round. It must be the only thing that its process does: whatever the
// run leaves behind becomes a child of this process and is found by that.
func Play(r Round) (res Result, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return res, err
	}
	go endWithAll()
	self, err := os.Executable()
	if err != nil {
		return res, err
	}
	p := &play{Round: r}
	if r.Given != nil {
		p.Workspace = *r.Given
	} else if p.Workspace, err = r.Graph.furnish(r.Base, self, r.Free); err != nil {
		return res, err
	}
	if p.log, err = os.Create(filepath.Join(r.Base, "log.txt")); err != nil {
		return res, err
	}
	defer p.log.Close() // it is read by people, when something else is wrong
	begun := time.Now()
	if err := p.shots(); err != nil {
		p.fault(Stuck, err.Error())
	} else {
		p.goOn()
	}
	p.nobodyLeft()
	p.judge()
	p.Took = time.Since(begun)
	return p.Result, nil
}

// endWithAll ends the round when it is asked to, and with it all of its processes:
// one that has stopped at a failpoint would stay for ever.
func endWithAll() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, unix.SIGTERM)
	<-asked
	for all := Below(os.Getpid()); len(all) > 0; all = Below(os.Getpid()) {
		kill(all)
	}
	os.Exit(1)
}

func (p *play) fault(k Kind, text string) { p.Faults = append(p.Faults, Fault{k, text}) }

// shots does the commands that are killed.
func (p *play) shots() error {
	for _, shot := range p.Shots {
		if err := p.shoot(p.next(), shot); err != nil {
			return err
		}
	}
	return nil
}

// dir is the run's directory, "" as long as there is none in which it has started.
func (p *play) dir() string {
	for _, dir := range RunDirs(p.Dir) {
		if all, err := Journal(dir); err == nil && len(all) > 0 {
			return dir
		}
	}
	return ""
}

// next is the command with which to go on: a run that has not begun is started
// again.
func (p *play) next() []string {
	dir := p.dir()
	if dir == "" {
		return []string{"run", p.Spec}
	}
	return []string{"resume", dir}
}

// shoot starts a command and kills at the shot's moment.
func (p *play) shoot(args []string, shot Shot) error {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	hits := filepath.Join(p.Base, fmt.Sprintf("hits-%d", len(p.Kills)+len(p.Missed)))
	if err := os.Mkdir(hits, 0o700); err != nil {
		return err
	}
	before := p.intents()
	cmd := p.start(ctx, args, []string{
		"ORCHESTRATE_FAILPOINT=" + fmt.Sprintf("%s:%d", shot.Moment.Point, shot.Moment.Nth), "ORCHESTRATE_FAILPOINT_DIR=" + hits,
	})
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	var failed error
	go func() {
		failed = cmd.Wait()
		close(ended)
	}()
	watch := &stops{dir: hits, seen: map[string]bool{}}
	at, hit := p.wait(watch, shot.Moment, before, ended)
	if hit {
		p.strike(shot, at, before)
	} else {
		p.Missed = append(p.Missed, shot.Moment)
	}
	// Who stopped and was not killed goes on, now and until the round is over.
	go watch.release(context.Background())
	if at != nil {
		at.signal(unix.SIGCONT)
	}
	<-ended
	reap(0)
	fmt.Fprintf(p.log, "-- %v\n", failed)
	if ctx.Err() != nil {
		return fmt.Errorf("orchestrate %s did not end in %s after it was shot at %s (%s)", strings.Join(args, " "), commandLimit, shot.Moment, shot.Victim)
	}
	return nil
}

// intents is how many attempts the run's journal knows of.
func (p *play) intents() (n int) {
	all, _ := Journal(p.dir()) // if there is none, nothing was begun
	for _, r := range all {
		if r.Kind == ledger.KindIntent {
			n++
		}
	}
	return n
}

// wait waits for the moment. at is who has stopped, nil at any other moment. Until the
// command begins an attempt (before is how many there were) its supervisors do no job:
// they hold the self-test of the sandbox.
func (p *play) wait(watch *stops, m Moment, before int, ended <-chan struct{}) (at *Proc, hit bool) {
	for m.Point != "" {
		proc, ok := watch.next(ended)
		if !ok {
			return nil, false
		}
		testing := proc.Supervisor() && p.intents() == before
		if !testing && (!m.Attempt || p.ofAttempt(proc)) {
			return &proc, true
		}
		proc.signal(unix.SIGCONT)
	}
	select {
	case <-ended:
		return nil, false
	case <-time.After(m.After):
		return nil, true
	}
}

func (p *play) ofAttempt(proc Proc) bool {
	return slices.ContainsFunc(Attempts(p.dir()), func(h Held) bool { return h.Supervisor != nil && h.Supervisor.PID == proc.PID })
}

// strike kills and keeps what there was to see just before.
func (p *play) strike(shot Shot, at *Proc, before int) {
	dir := p.dir()
	last, ran := "no run yet", []Held(nil)
	if dir != "" {
		last, ran = lastRecord(dir), running(dir)
	} else if all := RunDirs(p.Dir); len(all) > 0 {
		dir = all[len(all)-1]
	}
	victim := shot.Victim
	if victim == Supervisor && p.intents() == before {
		victim = EngineOnly // a run whose self-test dies has no sandbox, and says so
	}
	killed := kill(victim.victims(dir, at))
	if len(killed) == 0 { // no supervisor is there yet, or any more
		victim = EngineOnly
		killed = kill(victim.victims(dir, at))
	}
	if len(killed) == 0 {
		p.Missed = append(p.Missed, shot.Moment)
		return
	}
	if victim == EngineOnly {
		p.Adopted = append(p.Adopted, ran...)
	} else {
		p.Adopted = nil // whoever was adopted before may be dead now
	}
	k := Kill{shot.Moment, victim, killed, last}
	p.Kills = append(p.Kills, k)
	fmt.Fprintf(p.log, "-- killed %v: %s at %s, last record %s\n", killed, k.Victim, k.Moment, last)
}

func (p *play) start(ctx context.Context, args, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.Bin, "orchestrate"), args...)
	cmd.Dir, cmd.Env = p.Dir, slices.Concat(p.Env, env)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	fmt.Fprintf(p.log, "-- orchestrate %s %v\n", strings.Join(args, " "), env)
	return cmd
}

// command runs a command that nobody disturbs.
func (p *play) command(args, env []string) (exit int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	err = p.start(ctx, args, env).Run()
	reap(0)
	fmt.Fprintf(p.log, "-- %v\n", err)
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("orchestrate %s did not end in %s", strings.Join(args, " "), commandLimit)
	case errors.As(err, &status):
		return status.ExitCode(), nil
	}
	return 0, err
}

// goOn resumes until the run has ended well.
func (p *play) goOn() {
	for range resumeLimit {
		args := p.next()
		if p.Rivals && args[0] == "resume" {
			p.rivals(args)
		}
		exit, err := p.command(args, nil)
		if err != nil {
			p.fault(Stuck, err.Error())
			return
		}
		if exit == 0 {
			return
		}
	}
	p.fault(Stuck, fmt.Sprintf("no resume of %d ended well; the last commands are in log.txt", resumeLimit))
}

// rivals resumes twice at once: one of the two must go away.
func (p *play) rivals(args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	a, b := p.start(ctx, args, nil), p.start(ctx, args, nil)
	if err := errors.Join(a.Start(), b.Start()); err != nil {
		p.fault(Stuck, err.Error())
		return
	}
	first, second := a.Wait(), b.Wait()
	fmt.Fprintf(p.log, "-- of two at once: %v, %v\n", first, second)
}

// nobodyLeft waits a little for who is on the way out, and finds who is not.
func (p *play) nobodyLeft() {
	end := time.Now().Add(goneLimit)
	for {
		reap(0)
		left := Below(os.Getpid())
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			for _, proc := range left {
				p.fault(Orphan, "a process is left: "+proc.String())
				proc.signal(unix.SIGKILL)
			}
			return
		}
		time.Sleep(10 * pause)
	}
}

// judge holds what is there now against what must be.
func (p *play) judge() {
	dir := p.dir()
	if dir == "" {
		p.fault(Lost, "there is no run")
		return
	}
	all, err := Journal(dir)
	if err != nil {
		p.fault(Torn, err.Error())
		return
	}
	tally, err := ReadTally(p.Tally)
	if err != nil {
		p.fault(Torn, err.Error())
	}
	held, err := allAttempts(dir)
	if err != nil {
		p.fault(Torn, err.Error())
	}
	p.Faults = append(p.Faults, judgeTally(tally, held)...)
	p.Faults = append(p.Faults, judgeJournal(all, p.Jobs)...)
	p.Faults = append(p.Faults, judgeAdoption(all, p.Adopted)...)
	p.Faults = append(p.Faults, judgeFiles(p.Dir, dir, p.Jobs, p.History)...)
	p.Faults = append(p.Faults, judgeCgroups(held)...)
	p.Faults = append(p.Faults, judgePrivate(held)...)
	if p.Boxed != nil {
		p.Faults = append(p.Faults, judgeBoxes(held, *p.Boxed)...)
	}
	if len(p.Faults) > 0 {
		return // its report differs, of course
	}
	if err := p.compare(dir); err != nil {
		p.fault(Differs, err.Error())
	}
}

// compare holds the report against the undisturbed run's, or keeps it as that.
func (p *play) compare(dir string) error {
	got, err := Plain(dir, p.Base)
	if err != nil {
		return err
	}
	if p.Want == "" {
		data, err := json.MarshalIndent(got, "", " ")
		return errors.Join(err, os.WriteFile(filepath.Join(p.Base, "plain.json"), data, 0o600))
	}
	data, err := os.ReadFile(p.Want)
	if err != nil {
		return err
	}
	var want any
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&want); err != nil {
		return err
	}
	forgetPlaces(want, got)
	for _, d := range differences("", want, got) {
		p.fault(Differs, d)
	}
	return nil
}
