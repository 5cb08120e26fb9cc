package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// An attempt that goes on with a session of another one takes that one's place: its runtime,
// its folder, and its lock as long as it works. The session belongs to a folder, so nobody
// else may go on with it meanwhile, and nobody may take the folder away.

// blockedSession is the block of a job whose session cannot be gone on with.
func blockedSession(next, format string, args ...any) *route.Block {
	return &route.Block{Reason: runtime.BlockedSession, Detail: fmt.Sprintf(format, args...), NextStep: next}
}

// freshNext is what helps where a session is lost for good.
const freshNext = "let the job begin a session of its own (without `continue`), and give it what the other one found as an input"

// reseat routes a job that goes on with a session anew, by how that was really held.
func (r *run) reseat(ctx context.Context, j *jobRun, turn *dispatch.Turn) *route.Block {
	job := j.planned.Job
	if job.Fresh() {
		return blockedSession("take `continue` out of the job", "it judges: a judge begins a session of its own")
	}
	before, block := r.heldOn(job)
	if block != nil {
		return block
	}
	if p := r.profile(before.Runtime); !p.Routable() || r.eng.Now().Sub(p.ProbedAt) > lately {
		turn.Leave() // a program that is asked may take long to answer
		r.reprobe(ctx, map[string]bool{before.Runtime: false})
	}
	next, block := r.routeOn(r.plan.input(r.eng, j.planned), before)
	if block != nil {
		return block
	}
	r.mu.Lock()
	j.route = next
	r.mu.Unlock()
	return nil
}

// heldOn is the route on which the attempt before in the session really ran.
func (r *run) heldOn(job *spec.Job) (ledger.Route, *route.Block) {
	if job.Continue == "" {
		return beforeOf(job.Worker.Resumes), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.jobs[job.Continue].status
	if before == nil || before.Status != ledger.Success || before.Route == nil {
		return ledger.Route{}, blockedSession("see to job "+job.Continue, "job %s, with whose session it goes on, did not succeed", job.Continue)
	}
	return *before.Route, nil
}

// takeSession finds what an attempt is to go on with, makes sure that it is as it was left,
// and takes it for the attempt.
func (r *run) takeSession(ctx context.Context, a *attempt) *route.Block {
	if !a.job.GoesOn() {
		return nil
	}
	from, block := r.lineageOf(a.job)
	if block != nil {
		return block
	}
	if block := r.holdSession(a, &from); block != nil {
		return block
	}
	a.resumes = &from
	block = r.homeOf(a)
	if block == nil {
		block = r.asLeft(ctx, a)
	}
	if block != nil {
		r.returnSession(a)
	}
	return block
}

// returnSession gives up a session that nothing was begun in, and leaves its lock as it was
// found: it must not say that somebody went on with it who never did.
func (r *run) returnSession(a *attempt) {
	if a.session == nil {
		return
	}
	if err := ledger.ReturnSession(a.session, a.heir); err != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String("the session of job "+a.resumes.Of+" is free again, and its lock does not say so: "+err.Error())))
	}
	a.session = nil
}

// lineageOf says which session a job goes on with, by what its runtime said of it.
func (r *run) lineageOf(job *spec.Job) (ledger.Lineage, *route.Block) {
	dir, name := r.led.Dir, job.Continue
	if job.Continue == "" {
		from := job.Worker.Resumes
		if dir, name = from.Run, from.Job; dir == "" {
			return ledger.Lineage{Session: from.Session, Cwd: from.Cwd}, nil
		}
	}
	s, err := ledger.ReadSession(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ledger.Lineage{}, blockedSession(freshNext, "job %s left no %s, so which session it held is not known", name, ledger.SessionFile)
	case err != nil:
		return ledger.Lineage{}, blockedSession(freshNext, "which session job %s held cannot be read: %v", name, err)
	case s.SessionID == "":
		return ledger.Lineage{}, blockedSession(freshNext, "%s did not say which session job %s held", s.Runtime, name)
	}
	from := ledger.Lineage{
		Session: s.SessionID, Of: name, Dir: dir, Job: name, Attempt: s.Attempt, Access: s.Access, Cwd: s.Cwd, Tree: s.Worktree, Base: s.Commit,
	}
	if dir != r.led.Dir {
		from.Of = sessionName(dir, name)
	}
	if s.InputTokens != nil && s.OutputTokens != nil {
		from.InputTokens, from.OutputTokens = *s.InputTokens, *s.OutputTokens
	}
	return from, nil
}

// sessionName names a job of another run, "" = none.
func sessionName(dir, job string) string {
	if dir == "" {
		return ""
	}
	return ledger.RunID(dir) + "/" + job
}

// lockSession takes the lock of a session for an attempt: that of the attempt before in it, or
// where nobody knows that one a lock for its id.
func (r *run) lockSession(a *attempt, from *ledger.Lineage) (lock *os.File, found ledger.AttemptLock, err error) {
	heir := ledger.Heir{Dir: r.led.Dir, Job: a.job.ID, Attempt: a.n}
	if from.Dir != "" {
		return ledger.HoldSession(from.Dir, from.Job, from.Attempt, heir)
	}
	lock, err = ledger.HoldSessionID(r.plan.Root, a.route.Runtime, from.Session, heir)
	return lock, found, err
}

// holdSession takes that lock, or says who has it.
func (r *run) holdSession(a *attempt, from *ledger.Lineage) *route.Block {
	lock, found, err := r.lockSession(a, from)
	var user *ledger.InUseError
	switch {
	case errors.As(err, &user):
		return blockedSession("wait until that has ended (`orchestrate wait "+ledger.RunID(user.By.Dir)+"`), then `orchestrate resume "+r.led.ID+"`", "%s%v (%s)", ledger.SessionInUse, err, called(from))
	case errors.Is(err, ledger.ErrHeld):
		return blockedSession("wait until that has ended, then `orchestrate resume "+r.led.ID+"`", "%s%s: %v", ledger.SessionInUse, called(from), err)
	case errors.Is(err, fs.ErrNotExist):
		return blockedSession(freshNext, "job %s, with whose session it goes on, is not in %s any more: %v", from.Job, from.Dir, err)
	case err != nil:
		return blockedSession(freshNext, "the session of job %s cannot be taken: %v", from.Of, err)
	}
	a.session = lock
	if f := found.Furnished; f != nil && from.Tree != "" {
		from.GitDir, from.Tree = f.GitDir, f.Tree
		if from.Base == "" {
			from.Base = f.Base
		}
	}
	a.heir = found.Heir
	return nil
}

// called names a session for a person.
func called(from *ledger.Lineage) string {
	if from.Of == "" {
		return "session " + from.Session
	}
	return "session " + from.Session + " of job " + from.Of
}

// homeOf makes sure that the session is at home where the attempt would work: a program
// finds a session again only in its folder.
func (r *run) homeOf(a *attempt) *route.Block {
	from, dir := a.resumes, a.job.Cwd
	if from.Tree != "" {
		if r.plan.Repo == nil {
			return blockedSession(freshNext, "its session is at home in the worktree %s, and %s is in no git repository", from.Tree, r.plan.Root)
		}
		dir = filepath.Join(from.Tree, filepath.FromSlash(relTo(r.plan.Repo.Top(), a.job.Cwd)))
	}
	if from.Cwd != "" && from.Cwd != dir {
		return blockedSession("say the same cwd for the job, or let it begin a session of its own", "its session is at home in %s, and the job would work in %s", from.Cwd, dir)
	}
	return nil
}

// asLeft makes sure that the folder of a session is as the attempt before left it. Else what
// somebody else changed there would be taken for the work of this one, or half of what an
// earlier try of it did would be done again.
func (r *run) asLeft(ctx context.Context, a *attempt) *route.Block {
	from := a.resumes
	if from.Tree == "" {
		if began := r.beganBefore(a.job.ID); a.job.Writes() && began > 0 {
			return blockedSession("look at what it changed in the checkout; what is left to do is for a new job",
				"attempt %d of it had begun in the shared checkout, so that what it did there cannot be told from what was there before", began)
		}
		return nil
	}
	tree, err := r.plan.Repo.OpenTree(ctx, treeOf(from))
	if err != nil {
		return blockedSession(freshNext, "the folder of its session cannot be worked in any more: %v", err)
	}
	changed, err := tree.Changed(ctx)
	switch {
	case err != nil:
		return blockedSession(freshNext, "whether the folder of its session is as it was left cannot be told: %v", err)
	case len(changed) == 0:
		return nil
	}
	by := "somebody, or an earlier try of this job, changed it since"
	if h := a.heir; h != nil && (h.Dir != r.led.Dir || h.Job != a.job.ID) {
		by = h.String() + " went on in it"
	}
	dir := shellword.Quote(from.Tree)
	return blockedSession(fmt.Sprintf("look at %s; where nothing of that is wanted, `git -C %s checkout --force --detach %.12s && git -C %s clean -ffd` takes it away for good, then `orchestrate resume %s`", from.Tree, dir, from.Base, dir, r.led.ID),
		"the folder of its session is not as job %s left it (%s): %s", from.Of, some(paths(changed)), by)
}

// beganBefore is the newest attempt of a job that had a process, 0 = none had.
func (r *run) beganBefore(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.jobs[id].ended) - 1; i >= 0; i-- {
		if s := r.jobs[id].ended[i]; hadProcess(s) {
			return s.Attempts
		}
	}
	return 0
}

// seat makes ready where an attempt works: anew, or where its session is at home.
func (r *run) seat(ctx context.Context, a *attempt) (place, error) {
	if a.resumes == nil {
		return r.place(ctx, a.job, a.route, a.n)
	}
	return r.goOnIn(ctx, a)
}

// goOnIn makes the folder of its session the place of an attempt. A writer's is from now on
// its own, on a branch of its own; one that only looks leaves all as it is.
func (r *run) goOnIn(ctx context.Context, a *attempt) (place, error) {
	from := a.resumes
	if from.Tree == "" {
		return r.place(ctx, a.job, a.route, a.n)
	}
	at := place{dir: from.Cwd, top: from.Tree, isolated: true}
	var err error
	if !a.job.Writes() {
		at.tree, err = r.plan.Repo.OpenTree(ctx, treeOf(from))
		return at, err
	}
	at.tree, err = r.onBranch(a.job, a.n, func(branch string) (*workspace.Tree, error) {
		return r.plan.Repo.TakeOver(ctx, treeOf(from), branch)
	})
	if err != nil {
		return at, err
	}
	at.branch = at.tree.Branch
	if _, err := at.tree.Relink(); err != nil {
		return at, err
	}
	return at, at.inTree(a.job.ID)
}

func treeOf(l *ledger.Lineage) workspace.TreePlace {
	return workspace.TreePlace{Dir: l.Tree, GitDir: l.GitDir, Base: l.Base}
}

// holdSessionAgain does it for an attempt that an engine before began, until it is settled.
func (r *run) holdSessionAgain(a *attempt) {
	if a.resumes == nil {
		return
	}
	lock, _, err := r.lockSession(a, a.resumes)
	if err != nil { // what it did is taken all the same
		r.note(ledger.Noted(a.job.ID, r.redact.String("its session could not be held until it is settled: "+err.Error())))
		return
	}
	a.session = lock
}
