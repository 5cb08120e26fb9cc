package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/sandbox/private"
	"orchestrate/internal/spec"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// grace is the time between the polite signal and SIGKILL.
const grace = 10 * time.Second

// attempt is one dispatch of a job, or of the arbiter, on its way through.
type attempt struct {
	job    *spec.Job
	n      int
	route  ledger.Route
	at     place
	dir    string // the job's directory in the run
	id     string // of one that the hosting session carries out, see handoff.Request; "" = of none
	prompt string
	judged []string // the arbiter's: what the stand-in may cite
	cmd    runtime.Command
	env    []string
	sets   []string // names in it that lead to its private folder
	// private is its folder for temporary files and caches, the zero value none.
	private private.Dir
	// box is what the kernel holds what runs now to, the program as its route says;
	// nil = nothing does. Its checks get checkBox, with a private folder of theirs; nil = it
	// has none, or nothing holds them.
	box, checkBox *sandbox.Policy
	mark          string // of its processes
	given         string // digest of what it is given, see givenTo
	begun         time.Time

	turn     *dispatch.Turn  // its place among the starts; nil = it is in no line
	lock     *os.File        // of the attempt, from its directory until it is settled
	checkout *os.File        // of the shared checkout, for a writer in it
	session  *os.File        // the lock of the attempt whose session it goes on with
	resumes  *ledger.Lineage // that session, nil = it begins one
	heir     *ledger.Heir    // who went on with it before, nil = nobody did
	taken    bool            // an earlier engine began it
	alone    bool            // taken, and nothing else ran beside it under that engine
	from     int64           // events up to this one are in the journal

	before   string                 // tree of the shared checkout when it began there as an observer that nothing holds, "" = not recorded
	hopeless bool                   // it failed on something that no other attempt can mend
	changed  []string               // of the shared checkout, while it alone ran
	lone     bool                   // the checkout was compared, and it alone ran meanwhile
	found    *workspace.Fingerprint // of the checkout when it began, nil = not recorded
	beside   []*attempt             // that ran at the same time and were held by nothing, where it was not either
	charged  []string               // what it changed where it had no business, as others found
	handed   bool                   // the supervisor has it: a process may have been started
	exit     supervise.Exit
	lost     string // the supervisor failed: what is known

	// Of one that the hosting session carries out:
	request  *handoff.Request    // as it was handed out, nil = it is not ready
	back     *handoff.Submission // what came back
	overtime bool                // that came after the job's timeout
	stale    string              // what it builds on and has changed since, where it came late

	injected   []string         // secrets in what it left in the run directory, see settlement.injected
	denied     []untrusted.Text // what says that the sandbox refused it something, its checks too
	unchecked  error            // why its checks cannot be run as it was
	unsearched error            // why its artifacts may still hold secrets
}

// release gives up the attempt's locks. They hold nothing that could be lost.
func (a *attempt) release() {
	for _, f := range []*os.File{a.lock, a.checkout, a.session} {
		if f != nil {
			f.Close() // the kernel drops the lock with the descriptor whatever Close says
		}
	}
	a.lock, a.checkout, a.session = nil, nil, nil
}

// decoder names the decoder that the attempt's stream goes through, "" = it never
// had one.
func (a *attempt) decoder() string { return a.cmd.Decoder.Runtime }

// prepare does everything that comes between the intent and the program:
// directory and lock, tree, inputs, prompt and command. An error means that nothing
// was started.
func (r *run) prepare(ctx context.Context, a *attempt) (err error) {
	if a.dir, a.lock, err = r.led.BeginAttempt(a.job.ID, a.n); err != nil {
		return err
	}
	failpoint.Hit(failpoint.LockTaken)
	if err := r.furnish(ctx, a); err != nil {
		return err
	}
	err = r.led.Furnish(a.job.ID, a.lock, a.furnished())
	failpoint.Hit(failpoint.Furnished)
	return err
}

func (r *run) furnish(ctx context.Context, a *attempt) (err error) {
	if a.internal() {
		a.id = attemptID(a.job.ID, a.n)
	}
	err = r.led.MkdirAll(ledger.JobPath(a.job.ID, ledger.ArtifactsDir))
	if err = errors.Join(err, r.led.MkdirAll(ledger.JobPath(a.job.ID, a.outName()))); err != nil {
		return err
	}
	r.letPass(a)
	if a.at, err = r.seat(ctx, a); err != nil {
		a.hopeless = true
		return err
	}
	failpoint.Hit(failpoint.Placed)
	if err := r.copyIn(ctx, a); err != nil {
		a.hopeless = true
		return err
	}
	a.before = r.snapshotFor(ctx, a)
	got, err := r.gather(ctx, a.job)
	if err != nil {
		a.hopeless = true
		return err
	}
	a.given = givenTo(a.job, got)
	before, err := r.earlierOf(a, got)
	if err != nil {
		return err
	}
	if prompted(a.job) {
		if a.prompt, err = r.promptOf(a, got, before); err != nil {
			return err
		}
	}
	if err := r.draftPrompt(ctx, a); err != nil {
		return err
	}
	var read []string
	if len(got) > 0 || before != nil && before.patch != "" {
		read = append(read, filepath.Join(a.dir, ledger.InputsDir))
	}
	return r.equip(a, read...)
}

// equip builds the command from live evidence and leaves prompt.md and
// command.txt. read are folders outside the cwd that the agent may read.
func (r *run) equip(a *attempt, read ...string) error {
	if a.internal() {
		return r.equipInternal(a)
	}
	ad, ok := r.eng.adapter(a.route.Runtime)
	if !ok {
		return fmt.Errorf("runtime %s is not known to this build", a.route.Runtime)
	}
	a.env = r.environment(a, ad)
	err := r.furnishPrivately(a)
	if err != nil {
		return err
	}
	req := r.request(a)
	req.ReadDirs = read
	if a.cmd, err = ad.Command(req, r.profile(a.route.Runtime)); err != nil {
		return err
	}
	a.countFrom()
	if arg := a.cmd.Bypass(req.Prompt); arg != "" && !a.job.Exec() {
		return fmt.Errorf("the command of job %s holds %s, which switches permission checks off; nobody approved that", a.job.ID, arg)
	}
	a.route.Constrained = constrained(a.job, a.route, a.cmd)
	a.mark = newMark()
	if a.prompt != "" { // before its box is drawn, which opens what is there
		if err := r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.PromptFile), r.redact.Bytes([]byte(a.prompt))); err != nil {
			return err
		}
	}
	if err := r.settleEnvironment(a, ad); err != nil {
		return err
	}
	text := r.redact.String(commandText(a.at.dir, whereabouts(r.led.ID, a.job, a.n, a.dir), a.cmd, promptPath(a.prompt, a.dir)))
	if err := r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.EnvironmentFile), []byte(environmentText(r.eng.Env, a.env))); err != nil {
		return err
	}
	return r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.CommandFile), []byte(text))
}

// constrained are a route's limits with those that its command brings along and that no
// sandbox closes.
func constrained(j *spec.Job, route ledger.Route, cmd runtime.Command) []string {
	all := slices.Clone(route.Constrained)
	for _, l := range append(unlimited(j, route, cmd), cmd.Limits...) {
		if !slices.Contains(all, l) && (route.Sandbox == "" || !runtime.Closed(l)) {
			all = append(all, l)
		}
	}
	return all
}

// request is the attempt as its adapter sees it.
func (r *run) request(a *attempt) runtime.Request {
	out := filepath.Join(a.dir, ledger.ArtifactsDir)
	req := requestOf(a.job, a.route, a.at.dir, out, a.prompt)
	req.Attempt, req.PromptFile = a.n, promptPath(a.prompt, a.dir)
	req.Private = a.private.Path
	req.Script, req.Judged = r.plan.script(), a.judged
	if a.resumes != nil {
		req.Resume = a.resumes.Session
	}
	req.Project = r.eng.Operator.Runtimes[a.route.Runtime].Project
	r.holdToForm(a, &req)
	return req
}

// requestOf is a job's request, also for plan.
func requestOf(j *spec.Job, route ledger.Route, dir, out, prompt string) runtime.Request {
	req := runtime.Request{
		Job: j.ID, Attempt: 1, Task: j.Task, Prompt: prompt, Argv: j.Command, Dir: dir, Out: out,
		Access: runtime.Access(route.Access), Model: route.Model, Agent: route.Agent, Effort: route.Effort,
		AllowedTools: j.AllowedTools, DisallowedTools: j.DisallowedTools,
		OwnedPaths: j.OwnedPaths, ExpectedOutput: j.ExpectedOutput, MaxTurns: j.MaxTurns, Fed: fed(j),
		Leaves: slices.Contains(route.Controls, string(runtime.ControlArtifacts)),
	}
	for _, o := range j.Outputs {
		req.Outputs = append(req.Outputs, o.Path)
	}
	return req
}

// settleEnvironment says what the attempt's program and checks get, and what holds them.
// It has its private folder by now.
func (r *run) settleEnvironment(a *attempt, ad runtime.Adapter) error {
	a.env = r.environment(a, ad)
	if err := r.confine(a, ad); err != nil {
		return err
	}
	r.completeEnvironment(a, ad)
	return nil
}

// completeEnvironment adds what the attempt's own folders are, and where it is.
func (r *run) completeEnvironment(a *attempt, ad runtime.Adapter) {
	if a.box != nil {
		needs := r.eng.confinementOf(ad, a.env)
		over := overlaid(a.private.Env, needs.Env)
		a.env, a.sets = overlaid(a.env, over), namesOf(over)
	}
	a.env = append(a.env, whereabouts(r.led.ID, a.job, a.n, a.dir)...)
	a.env = append(a.env, markVariable+"="+a.mark)
}

// environment is what the program gets of ours by policy, and what its adapter adds.
func (r *run) environment(a *attempt, ad runtime.Adapter) []string {
	passed, _, _ := environ.Filter(r.eng.Env, ad.SignInEnv(), a.job.EnvAllow)
	return append(passed, a.cmd.Env...)
}

// carryOut hands the attempt to the slot's supervisor and waits for its end. The
// intent is durable already; both hold the locks from here on.
func (r *run) carryOut(ctx context.Context, slot int, a *attempt) error {
	defer a.turn.Leave()
	sup, err := r.slots.take(ctx, slot)
	if errors.Is(err, supervise.ErrNoAnswer) && ctx.Err() == nil { // killed as it started: not the job's doing
		a.lost, a.exit.Proof = err.Error(), nothingStarted
		return nil
	}
	if err != nil {
		return err
	}
	r.awaitStart(ctx, a)
	failpoint.Hit(failpoint.HandOver)
	a.handed = true
	r.metered(a)
	a.exit, err = sup.Run(ctx, r.invocation(a), a.locks(), func(p supervise.Process) {
		failpoint.Hit(failpoint.Started)
		r.begins(ctx, a, p)
	})
	a.turn.Leave()
	failpoint.Hit(failpoint.Exited)
	switch {
	case err != nil && a.exit.EndedAt.IsZero(): // the supervisor itself failed
		a.lost = err.Error()
		if a.exit.Proof = r.endRemains(ctx, a); a.exit.Proof.Gone {
			a.lost += "; all that was left of it has been ended"
		}
	case err != nil: // the program ended as exit says, some evidence of it is missing
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
	}
	return r.takeIn(a)
}

// locks are what the supervisor holds beside us while the program runs.
func (a *attempt) locks() []*os.File {
	all := []*os.File{a.lock}
	for _, f := range []*os.File{a.checkout, a.session} {
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// takeIn searches what the program left for secrets and imports its events.
func (r *run) takeIn(a *attempt) error {
	if a.unsearched = r.bringOut(a); a.unsearched == nil {
		a.unsearched = r.scrubArtifacts(a)
	}
	err := r.importEvents(a)
	failpoint.Hit(failpoint.Imported)
	return err
}

func (r *run) invocation(a *attempt) supervise.Invocation {
	return supervise.Invocation{
		Job: a.job.ID, Attempt: a.n, Dir: a.dir, Argv: a.cmd.Argv, Env: a.env, Cwd: a.at.dir, Stdin: a.cmd.Stdin,
		Decoder: a.cmd.Decoder, Timeout: a.job.Timeout, FirstOutput: a.job.FirstOutputTimeout, Grace: grace,
		PoliteStop: a.cmd.PoliteStop, MaxBytes: a.job.MaxOutputBytes, Secrets: r.secrets, AllowedSecrets: r.allowed,
		Sandbox: a.boxOfProgram(),
	}
}

// boxOfProgram is what the kernel holds the program itself to: nothing but its checks
// where it has a sandbox of its own.
func (a *attempt) boxOfProgram() *sandbox.Policy {
	if a.route.Sandbox != sandbox.Landlock {
		return nil
	}
	return a.box
}

// importEvents copies what the supervisor wrote into the journal.
func (r *run) importEvents(a *attempt) error {
	data, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.EventsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the supervisor died before its first event; lost says so
	}
	if err != nil {
		return err
	}
	var recs []ledger.Record
	var used *runtime.Usage
	for line := range strings.Lines(string(data)) {
		var e runtime.Event
		if json.Unmarshal([]byte(line), &e) != nil {
			break // a torn last line: the supervisor died
		}
		if e.Kind == runtime.EventBoundary {
			a.denied = append(a.denied, e.Text)
		}
		if e.Usage != nil {
			used = e.Usage
		}
		if e.Seq <= a.from {
			continue // an earlier engine imported it
		}
		a.from = e.Seq
		recs = append(recs, ledger.Imported(a.job.ID, a.n, e))
	}
	if a.exit.Outcome.Usage == nil { // its supervisor died before it could sum up
		a.exit.Outcome.Usage = used
	}
	return r.led.Note(recs...)
}

// note adds a record whose loss would only be a loss of detail; the ledger's own
// failure shows at the next durable step.
func (r *run) note(rec ledger.Record) { r.fail(r.led.Note(rec)) }
