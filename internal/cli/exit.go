package cli

import "orchestrate/internal/engine"

// The exit statuses that commands end with; those of a run are the engine's.
const (
	exitOK          = engine.ExitOK
	exitFailed      = engine.ExitFailed
	exitUsage       = engine.ExitUsage
	exitBlocked     = engine.ExitBlocked
	exitAwaiting    = engine.ExitAwaiting
	exitRunning     = engine.ExitRunning // of commands that look at a run, not of the run
	exitInterrupted = engine.ExitInterrupted
)

const exitTable = `Exit status: 0 all succeeded and the verdict is pass (or unreviewed as asked, or a
rehearsal); 1 a job or the verdict failed; 2 usage or spec error; 3 blocked by
approval, route or arbiter; 4 jobs await the hosting session: orchestrate next RUN;
5 still running; 124 wall budget; 130 interrupted, or cut off: orchestrate resume RUN
goes on, if whoever stopped it wants that.`

// statusError ends a command with a status; err, if any, is printed first.
type statusError struct {
	code int
	err  error
}

func (e statusError) Error() string {
	if e.err == nil {
		return "ended with a status"
	}
	return e.err.Error()
}

func (e statusError) Unwrap() error { return e.err }

func usageError(err error) error { return statusError{exitUsage, err} }
func failure(err error) error    { return statusError{exitFailed, err} }

// exit turns a status into what a command returns.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return statusError{code: code}
}
