package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"orchestrate/internal/runtime/acp"
)

// agent is the child process.
type agent struct {
	cmd    *exec.Cmd
	stdin  *os.File // our ends of its pipes
	stdout *os.File
	grace  time.Duration

	ended  chan struct{} // closed when it has ended, with all fields below set
	status string

	once sync.Once
}

// start runs the agent in a process group of its own, so that the whole group can
// be ended.
func start(turn acp.Turn, errs io.Writer) (*agent, error) {
	if len(turn.Agent) == 0 {
		return nil, errors.New("the turn names no agent to start")
	}
	itsIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, itsOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, itsIn.Close(), stdin.Close())
	}
	a := &agent{
		cmd: exec.Command(turn.Agent[0], turn.Agent[1:]...), stdin: stdin, stdout: stdout,
		grace: turn.Grace, ended: make(chan struct{}),
	}
	a.cmd.Dir, a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = turn.Dir, itsIn, itsOut, errs
	a.cmd.WaitDelay = a.grace // its children may hold standard error for ever
	ownGroup(a.cmd)
	err = errors.Join(a.cmd.Start(), itsIn.Close(), itsOut.Close())
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	go a.wait()
	return a, nil
}

func (a *agent) wait() {
	err := a.cmd.Wait()
	a.status = "exit status 0"
	if state := a.cmd.ProcessState; state != nil {
		a.status = state.String()
	} else if err != nil {
		a.status = fmt.Sprintf("cannot be waited for: %v", err)
	}
	close(a.ended)
}

// end has the agent leave: its input ends, then its group is told to, then killed.
// It returns when the agent is gone, or cannot be ended, and is meant to be called
// by several.
func (a *agent) end() {
	a.once.Do(func() {
		a.stdin.Close()
		if !a.gone(a.grace) {
			askToLeave(a.cmd)
			if !a.gone(a.grace) {
				a.kill()
			}
		}
		if a.gone(a.grace) {
			a.kill() // what it has left in its group
		}
		a.stdout.Close() // what has left the group may hold the other end
	})
}

// kill ends the agent's group at once.
func (a *agent) kill() { killGroup(a.cmd) }

// gone waits for the agent's own process to end.
func (a *agent) gone(atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-a.ended:
		return true
	case <-timer.C:
		return false
	}
}
