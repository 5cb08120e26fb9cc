package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/dispatch"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/gate"
	"orchestrate/internal/graph"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/standin/script"
	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
	"orchestrate/internal/spec"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// run is one run under way. What several attempts share is guarded by mu.
type run struct {
	eng          *Engine
	plan         *Plan
	led          *ledger.Run
	slots        *slots
	tracker      *graph.Tracker
	secrets      []string
	allowed      []string
	redact       *secret.Redactor
	detect       *detect.Detector
	treeRoot     string // where worktrees go
	branchPrefix string
	script       script.Script // the stand-in's, for scripted check results
	wall         context.Context
	before       *workspace.Fingerprint // of the shared checkout when the run started; nil = interrupted before that
	furnishing   sync.RWMutex           // held for reading while a private folder is made, so that nobody takes their place away

	mu             sync.Mutex
	jobs           map[string]*jobRun
	profiles       map[string]runtime.Profile
	failures       map[string]int // failed attempts per runtime
	spent          spending
	begun          int // attempts begun so far, to tell whether one ran alone
	active         int
	attempts       map[string]int         // made so far, per job
	away           map[string]*attempt    // with the hosting session
	handedOut      map[string]bool        // jobs that have begun and are the hosting session's
	carried        map[string]*attempt    // begun by an earlier engine and not settled; once dispatch runs only those of the session are taken out
	kept           *earlierAnswer         // what an arbiter before was shown and answered; nil = nothing that could be kept
	given          []ledger.Given         // approvals, those of the engines before too
	warn           []string               // what a resumed run could not read of the engine before
	unwatched      *workspace.Fingerprint // of the checkout when the engine before saw it last
	unwatchedSince time.Time
	lists          map[string]*listed         // that jobs make for others, by whose foreach it is; the dispatch loop's own
	due            map[string]time.Time       // jobs that are held back from before
	paused         map[string]time.Time       // runtimes that get no starts before that; zero = for the rest of the run
	starts         map[string]time.Time       // before when a runtime with shared files must not start another process
	unproven       map[string]supervise.Proof // jobs of which an earlier attempt may still run
	resumed        bool
	continues      bool               // no person resumed it
	noted          []string           // by the engines before, where no person resumed it
	unbroken       bool               // the engine before left it in order, and nobody but the hosting session acted since
	worked         time.Duration      // by the engines before, of the wall budget
	stopping       bool               // what an engine before left is only ended
	leaving        bool               // this process ends; what runs goes on
	gone           chan struct{}      // never closed: where those wait whom the end of the process finds
	killed         chan struct{}      // closed when what runs gets no more grace
	atWork         map[*attempt]bool  // attempts under way
	settledTrees   []*settledTree     // of writers that ended under this engine
	arbiters       []ledger.JobStatus // one per attempt of the arbiter
	arbiterCut     int                // its attempts that were cut off under this engine
	arbiterFailed  int                // its attempts that failed since it was last put back, not counting answers without the form asked for
	arbiterWrote   []string           // of the shared checkout
	review         *review            // the arbiter's tree, nil = it has none
	arbiterNext    string             // what a person can do so that an arbiter can be asked
	unasked        string             // why the budget allowed none, "" = it did
	outside        []string           // what happened to the run, for arbiter and report
	checkout       []string           // what changed in the shared checkout and a person must look at
	askedWith      []string           // what of outside an arbiter under an engine before was shown, nil = none was asked
	broken         error              // the ledger failed: the run cannot go on
	stop           context.CancelFunc

	person func(context.Context, Question) Answer // nil = nobody can be asked anything
}

// jobRun is what is remembered of a job from attempt to attempt.
type jobRun struct {
	planned  *Planned
	route    ledger.Route
	commit   string             // snapshot of its newest attempt
	base     string             // commit that its newest attempt's own tree started from, "" = it had none
	status   *ledger.JobStatus  // of facts; nil = it has not settled, nor had an attempt
	facts    *arbiter.JobFacts  // where it stands, status too; nil where status is, until layer 1
	work     *ledger.Work       // what was recorded of it when it was settled under this engine
	patch    *workspace.Patch   // of its newest attempt; nil when none was taken
	denied   []untrusted.Text   // what the sandbox refused its newest attempt
	masked   bool               // its patch on disk is a redacted copy
	maskedIn map[int]bool       // attempts whose patch on disk is a redacted copy
	again    string             // why a success of it is done again
	shared   []string           // paths that its attempts changed in the shared checkout, as a writer may
	dir      string             // where its newest attempt worked
	block    *route.Block       // why no route was found before anything began; nil = one was
	next     string             // what a person can do about what blocks it, "" = see nextStepOf
	judges   []string           // changed files that judge the work
	approved gate.Scope         // what a person approved under this engine, nil = nothing
	refused  bool               // a person was asked and did not approve it
	ended    []ledger.JobStatus // its attempts, oldest first
	ran      []string           // families of the runtimes that attempts ran on, "" = unknown
	tries    int                // on this route
	moves    int                // promotions
	recalled bool               // settled under an engine before
	findings []ledger.Finding   // of layer 1, then
	stale    string             // why its success does not hold any more
	cutOff   int                // attempts whose supervisor died under this engine
	reprobed map[string]bool    // runtimes that were asked again after a failure of this job
	tried    []route.Tried      // routes that failed
	redone   bool               // of an engine before: it did not succeed, and is to be done again
	needed   bool               // its turn has come, and somebody has to do it
}

// Run carries out what was read. ctx ends when the person interrupts: what runs is
// stopped politely, and the run can be resumed.
func (e *Engine) Run(ctx context.Context, p *Plan, obs Observer, ctl Controls) (res Result, err error) {
	r, err := e.newRun(ctx, p)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, r.slots.close()) }()
	if r.led, err = p.createRun(e.Now()); err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, r.led.Close()) }()
	failpoint.Hit(failpoint.RunCreated)
	defer r.control(ctl)()
	if err := r.open(obs); err != nil {
		return res, err
	}
	return r.carryThrough(ctx, obs)
}

// newRun is a run without a ledger yet. Where nothing can be supervised, nothing is
// begun.
func (e *Engine) newRun(ctx context.Context, p *Plan) (*run, error) {
	r := &run{
		eng: e, plan: p, slots: newSlots(p.Spec.Concurrency, e.Supervisor), tracker: p.Graph.Track(),
		secrets: p.secrets, allowed: p.allowed, redact: p.redact, detect: p.detect,
		stop: func() {}, wall: context.Background(), jobs: map[string]*jobRun{}, failures: map[string]int{},
		attempts: map[string]int{}, carried: map[string]*attempt{}, away: map[string]*attempt{}, handedOut: map[string]bool{}, atWork: map[*attempt]bool{},
		lists: map[string]*listed{}, unproven: map[string]supervise.Proof{}, due: map[string]time.Time{}, paused: map[string]time.Time{}, starts: map[string]time.Time{},
		killed: make(chan struct{}), gone: make(chan struct{}),
	}
	for i := range p.Jobs {
		r.jobs[p.Jobs[i].Job.ID] = &jobRun{planned: &p.Jobs[i], reprobed: map[string]bool{}}
	}
	if _, err := r.slots.take(ctx, 0); err != nil {
		return nil, errors.Join(err, r.slots.close())
	}
	var err error
	if path := p.script(); path != "" && p.mayRehearse() {
		r.script, err = script.Load(path)
	}
	if err != nil {
		return nil, errors.Join(err, r.slots.close())
	}
	return r, nil
}

// settleIn makes the run directory the place for what the run leaves.
func (r *run) settleIn() {
	r.led.Guard(r.redact)
	r.treeRoot = r.eng.treesOf(r.led.Dir)
	if r.plan.Repo != nil {
		r.plan.Repo.KeepIn(r.led.Dir)
	}
}

// control does what a person asks for while the run goes on.
func (r *run) control(ctl Controls) (done func()) {
	r.person = ctl.Ask
	over := make(chan struct{})
	go func() {
		kill := ctl.Kill
		for {
			select {
			case <-kill:
				kill = nil
				close(r.killed)
				r.slots.kill()
				defer time.AfterFunc(stopLimit, r.slots.destroy).Stop()
			case <-ctl.Leave:
				// Whatever cannot be written now was not recorded: a resumed run
				// finds it as after a crash.
				r.mu.Lock()
				r.leaving = true
				r.mu.Unlock()
				_ = r.led.Close()
				ctl.Left()
				return
			case <-over:
				return
			}
		}
	}()
	return func() { close(over) }
}

// carryThrough is the run's story: plan, dispatch, judge, report.
func (r *run) carryThrough(ctx context.Context, obs Observer) (Result, error) {
	told := r.sayStopping(ctx)
	defer told()
	if err := r.nameBranches(context.WithoutCancel(ctx)); err != nil {
		return Result{}, err
	}
	if err := r.survey(ctx); err != nil {
		return Result{}, err
	}
	if r.seekApprovals(ctx); ctx.Err() == nil {
		obs.Planned(r.plan)
	}
	work, stop := r.bounded(ctx)
	defer stop()
	if err := r.watchCheckout(work); err != nil {
		return Result{}, err
	}
	if work.Err() == nil {
		r.blockUnproven()
		r.blockPlanned()
	}
	r.clearAway() // what found secrets in the spec, and what choosing left
	hurry := r.atEase()
	(&dispatch.Loop{
		Graph: (*order)(r), Backend: (*backend)(r), Slots: r.plan.Spec.Concurrency,
		Attempts: r.attempts, Carry: r.underWay(), Due: r.due,
	}).Run(work)
	hurry()
	if r.broken != nil {
		return Result{}, r.broken
	}
	if r.sessionRuns() {
		return r.park(ctx, told)
	}
	r.outsideChanges(context.WithoutCancel(ctx))
	r.intrusions(context.WithoutCancel(ctx))
	verdict := r.judge(work)
	if err := r.slots.close(); err != nil {
		// Each had no job any more, or its death was that of its job and is told there.
		r.note(ledger.Noted("", r.redact.String(err.Error())))
	}
	told() // nothing may come after the last record
	// report.html comes in its place.
	if err := r.led.Remove(ledger.SoFarFile); err != nil {
		r.note(ledger.Noted("", r.redact.String(err.Error())))
	}
	return r.finish(ctx, verdict)
}

// underWay are the jobs of which an engine before began an attempt that has not ended.
func (r *run) underWay() []string {
	ids := slices.Sorted(maps.Keys(r.carried))
	return slices.DeleteFunc(ids, func(id string) bool { return id == ledger.ArbiterJob })
}

// survey probes and routes, unless the plan has done so, and leaves what was found.
func (r *run) survey(ctx context.Context) error {
	began := r.eng.Now()
	if r.plan.profiles == nil {
		r.plan.probing = r.probing
		r.plan.survey(ctx, r.eng)
	}
	if ctx.Err() != nil {
		return nil // interrupted before anything could start
	}
	if r.continues {
		r.noteLately(began)
		r.noteMissing()
	}
	r.profiles = r.plan.profiles
	for id, j := range r.jobs {
		if j.status == nil && r.carried[id] == nil {
			j.route, j.block = j.planned.Route, j.planned.Block
			r.routeAgain(j)
		}
	}
	for _, n := range r.plan.Notes {
		if slices.Contains(r.noted, r.redact.String(n)) {
			continue
		}
		r.note(ledger.Noted("", r.redact.String(n)))
	}
	return r.writeRuntimes()
}

// routeAgain chooses the fallback of a job whose earlier routes failed before its
// engine died. Without one the job is blocked: it never goes back to a route that it was
// moved from.
func (r *run) routeAgain(j *jobRun) {
	if len(j.tried) > 0 {
		j.route, j.block = r.successor(j)
	}
}

// bounded ends the work with the wall budget, or when the ledger fails.
func (r *run) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r.stop = cancel
	r.wall = context.Background()
	if wall := r.plan.Spec.Budget.Wall; wall > 0 {
		timed, stop := context.WithTimeout(ctx, wall-r.worked)
		r.wall = timed
		return timed, func() { stop(); cancel() }
	}
	return ctx, cancel
}

// overWall reports whether the wall budget is what ended the work.
func (r *run) overWall() bool { return errors.Is(r.wall.Err(), context.DeadlineExceeded) }

func (r *run) budgetThatEnded() string {
	if r.overWall() {
		return fmt.Sprintf("the wall budget of %s is used up", r.plan.Spec.Budget.Wall)
	}
	return ""
}

// open leaves what is known before the first probe and says where.
func (r *run) open(obs Observer) error {
	r.settleIn()
	r.clearAway() // what reading the spec left
	err := errors.Join(
		r.led.WriteFile(ledger.SpecFile, r.plan.Spec.Source),
		r.led.WriteFrom(ledger.JobsFile, r.plan.Spec.WriteResolved),
		r.led.WriteJSON(ledger.ApprovalsFile, ledger.Approvals{SchemaVersion: ledger.SchemaVersion, Approvals: []ledger.Given{}}),
	)
	if repo := r.plan.Spec.Repository; repo != nil {
		err = errors.Join(err, r.led.WriteFile(ledger.DefaultsFile, repo.Source))
	}
	err = errors.Join(err, r.keepRequest(), r.keepAgents())
	first := []ledger.Record{ledger.RunStarted(r.info())}
	if err = errors.Join(err, r.led.Append(first...)); err != nil {
		return err
	}
	failpoint.Hit(failpoint.RunStarted)
	obs.Begun(r.led.ID, r.led.Dir)
	obs.Record(first[0])
	r.led.Follow(obs.Record)
	if clean := r.redact.Bytes(r.plan.Spec.Source); !bytes.Equal(clean, r.plan.Spec.Source) {
		r.tell(ledger.SpecFile + " and " + ledger.JobsFile + " are kept without what looks like a secret in them")
	}
	return nil
}

func (r *run) info() ledger.RunInfo {
	p := r.plan
	info := ledger.RunInfo{
		RunID: r.led.ID, SpecPath: p.Spec.Path, SpecDigest: p.Spec.Digest, Base: p.Base,
		Dir: r.led.Dir, Cwd: p.Request.Cwd, Rehearse: p.Request.Rehearse, Script: p.Request.Script,
		Internal: p.Request.Internal, AgentsDigest: p.agentsDigest(), Worker: p.Request.Worker,
	}
	if p.Spec.Repository != nil {
		info.RepositoryDigest = p.Spec.Repository.Digest
	}
	info.RequestDigest = p.asked.sha256()
	for i := range p.Spec.Jobs {
		info.Jobs = append(info.Jobs, p.Spec.Jobs[i].ID)
	}
	return info
}

// writeRuntimes leaves the profiles as they are known by now.
func (r *run) writeRuntimes() error {
	r.mu.Lock()
	all := ledger.Runtimes{SchemaVersion: ledger.SchemaVersion, Sandbox: r.plan.Sandbox}
	for _, p := range r.plan.Inventory.Profiles {
		all.Profiles = append(all.Profiles, r.profiles[p.Runtime])
	}
	r.mu.Unlock()
	all.Environments = r.eng.environments(all.Profiles)
	return r.led.WriteJSON(ledger.RuntimesFile, all)
}

// fail remembers that the ledger failed and ends the run: what is not recorded
// must not happen.
func (r *run) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving { // nothing can be recorded any more, so nothing may go on here
		r.mu.Unlock()
		<-r.gone
		r.mu.Lock()
	}
	if r.broken == nil {
		r.broken = fmt.Errorf("the run directory cannot be written, so the run stops: %w; what had ended is kept, `orchestrate resume %s` goes on once it can be written", err, r.led.ID)
		r.stop()
	}
}

func (r *run) setSnapshot(job, commit string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[job].commit = commit
}

// snapshot is the commit that holds what a writer did.
func (r *run) snapshot(job string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j, ok := r.jobs[job]
	return j.commit, ok && j.commit != ""
}

func (r *run) profile(name string) runtime.Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.profiles[name]
}

// scripted are the check results that a rehearsal's script gives a job.
func (r *run) scripted(job string) map[string]bool {
	if r.jobs[job] == nil || r.jobs[job].route.Runtime != runtimeStandin && !r.plan.Request.Rehearse {
		return nil
	}
	out := map[string]bool{}
	for name, result := range r.script.Checks[job] {
		out[name] = result == script.Pass
	}
	return out
}

func relTo(top, path string) string {
	rel, err := filepath.Rel(top, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// placingOf says where a job's outputs go and what it may write.
func placingOf(j *spec.Job, route ledger.Route, dir, out string) placing {
	p := placing{OutDir: out, Answer: answers(j, route)}
	if route.Runtime == runtime.Internal {
		p.Folder = dir
	}
	if !j.Writes() {
		return p
	}
	p.Writable = j.OwnedPaths
	if len(p.Writable) == 0 {
		p.Writable = []string{dir}
	}
	return p
}
