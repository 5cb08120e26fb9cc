package cli

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/worker"
)

// workerStatus shows where the tasks of a worker run stand, over all its calls.
func workerStatus(sys System, run worker.Run, asJSON bool) error {
	o, tasks, unkept, err := run.Look()
	if err != nil {
		return failure(err)
	}
	sayUnkept(sys, unkept)
	if asJSON {
		err = printJSON(sys.Out, o)
	} else {
		err = showTasks(sys.Out, o, tasks, sys.Now())
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

func showTasks(out io.Writer, o worker.Overview, tasks []worker.Task, now time.Time) error {
	fmt.Fprintf(out, "worker run %s in %s (%s)\n", o.RunID, o.RunDir, unreviewed)
	fmt.Fprintln(out, o.Counts)
	if n := len(o.NotNeeded); n > 0 {
		fmt.Fprintf(out, "%d not needed: %s\n", n, fewNames(o.NotNeeded))
	}
	for _, c := range o.Calls {
		if c.State != worker.CallEnded {
			fmt.Fprintf(out, "call %s: %s\n", c.ID, aboutCall(c, stillAt(tasks, c.ID)))
		}
	}
	for _, p := range o.Paused {
		held := ledger.Paused{Runtime: p.Adapter, Until: p.Until, Resets: p.Resets}
		fmt.Fprintf(out, "%s gets no new tasks %s (%s)\n", p.Adapter, whileHeld(held), inWords(p.Reason))
	}
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "TASK\tSTATE\tEXIT\tTIME\tSESSION\tPREVIEW")
	for _, task := range tasks {
		showTask(t, task, now)
	}
	return t.Flush()
}

// stillAt are the tasks of a call that are running.
func stillAt(tasks []worker.Task, call string) (ids []string) {
	for _, t := range tasks {
		if t.Call == call && t.Status.State == ledger.Running {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// aboutCall says what a call that has not ended is at; at are its tasks that run.
func aboutCall(c worker.CallState, at []string) string {
	switch c.State {
	case worker.CallRunning:
		return "it goes on: orchestrate wait " + c.ID
	case worker.CallAwaiting:
		return "it awaits the hosting session: orchestrate next " + c.ID
	}
	if len(at) > 0 {
		return fmt.Sprintf("its engine is gone, and %s still runs; take it over with: orchestrate resume %s; or end it: orchestrate cancel %s", fewNames(at), c.ID, c.ID)
	}
	return "its engine is gone, so it was cut off; go on with: orchestrate resume " + c.ID
}

// sayUnkept says which folders of tasks are not as they should be, and that nothing is lost.
func sayUnkept(sys System, unkept error) {
	if unkept != nil {
		fmt.Fprintf(sys.Err, "note: not all of the tasks' folders could be written; what came of the tasks is safe, and told from their calls: %s\n", untrusted.From(unkept.Error()).Line(unkeptRunes))
	}
}

// unkeptRunes bounds how much is said of folders that cannot be written.
const unkeptRunes = 500

// previewRunes bounds what a line shows of an answer.
const previewRunes = 72

// showTask is a task's line; of one that runs the time is that until now.
func showTask(t io.Writer, task worker.Task, now time.Time) {
	s := task.Status
	exit, took, session, shown := "-", "-", "-", task.Preview().Line(previewRunes)
	if s.ExitCode != nil {
		exit = strconv.Itoa(*s.ExitCode)
	}
	switch {
	case s.DurationS != nil:
		took = figure.Took(time.Duration(*s.DurationS * float64(time.Second)))
	case s.State == ledger.Running && s.StartedAt != nil:
		took = figure.Took(max(0, now.Sub(*s.StartedAt)))
	}
	if s.SessionID != nil {
		session = untrusted.From(*s.SessionID).Line(0)
	}
	state := string(s.State)
	if s.Reason != nil {
		state += " (" + string(*s.Reason) + ")"
	}
	if shown == "" && s.Evidence != nil {
		shown = s.Evidence.Line(previewRunes)
	}
	fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", task.ID, state, exit, took, session, orDash(shown))
}
