package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrate/internal/integrate"
	"orchestrate/internal/shellword"
)

// findApart counts, for each commit at which chosen work began, those that the target has
// not: a merge would bring them along, and nobody was shown them.
func (i *integration) findApart(ctx context.Context) error {
	i.apart = map[string]int{}
	if i.req.Strategy == integrate.Patch {
		return nil
	}
	for _, w := range integrate.Chosen(i.in.Jobs) {
		base := integrate.Bottom(i.in.Jobs, w)
		if _, counted := i.apart[base]; counted {
			continue
		}
		n, err := i.plan.Repo.Ahead(ctx, base, i.in.Target.From)
		if err != nil {
			return err
		}
		i.apart[base] = n
	}
	return nil
}

// standsApart refuses to bring commits along that are not the run's.
func (i *integration) standsApart(ctx context.Context) (no refusal, err error) {
	for _, base := range slices.Sorted(maps.Keys(i.apart)) {
		n := i.apart[base]
		if n == 0 {
			continue
		}
		var jobs []string
		for _, w := range integrate.Chosen(i.in.Jobs) {
			if integrate.Bottom(i.in.Jobs, w) == base {
				jobs = append(jobs, w.Job)
			}
		}
		no.why = append(no.why, fmt.Sprintf("%s began at commit %.12s, which %s does not have: a merge would bring %s along that %s not of this run and that nobody was shown; "+
			"take the changes alone (--strategy patch), or go to a branch that has that commit", some(jobs), base, i.named(), commits(n), isOrAre(n)))
		with, err := i.plan.Repo.ReachedFrom(ctx, base, func(ref string) bool { return strings.HasPrefix(ref, "refs/heads/") && theirRef(ref) })
		if err != nil {
			return no, err
		}
		if branch, ok := strings.CutPrefix(with, "refs/heads/"); ok {
			no.next = append(no.next, shellword.Join([]string{"git", "switch", branch}))
		}
	}
	if no.why != nil {
		no.next = append([]string{integrate.Command(i.led.ID, i.req.Jobs, integrate.Patch, i.req.Branch)}, no.next...)
	}
	return no, nil
}

// noteGrown says where somebody went on, on the branch of a job: what was reviewed is what
// is integrated.
func (i *integration) noteGrown(ctx context.Context) error {
	for _, w := range integrate.Chosen(i.in.Jobs) {
		branch := i.old.job(w.Job).status.Branch
		if branch == nil {
			continue
		}
		n, err := i.plan.Repo.Grown(ctx, *branch, w.Commit)
		if err != nil {
			return err
		}
		if n > 0 {
			i.in.Why = append(i.in.Why, fmt.Sprintf("branch %s has %s more than the work of job %s, which nobody reviewed and which %s left out: %s",
				*branch, commits(n), w.Job, isOrAre(n), shellword.Join([]string{"git", "merge", *branch})))
		}
	}
	return nil
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
