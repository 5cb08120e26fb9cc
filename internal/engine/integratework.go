package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// collect finds the work of the run's jobs, each after those it builds on, and holds it
// against what was recorded: what was reviewed is what is integrated.
func (i *integration) collect(ctx context.Context) error {
	there, err := i.brought(ctx)
	if err != nil {
		return err
	}
	of := map[string]string{} // snapshot commit -> job
	for _, id := range i.plan.Graph.Order() {
		pj := i.old.job(id)
		if pj.status == nil || pj.status.Status != ledger.Success || pj.work == nil || pj.work.Commit == "" {
			continue
		}
		if pj.status.Worktree == nil {
			if len(pj.work.Shared) > 0 {
				i.in.Why = append(i.in.Why, fmt.Sprintf("job %s worked in the checkout itself: what it changed is there", id))
			}
			continue
		}
		if pj.work.Commit == pj.work.Base {
			continue
		}
		if err := i.asRecorded(ctx, id, pj.work); err != nil {
			return err
		}
		w, err := i.workOfJob(ctx, id, pj)
		if err != nil {
			return err
		}
		w.BuildsOn, w.Done = of[w.Base], there[w.Commit]
		if w.Done == "" {
			if on, err := i.plan.Repo.Reaches(ctx, i.in.Target.From, w.Commit); err != nil {
				return err
			} else if on {
				w.Done = w.Commit
			}
		}
		i.in.Jobs = append(i.in.Jobs, w)
		of[w.Commit] = id
	}
	return i.wanted()
}

// wanted makes sure that each job that was asked for left work.
func (i *integration) wanted() error {
	for _, id := range i.req.Jobs {
		if _, ok := i.plan.Planned(id); !ok {
			return refuse(ExitUsage, fmt.Sprintf("the run has no job %q", id))
		}
		if !slices.ContainsFunc(i.in.Jobs, func(w integrate.Work) bool { return w.Job == id }) {
			return refuse(ExitUsage, fmt.Sprintf("job %s left no work in a tree of its own, so there is nothing of it to integrate", id))
		}
	}
	return nil
}

// asRecorded refuses work that is not what was recorded when its job was settled.
func (i *integration) asRecorded(ctx context.Context, id string, w *ledger.Work) error {
	if w.Patch != "" {
		data, err := i.led.ReadFile(ledger.JobPath(id, ledger.PatchFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || digest(data) != w.Patch {
			return refuse(ExitFailed, fmt.Sprintf("%s is not what was reviewed: it was changed or removed since", ledger.JobPath(id, ledger.PatchFile)))
		}
	}
	for _, commit := range []string{w.Base, w.Commit} {
		there, err := i.plan.Repo.Has(ctx, commit)
		if err != nil {
			return err
		}
		if !there {
			return refuse(ExitFailed, fmt.Sprintf("commit %.12s of job %s is not in the repository any more; %s still holds its work", commit, id, ledger.JobPath(id, ledger.PatchFile)))
		}
	}
	return nil
}

func (i *integration) workOfJob(ctx context.Context, id string, pj *pastJob) (integrate.Work, error) {
	w := integrate.Work{
		Job: id, Runtime: pj.status.Runtime, Base: pj.work.Base, Commit: pj.work.Commit, Masked: pj.work.Masked,
		Patch: ledger.JobPath(id, ledger.PatchFile), Files: []integrate.FileStat{},
	}
	files, err := i.plan.Repo.Compare(ctx, w.Base, w.Commit)
	if err != nil {
		return w, err
	}
	for _, c := range files {
		f := integrate.FileStat{Path: c.Path, Status: c.Status, Insertions: c.Added, Deletions: c.Deleted}
		w.Insertions, w.Deletions = w.Insertions+c.Added, w.Deletions+c.Deleted
		if c.Binary {
			f.Insertions, f.Deletions = -1, -1
		}
		w.Files = append(w.Files, f)
	}
	return w, nil
}

// brought are the snapshots that an earlier integration brought onto the target, with the
// commit that did: a job that was done again since is another one.
func (i *integration) brought(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	earlier, err := earlierIntegrations(i.led)
	if err != nil {
		return nil, err
	}
	for _, in := range earlier {
		for _, w := range in.Jobs {
			if !w.Chosen || w.Done == "" || all[w.Commit] != "" {
				continue
			}
			on, err := i.plan.Repo.Reaches(ctx, i.in.Target.From, w.Done)
			if err != nil {
				return nil, err
			}
			if on {
				all[w.Commit] = w.Done
			}
		}
	}
	return all, nil
}

// foresee asks git which of the chosen works cannot be merged with what.
func (i *integration) foresee(ctx context.Context) error {
	repo, works := i.plan.Repo, i.in.Jobs
	for _, w := range integrate.Chosen(works) {
		m, err := i.onto(ctx, i.in.Target.From, w)
		if err != nil {
			return err
		}
		if m.Conflicts != nil {
			i.in.Matrix.Target = append(i.in.Matrix.Target, integrate.Clash{A: w.Job, Files: m.Conflicts})
		}
	}
	pairs, note := integrate.Pairs(works)
	if note != "" {
		i.in.Why = append(i.in.Why, note)
	}
	for _, p := range pairs {
		m, err := repo.Merge(ctx, works[p[0]].Commit, works[p[1]].Commit)
		if err != nil {
			return err
		}
		if m.Conflicts != nil {
			i.in.Matrix.Pairs = append(i.in.Matrix.Pairs, integrate.Clash{A: works[p[0]].Job, B: works[p[1]].Job, Files: m.Conflicts})
		}
	}
	return nil
}

// onto merges a work, with all that it builds on and the target has not, with a commit.
func (i *integration) onto(ctx context.Context, commit string, w integrate.Work) (workspace.Merged, error) {
	if i.req.Strategy == integrate.Patch || i.apart[integrate.Bottom(i.in.Jobs, w)] > 0 {
		return i.plan.Repo.MergeFrom(ctx, integrate.Ground(i.in.Jobs, w), commit, w.Commit)
	}
	return i.plan.Repo.Merge(ctx, commit, w.Commit)
}

// stands refuses when anything is known that stands against the integration.
func (i *integration) stands(ctx context.Context, why []string) error {
	no := &refusal{exit: ExitFailed, why: why}
	if !i.in.Target.New {
		unclean, err := i.plan.Repo.Unclean(ctx, i.in.Target.From, "")
		if err != nil {
			return err
		}
		if len(unclean) > 0 {
			if err := i.halfMoved(); err != nil {
				return err
			}
			no.why = append(no.why, unclean...)
			no.next = append(no.next, "git status", integrate.Command(i.led.ID, i.req.Jobs, i.req.Strategy, "NEW-BRANCH"))
		}
	}
	apart, err := i.standsApart(ctx)
	if err != nil {
		return err
	}
	no.why, no.next = append(no.why, apart.why...), append(no.next, apart.next...)
	if clashes := integrate.Clashes(i.in.Matrix, i.named()); len(clashes) > 0 {
		no.why = append(no.why, clashes...)
		no.next = append(no.next, i.fitting()...)
	}
	if len(no.why) > 0 {
		return no
	}
	return nil
}

// fitting is the command for as many of the jobs as go together.
func (i *integration) fitting() []string {
	if jobs := integrate.Largest(i.in.Jobs, i.in.Matrix); len(jobs) > 0 {
		return []string{i.command(jobs)}
	}
	return nil
}
