package engine

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/integrate"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// build makes the commits of the result, on no branch.
func (i *integration) build(ctx context.Context) error {
	repo, at := i.plan.Repo, i.in.Target.From
	person, err := repo.Person(ctx)
	if err != nil {
		return err
	}
	var before []string
	for _, w := range integrate.Chosen(i.in.Jobs) {
		m, err := i.step(ctx, at, w)
		if err != nil {
			return err
		}
		if m.Conflicts != nil {
			return &refusal{ExitFailed, []string{fmt.Sprintf("job %s cannot be merged after %s: %s", w.Job, strings.Join(before, ", "), integrate.Names(m.Conflicts))}, i.without(w.Job)}
		}
		before = append(before, w.Job)
		c := workspace.Commit{
			Tree: m.Tree, Parents: []string{at, w.Commit}, Author: "orchestrate (" + w.Runtime + ")", Committer: person, At: i.in.At,
			Message: integrate.Message(i.led.ID, w.Job, i.in.Verdict, i.about(w.Job)),
		}
		if i.req.Strategy == integrate.Patch {
			c.Parents = c.Parents[:1]
			if same, err := repo.TreeOf(ctx, at); err != nil {
				return err
			} else if same == m.Tree {
				i.in.Why = append(i.in.Why, fmt.Sprintf("job %s changes nothing there any more", w.Job))
				i.made[w.Job] = at
				continue
			}
		}
		if at, err = repo.Commit(ctx, c); err != nil {
			return err
		}
		i.made[w.Job] = at
	}
	if i.in.Target.To = at; at == i.in.Target.From {
		i.in.Outcome, i.in.Target.To = integrate.Nothing, ""
		return nil
	}
	return i.writable(ctx)
}

// writable refuses what cannot be written into the person's checkout: where files of theirs
// are in the way, and what a filter of theirs makes, since none runs here.
func (i *integration) writable(ctx context.Context) error {
	if i.in.Target.New {
		return nil
	}
	beside := integrate.Command(i.led.ID, i.req.Jobs, i.req.Strategy, "NEW-BRANCH")
	why, err := i.plan.Repo.Unclean(ctx, i.in.Target.From, i.in.Target.To)
	if err != nil {
		return err
	}
	if len(why) > 0 {
		return &refusal{ExitFailed, why, []string{beside}}
	}
	files, err := i.plan.Repo.Unwritable(ctx, i.in.Target.From, i.in.Target.To)
	if err != nil || len(files) == 0 {
		return err
	}
	return &refusal{
		ExitFailed,
		[]string{"git passes these files through a filter that you have (LFS, git-crypt …), and no filter runs here, so they would be wrong in the checkout: " + integrate.Names(files) + "; put the work onto a new branch, and merge that by git"},
		[]string{beside, "git merge NEW-BRANCH"},
	}
}

// step merges a work with what was made so far.
func (i *integration) step(ctx context.Context, at string, w integrate.Work) (workspace.Merged, error) {
	if i.req.Strategy == integrate.Patch {
		return i.plan.Repo.MergeFrom(ctx, w.Base, at, w.Commit)
	}
	return i.plan.Repo.Merge(ctx, at, w.Commit)
}

// without is the command for the chosen jobs but one, and what builds on it.
func (i *integration) without(job string) []string {
	m := integrate.Matrix{Target: []integrate.Clash{{A: job}}}
	if jobs := integrate.Largest(i.in.Jobs, m); len(jobs) > 0 {
		return []string{i.command(jobs)}
	}
	return nil
}

// mostAbout bounds what the first line of a commit says of a job, in characters.
const mostAbout = 60

// about says in a few words what a job was for.
func (i *integration) about(id string) string {
	pl, _ := i.plan.Planned(id)
	for _, text := range []string{pl.Job.ExpectedOutput, pl.Job.Prompt, commandOf(pl.Job)} {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if line := untrusted.From(i.redact.String(first)).Line(mostAbout); line != "" {
			return line
		}
	}
	return ""
}

func commandOf(j *spec.Job) string { return shellword.Join(j.Command) }
