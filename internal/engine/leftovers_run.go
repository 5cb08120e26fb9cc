package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime/environ"
)

// runLeft is a run as its directory tells it.
type runLeft struct {
	y       *yard
	dir     string
	id      string
	owned   bool        // by us
	led     *ledger.Run // nil = it cannot be read
	info    ledger.RunInfo
	trees   []*treeLeft // of its attempts, in order
	unknown string      // why it cannot be read
	live    string      // who may be at work with it
	ends    string      // how that comes to its end
	again   bool        // it can be resumed
	cut     string      // that an integration of it was cut off
	merged  []integrate.Work
	failed  string // the tree of an integration that a check failed in is kept to look at
	begun   ledger.Reclaimed
	locks   []*os.File // of its attempts, while something of it is removed
}

// treeLeft is what one attempt may have left in git, as it was recorded.
type treeLeft struct {
	job       string
	n         int
	status    ledger.JobStatus
	ended     bool
	work      ledger.Work
	dir       string // of its worktree, "" = none on record
	gitDir    string
	branch    string
	base      string
	cwd       string // where it worked
	furnished bool   // its program may have been started

	resumes *ledger.Lineage // the session that it went on with, nil = it began one
	heir    *ledger.Heir    // who went on with its own, and perhaps in its worktree
	passed  bool            // its worktree is another attempt's of the run
}

// ofArbiter reports whether it is the arbiter's. The engine made all that is in its tree:
// the base of the run, and copies of what the run has.
func (t *treeLeft) ofArbiter() bool { return t.job == ledger.ArbiterJob }

// unasked is the attempt of the arbiter for which a tree may have been made before there
// was a record of it.
func (r *runLeft) unasked() *treeLeft {
	t := &treeLeft{job: ledger.ArbiterJob, n: 1, base: r.info.Base}
	for _, o := range r.trees {
		if o.ofArbiter() {
			t.n = max(t.n, o.n+1)
		}
	}
	return t
}

// key tells attempts apart.
func (t *treeLeft) name() string { return ledger.TreeName(t.job, t.n) }

// tip is the commit that its branch was left at.
func (t *treeLeft) tip() string { return cmp.Or(t.work.Commit, t.base) }

// writer reports whether it left or could leave a branch.
func (t *treeLeft) writer() bool { return t.branch != "" || t.work.Commit != "" }

// readRun reads a run's directory; open is how, and owned whether as its owner. What
// cannot be read is remembered as the reason why all of it stays.
func (y *yard) readRun(dir string, open func(string, func(ledger.Record) error) (*ledger.Run, error), owned bool) *runLeft {
	r := &runLeft{y: y, dir: dir, id: strings.TrimPrefix(filepath.Base(dir), "orchestrate-"), owned: owned}
	led, err := open(dir, r.record)
	if err != nil {
		r.unknown = "its run cannot be read: " + err.Error()
		return r
	}
	r.led = led
	r.trees = append(r.trees, r.unasked())
	if err := errors.Join(r.place(), r.lock(), r.integrations(), r.earlier()); err != nil {
		r.unknown = "its run cannot be read: " + err.Error()
	}
	if r.live == "" && led.State().Seq == 0 {
		r.unknown = ledger.ErrNotBegun.Error()
	}
	return r
}

func (r *runLeft) close() error {
	if r.led == nil {
		return nil
	}
	return r.led.Close()
}

// record takes the next record of the journal.
func (r *runLeft) record(rec ledger.Record) error {
	switch rec.Kind {
	case ledger.KindRunStarted:
		r.info = *rec.Run
	case ledger.KindIntent:
		r.trees = append(r.trees, &treeLeft{job: rec.Job, n: rec.Attempt, base: r.info.Base})
	case ledger.KindAttemptEnded, ledger.KindSettled:
		i := slices.IndexFunc(r.trees, func(t *treeLeft) bool { return t.job == rec.Job && t.n == rec.Attempt })
		if i >= 0 && rec.Settled != nil {
			r.trees[i].settled(rec)
		}
	}
	return nil
}

func (t *treeLeft) settled(rec ledger.Record) {
	t.status, t.ended = *rec.Settled, true
	if rec.Work != nil {
		t.work = *rec.Work
		t.base = cmp.Or(t.work.Base, t.base)
	}
	if t.status.Worktree != nil {
		t.dir = *t.status.Worktree
	}
	if t.status.Branch != nil {
		t.branch = *t.status.Branch
	}
}

// place says where the run was started: in another place nothing of it is touched.
func (r *runLeft) place() error {
	for _, t := range r.trees {
		if t.dir != "" && !filepath.IsAbs(t.dir) {
			t.dir = filepath.Join(r.dir, filepath.FromSlash(t.dir))
		}
	}
	was, err := filepath.EvalSymlinks(r.info.Dir)
	here, errHere := filepath.EvalSymlinks(r.dir)
	if r.info.Dir == "" || err == nil && errHere == nil && was == here {
		return nil
	}
	return fmt.Errorf("it was started in %s, and what it left belongs there", r.info.Dir)
}

// lock reads who has the run and its attempts.
func (r *runLeft) lock() error {
	st := r.led.State()
	r.again = st.Phase != ledger.PhaseEnded || slices.ContainsFunc(st.Jobs, func(j ledger.JobState) bool { return j.Status == ledger.Interrupted })
	engine, named, err := ledger.Holder(r.dir)
	if err != nil {
		return err
	}
	if named && !r.owned && engine.Fate() != process.Gone {
		if r.live, r.ends = fmt.Sprintf("process %d on %s carries its run on", engine.PID, engine.Host), "orchestrate cancel "+r.id; st.Phase == ledger.PhaseEnded {
			r.live = fmt.Sprintf("process %d on %s works with its run: an integration is under way, or another clean", engine.PID, engine.Host)
			r.ends = fmt.Sprintf("wait until process %d has ended, or end it with Ctrl-C where it runs", engine.PID)
		}
	}
	for _, t := range r.trees {
		if err := r.attemptLock(t); err != nil {
			return err
		}
	}
	r.passOn()
	return r.integrationLock()
}

// integrationLock takes in who may still be at work for the newest integration, whose
// checks outlive an engine that dies.
func (r *runLeft) integrationLock() error {
	l, err := r.led.AttemptLock(ledger.IntegrationJob)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || r.live != "" || !l.Unended() {
		return err
	}
	who := l.Supervisor
	switch fate := who.Fate(); {
	case fate != process.Gone:
		r.live = fmt.Sprintf("a check of an integration that was cut off may still run: process %d has it", who.PID)
		r.ends = "wait until it has ended, or orchestrate integrate " + r.id + ", which ends it"
	case who.Boot == process.Boot():
		r.live = "the processes of an integration that was cut off are not proven to have ended"
		r.ends = "orchestrate integrate " + r.id + ", or restart the machine"
	}
	return nil
}

// attemptLock takes in what an attempt's lock says, wherever that is by now.
func (r *runLeft) attemptLock(t *treeLeft) error {
	for _, at := range []string{t.job, ledger.JobPath(t.job, ledger.AttemptDir(t.n))} {
		l, err := r.led.AttemptLock(at)
		if errors.Is(err, fs.ErrNotExist) || err == nil && l.Attempt != t.n {
			continue
		}
		if err != nil {
			return err
		}
		if f := l.Furnished; f != nil {
			t.furnished, t.cwd, t.gitDir, t.resumes = true, f.Dir, f.GitDir, f.Resumes
			t.dir, t.branch = cmp.Or(t.dir, f.Tree), cmp.Or(t.branch, f.Branch)
			if t.work.Base == "" && f.Base != "" {
				t.base = f.Base
			}
		}
		alive := l.Unended() && l.Supervisor.Fate() != process.Gone
		unproven := t.status.Proof != nil && !t.status.Proof.Gone && !statedEnd(t.status) && !l.Over && (l.Supervisor == nil || l.Supervisor.Boot == process.Boot())
		if (alive || unproven) && r.live == "" {
			r.ends = "orchestrate cancel " + r.id
		}
		if alive && r.live == "" {
			r.live = fmt.Sprintf("attempt %d of job %s may still run: process %d has it", t.n, t.job, l.Supervisor.PID)
		}
		if unproven && r.live == "" {
			r.live = fmt.Sprintf("the processes of attempt %d of job %s are not proven to have ended", t.n, t.job)
		}
		t.heir = l.Heir
		if err := r.sessionHas(t, at); err != nil {
			return err
		}
	}
	return nil
}

// integrations reads what integrations of the run say that they did.
func (r *runLeft) integrations() error {
	at := []string{ledger.IntegrationJob}
	for n := 1; ; n++ {
		older := ledger.JobPath(ledger.IntegrationJob, ledger.AttemptDir(n))
		if _, err := r.led.OpenDir(older); err != nil {
			break
		}
		at = append(at, older)
	}
	for i, dir := range at {
		data, err := r.led.ReadFile(ledger.JobPath(dir, ledger.IntegrationFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var in integrate.Integration
		if err == nil {
			err = json.Unmarshal(data, &in)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.led.Path(dir, ledger.IntegrationFile), err)
		}
		r.merged = append(r.merged, in.Jobs...)
		refused := slices.ContainsFunc(in.Checks, func(c ledger.Check) bool { return c.Status != "passed" })
		if i == 0 && in.Outcome == integrate.Refused && refused {
			r.failed = "a check of the integration failed in it"
		}
	}
	switch in, there, err := Intended(r.led); {
	case err != nil:
		r.cut = err.Error()
	case there:
		r.cut = integrate.CutOff(in)
	}
	return nil
}

// earlier reads what cleans before have done.
func (r *runLeft) earlier() error {
	data, err := r.led.ReadFile(ledger.ReclaimedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r.begun)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.led.Path(ledger.ReclaimedFile), err)
	}
	return nil
}

// given reports whether something was explicitly given up, now or by a clean that was
// cut off when it was about to remove it.
func (r *runLeft) given(kind, job string, n int) bool {
	return r.y.given(r.id, job) || slices.ContainsFunc(r.begun.Items, func(e ledger.ReclaimedItem) bool {
		return !e.Done && e.Kind == kind && e.Job == job && e.Attempt == n
	})
}

// treeRoots are the folders in which a run's worktrees can be.
func (y *yard) treeRoots(dir string) []string {
	roots := []string{filepath.Join(dir, ledger.WorktreesDir)}
	if root := y.eng.Operator.WorktreeRoot; root != "" {
		if home, ok := strings.CutPrefix(root, "~/"); ok {
			root = filepath.Join(environ.Value(y.eng.Env, "HOME"), home)
		}
		roots = append(roots, filepath.Join(root, filepath.Base(dir)))
	}
	return roots
}
