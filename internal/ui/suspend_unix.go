//go:build unix

package ui

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// suspension stops this process and those that were started with it, as Ctrl-Z does,
// while the library has given the terminal back.
type suspension struct{}

// settled is how long a stop may take to come. Where nobody could continue the process
// the system does not stop it, and nothing says so.
const settled = 200 * time.Millisecond

// Run returns when the process goes on.
func (suspension) Run() error {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-on:
	case <-time.After(settled):
	}
	return nil
}

// SetStdin and the others have nothing to set: nothing is started.
func (suspension) SetStdin(io.Reader)  {}
func (suspension) SetStdout(io.Writer) {}
func (suspension) SetStderr(io.Writer) {}
