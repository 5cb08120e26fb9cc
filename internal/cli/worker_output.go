package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"orchestrate/internal/ledger"
	"orchestrate/internal/worker"
)

// workerOutput prints the answer of a task of a worker run, or its log.
func workerOutput(sys System, run worker.Run, task string, log bool) error {
	call, err := newestWith(run, task)
	if err != nil {
		return err
	}
	tasks, unkept, err := run.Project()
	if err != nil {
		return failure(err)
	}
	sayUnkept(sys, unkept)
	state, ended := ledger.Skipped, "" // a pattern did not need it
	var of worker.Task
	for _, t := range tasks {
		if t.ID == task {
			of, state, ended = t, t.Status.State, howEnded(t)
		}
	}
	switch {
	case log && !state.Settled():
		return printLive(sys, call, task)
	case log:
		return printTask(sys, of, true, "its program never ran")
	case !state.Settled():
		return failure(fmt.Errorf("task %s is %s and has no answer yet; what it says: orchestrate output --follow %s %s", task, state, run.ID, task))
	}
	err = printTask(sys, of, false, fmt.Sprintf("orchestrate output --log %s %s shows what it printed, orchestrate status %s where it stands", run.ID, task, run.ID))
	if err == nil && ended != "" { // what was printed may be nothing, or half an answer
		fmt.Fprintf(sys.Err, "%s; orchestrate output --log %s %s shows what it printed\n", ended, run.ID, task)
	}
	return err
}

// howEnded says of a task that did not end well how it ended, "" of one that did.
func howEnded(t worker.Task) string {
	s := t.Status
	if s.State.Well() || !s.State.Settled() {
		return ""
	}
	text := fmt.Sprintf("task %s: %s", t.ID, s.State)
	if s.Reason != nil {
		text += " (" + string(*s.Reason) + ")"
	}
	if s.Evidence != nil {
		text += ": " + s.Evidence.Line(previewRunes)
	}
	return text
}

// printLive is printLog of a task in a call.
func printLive(sys System, call worker.Call, task string) error {
	run, err := ledger.Open(call.Dir)
	if err != nil {
		return failure(err)
	}
	defer run.Close() //nolint:errcheck // opened for reading
	return printLog(sys, run, task)
}

// printLog prints what the program of a job has printed until now.
func printLog(sys System, run *ledger.Run, job string) error {
	printed := false
	for _, name := range []string{ledger.StdoutFile, ledger.StderrFile} {
		data, err := run.ReadFile(ledger.JobPath(job, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			printed = true
			_, err = forReader(sys.Out).Write(data)
		}
		if err != nil {
			return failure(err)
		}
	}
	switch state := jobIn(run.State(), job); {
	case !state.Status.Settled():
		fmt.Fprintf(sys.Err, "%s is %s; follow it: orchestrate output --follow %s %s\n", job, state.Status, run.ID, job)
	case !printed:
		return failure(fmt.Errorf("job %s printed nothing", job))
	}
	return nil
}

// printTask prints the answer of a task, or its log; what a terminal would obey it shows.
func printTask(sys System, task worker.Task, log bool, instead string) error {
	name := map[bool]string{false: worker.OutputFile, true: worker.LogFile}[log]
	var text bytes.Buffer
	err := task.Print(&text, log)
	if errors.Is(err, fs.ErrNotExist) {
		return failure(fmt.Errorf("task %s has no %s; %s", task.ID, name, instead))
	}
	if err == nil {
		_, err = forReader(sys.Out).Write(text.Bytes())
	}
	if err != nil {
		return failure(err)
	}
	return nil
}
