//go:build linux

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"orchestrate/internal/ledger"
	"orchestrate/internal/ledger/ledgertest"
)

// baddayCommands are the scripts' commands about what must outlive a bad day.
var baddayCommands = map[string]func(*testscript.TestScript, bool, []string){
	"therun":   theRun,
	"remember": remember,
	"kept":     kept,
	"strike":   strike,
	"cuts":     cuts,
	"unboxed":  unboxed,
}

// theRun sets $RUN and $RUNID to the only run of the current folder, and $ENGINE to
// the process that its lock names, if any.
func theRun(ts *testscript.TestScript, _ bool, _ []string) {
	all, err := filepath.Glob(ts.MkAbs("plans/reports/orchestrate-*/" + ledger.RunLockFile))
	ts.Check(err)
	if len(all) != 1 {
		ts.Fatalf("%d runs", len(all))
	}
	dir := filepath.Dir(all[0])
	ts.Setenv("RUN", dir)
	ts.Setenv("RUNID", strings.TrimPrefix(filepath.Base(dir), "orchestrate-"))
	engine, ok, err := ledger.Holder(dir)
	ts.Check(err)
	ts.Setenv("ENGINE", "")
	if ok {
		ts.Setenv("ENGINE", strconv.Itoa(engine.PID))
	}
}

// remember keeps in mind what has succeeded so far in the last run.
func remember(ts *testscript.TestScript, _ bool, _ []string) {
	before, err := successes(ts.Getenv("RUN"))
	ts.Check(err)
	data, err := json.Marshal(before)
	ts.Check(err)
	ts.Check(os.WriteFile(remembered(ts), data, 0o600))
}

func remembered(ts *testscript.TestScript) string {
	return filepath.Join(ts.Getenv("WORK"), ".remembered")
}

// kept demands that nothing of what `remember` saw was lost or done again, and that
// no attempt was made twice: `kept DIR`, where every attempt of a job adds a line to
// the file DIR/job.
func kept(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "kept DIR")
	before := map[string]int{}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(remembered(ts))), &before))
	ts.Check(stillDone(ts.Getenv("RUN"), before, ts.MkAbs(args[0])))
}

// successes are the jobs of a run that have succeeded, by its journal, and with
// which attempt.
func successes(dir string) (map[string]int, error) {
	state, err := stateOf(dir)
	all := map[string]int{}
	for _, j := range state.Jobs {
		if j.Status == ledger.Success {
			all[j.ID] = j.Attempt
		}
	}
	return all, err
}

func stateOf(dir string) (ledger.State, error) {
	run, err := ledger.Open(dir)
	if err != nil {
		return ledger.State{}, err
	}
	return run.State(), run.Close()
}

// stillDone holds a run against what had succeeded before, and the lines that its
// programs left against its attempts.
func stillDone(dir string, before map[string]int, counters string) error {
	now, err := successes(dir)
	if err != nil {
		return err
	}
	for job, attempt := range before {
		if now[job] != attempt {
			return fmt.Errorf("job %s had succeeded with attempt %d; now: %d", job, attempt, now[job])
		}
	}
	state, err := stateOf(dir)
	if err != nil {
		return err
	}
	for _, j := range state.Jobs {
		made, err := lines(filepath.Join(counters, j.ID))
		if err != nil {
			return err
		}
		if made > j.Attempt || made == 0 && j.Status == ledger.Success {
			return fmt.Errorf("job %s is %s with attempt %d, and its program began %d times", j.ID, j.Status, j.Attempt, made)
		}
	}
	return nil
}

func lines(file string) (int, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return bytes.Count(data, []byte("\n")), err
}

// strike runs a spec under every limit from a first to a last one and then resumes
// what is left without it: `strike WHAT FIRST LAST STEP SPEC`, WHAT as for `limit`.
// $ROUND in the spec is the folder of one such round; it has a folder count.
func strike(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 5, 5, "strike WHAT FIRST LAST STEP SPEC")
	var bounds [3]int
	for i := range bounds {
		n, err := strconv.Atoi(args[i+1])
		ts.Check(err)
		bounds[i] = n
	}
	hit := map[string]int{}
	for n := bounds[0]; n <= bounds[1]; n += bounds[2] {
		s := newScene(ts, fmt.Sprintf("%s-%d", args[0], n), args[4], true)
		back := ts.MkAbs(".")
		repo(ts, false, []string{s.project})
		ts.Check(ts.Chdir(back))
		how, err := s.struck(args[0], strconv.Itoa(n))
		if err != nil {
			ts.Fatalf("limit %s %d: %v", args[0], n, err)
		}
		hit[how]++
	}
	ts.Logf("%v", hit)
	if hit[refused] == 0 || hit[resumed] == 0 || hit[unharmed] == 0 {
		ts.Fatalf("a range of limits that does not show every outcome: %v", hit)
	}
}

// How a run under a limit went on.
const (
	unharmed = "unharmed"
	refused  = "refused" // nothing was begun
	resumed  = "resumed"
)

// scene is a folder with a spec, and room for what its programs leave.
type scene struct {
	dir, project string
	env          []string
}

// newScene makes one, with $ROUND in the spec for its folder. boxed: the operator opens the
// folder for counts to its jobs; else they are in no sandbox.
func newScene(ts *testscript.TestScript, name, spec string, boxed bool) scene {
	s := scene{dir: filepath.Join(ts.Getenv("WORK"), name)}
	s.project = filepath.Join(s.dir, "project")
	for _, v := range []string{"PATH", "HOME", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "GORACE"} {
		s.env = append(s.env, v+"="+ts.Getenv(v))
	}
	ts.Check(errors.Join(os.MkdirAll(s.project, 0o755), os.Mkdir(filepath.Join(s.dir, "count"), 0o755)))
	config := filepath.Join(s.dir, "config")
	s.env = append(s.env, "XDG_CONFIG_HOME="+config)
	rule := "{off: true}"
	if boxed {
		rule = fmt.Sprintf("{writable: [%q]}", filepath.Join(s.dir, "count"))
	}
	ruleSandbox(ts, config, rule)
	text := strings.ReplaceAll(ts.ReadFile(spec), "$ROUND", s.dir)
	ts.Check(os.WriteFile(filepath.Join(s.project, "jobs.yaml"), []byte(text), 0o600))
	return s
}

// do runs a program in the scene that must come to an end, and gives its status and
// all that it said.
func (s scene) do(args ...string) (int, string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.project, s.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return -1, err.Error()
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

var collapse = regexp.MustCompile(`(?m)^(panic|fatal error|runtime|goroutine \d+|SIG[A-Z]+): |^goroutine `)

// struck runs the scene's spec under a limit and says how that went on.
func (s scene) struck(what, n string) (string, error) {
	status, said := s.do("anyhow", "limit", what, n, "orchestrate", "run", "jobs.yaml")
	switch {
	case status == stillThere || status < 0 || collapse.MatchString(said):
		return "", fmt.Errorf("exit status %d:\n%s", status, said)
	case status == 0:
		return unharmed, errors.Join(s.whole(nil), s.valid())
	case !strings.Contains(said, "orchestrate: ") && !strings.Contains(said, "\nnext ("):
		return "", fmt.Errorf("exit status %d without saying why:\n%s", status, said)
	}
	dir, err := s.theRun()
	if err != nil {
		return refused, nil //nolint:nilerr // no run directory: there is nothing to resume
	}
	before, err := successes(dir)
	if err != nil {
		return "", fmt.Errorf("after exit status %d:\n%s\n%w", status, said, err)
	}
	status, more := s.do("anyhow", "orchestrate", "resume", "--retry-failed", dir)
	if status != 0 {
		return "", fmt.Errorf("it said:\n%s\nand resume, exit status %d:\n%s", said, status, more)
	}
	if err := errors.Join(s.whole(before), s.valid()); err != nil {
		return "", fmt.Errorf("it said:\n%s\nand resume:\n%s\n%w", said, more, err)
	}
	return resumed, nil
}

// run is the scene's only run that has a record.
func (s scene) theRun() (string, error) {
	all, err := filepath.Glob(filepath.Join(s.project, "plans/reports/orchestrate-*", ledger.JournalFile))
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(file string) bool {
		n, err := lines(file)
		return err == nil && n == 0
	})
	if len(all) != 1 {
		return "", fmt.Errorf("%d runs in %s", len(all), s.project)
	}
	return filepath.Dir(all[0]), nil
}

// whole demands that the scene's run has succeeded and lost nothing.
func (s scene) whole(before map[string]int) error {
	dir, err := s.theRun()
	if err != nil {
		return err
	}
	state, err := stateOf(dir)
	if err != nil {
		return err
	}
	for _, j := range state.Jobs {
		if j.Status != ledger.Success {
			return fmt.Errorf("job %s is %s (%s: %s)", j.ID, j.Status, j.Reason, j.Evidence)
		}
	}
	return stillDone(dir, before, filepath.Join(s.dir, "count"))
}

// valid holds the scene's run against the published schemas.
func (s scene) valid() error {
	dir, err := s.theRun()
	if err != nil {
		return err
	}
	return errors.Join(ledgertest.ValidateRun(dir)...)
}
