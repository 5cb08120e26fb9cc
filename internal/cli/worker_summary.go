package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/worker"
)

// unreviewed is the label of everything that comes of the worker form.
const unreviewed = "unreviewed: nobody has checked them"

// summaryNames bounds how many tasks a summary names of each kind.
const summaryNames = 20

// summaryOf says how a call stands: a line of counts, who did not succeed, and where the
// results are; then what waits for a quota.
func summaryOf(run worker.Run, s ledger.State) string {
	var failed, blocked, cut, left []string
	unjoined := ""
	all, succeeded, unneeded := 0, 0, 0
	for _, j := range s.Jobs {
		switch j.Status {
		case ledger.Skipped:
			unneeded++
			if j.LeftNothing() {
				unjoined += fmt.Sprintf("%s has no result: %s\n", j.ID, j.Evidence.Line(0))
			}
			continue
		case ledger.Success:
			succeeded++
		case ledger.Failed:
			failed = append(failed, j.ID)
		case ledger.Blocked:
			blocked = append(blocked, j.ID)
		case ledger.Interrupted:
			cut = append(cut, j.ID)
		default:
			left = append(left, j.ID)
		}
		all++
	}
	text := fmt.Sprintf("%d of %s succeeded", succeeded, figure.Count(all, "task"))
	if unneeded > 0 {
		text += fmt.Sprintf(" (%d more were not needed)", unneeded)
	}
	for _, g := range []struct {
		word string
		ids  []string
	}{{"failed", failed}, {"blocked", blocked}, {"interrupted", cut}, {"not done", left}} {
		if len(g.ids) > 0 {
			text += fmt.Sprintf(", %d %s: %s", len(g.ids), g.word, fewNames(g.ids))
		}
	}
	text += fmt.Sprintf("; results in %s (%s)\n", filepath.Join(run.Dir, ledger.TasksDir), unreviewed)
	return text + unjoined + waiting(s, len(left))
}

// waiting says how the tasks go on that a used-up quota has left.
func waiting(s ledger.State, left int) (text string) {
	for _, p := range s.Paused {
		if left > 0 && p.Reason == runtime.ReasonQuota {
			text += fmt.Sprintf("%s has used up its quota, and gets no new tasks %s; then: orchestrate resume %s\n", p.Runtime, whileHeld(p), s.RunID)
		}
	}
	return text
}

// nextOf says what to do about the tasks of a call that did not succeed, those with the
// same next step together, and about what was written.
func nextOf(tasks []worker.Task, call string) (steps []string) {
	of := map[string][]string{}
	var beside, inPlace []string // who wrote into a worktree, and who into the checkout
	for _, t := range tasks {
		if t.Call != call {
			continue
		}
		switch {
		case t.Status.Patch == nil || !t.Well():
		case t.Status.Worktree != nil:
			beside = append(beside, t.ID)
		default:
			inPlace = append(inPlace, t.ID)
		}
		if t.Status.Next == nil {
			continue
		}
		if of[*t.Status.Next] == nil {
			steps = append(steps, *t.Status.Next)
		}
		of[*t.Status.Next] = append(of[*t.Status.Next], t.ID)
	}
	for i, step := range steps {
		steps[i] = fewNames(of[step]) + ": " + untrusted.From(step).Line(0)
	}
	if len(beside) > 0 {
		steps = append(steps, fmt.Sprintf("%s: what was written is in worktrees of their own; orchestrate integrate %s brings it together once you have read it", fewNames(beside), call))
	}
	if len(inPlace) > 0 {
		steps = append(steps, fmt.Sprintf("%s: what was written is in your checkout already; patch in status.json is the file that shows it", fewNames(inPlace)))
	}
	return steps
}

func fewNames(ids []string) string {
	if more := len(ids) - summaryNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:summaryNames], ", "), more)
	}
	return strings.Join(ids, ", ")
}

// printTasks prints how a call of the worker form ended, and says whether the run is one.
func (f *follower) printTasks(sys System) (is bool, err error) {
	tasks, err := tasksOf(sys, f.run.Dir, false)
	if err != nil {
		return false, failure(err)
	}
	if tasks == nil {
		return false, nil
	}
	state, err := f.now()
	if err != nil {
		return true, err
	}
	if _, err := fmt.Fprint(sys.Out, summaryOf(tasks.run, state)); err != nil {
		return true, failure(err)
	}
	return true, nil
}
