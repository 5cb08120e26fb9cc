//go:build unix

package detach

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Available says whether an engine can be detached on this system.
const Available = true

// controlFD is where the engine, and the step between, find the control socket.
const controlFD = 3

// Start runs `program args…` in dir with env, as a process that is in a session of
// its own and whose parent has gone: neither a signal to the caller's process group
// or session nor a walk over its children reaches it. args must make the program
// call Launch. Inside another job it is still a descendant of that job's supervisor.
func Start(program string, args, env []string, dir string) (*Viewer, error) {
	mine, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	v := &Viewer{link: newLink(mine)}
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = env, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{theirs}
	out, err1 := pipeTo(&v.Stdout)
	complaint, err2 := pipeTo(&v.Stderr)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = out, complaint
	err = cmd.Start()
	closed := errors.Join(theirs.Close(), out.Close(), complaint.Close())
	if err = errors.Join(err, closed); err == nil {
		err = v.launched(cmd)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the engine could not be started: %w", err), mine.Close(), v.Stdout.Close(), v.Stderr.Close())
	}
	v.messages = v.link.receive()
	return v, nil
}

// launched waits for the step between, which ends at once; what it complains of comes
// through the pipe that the engine would have had.
func (v *Viewer) launched(cmd *exec.Cmd) error {
	err := cmd.Wait()
	if err == nil {
		return nil
	}
	text, readErr := io.ReadAll(io.LimitReader(v.Stderr, 4<<10))
	return errors.Join(fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text))), readErr)
}

func pipeTo(read **os.File) (write *os.File, err error) {
	*read, write, err = os.Pipe()
	return write, err
}

func socketPair() (a, b *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	return socketFile(fds[0]), os.NewFile(uintptr(fds[1]), "control"), nil
}

// socketFile is a socket whose Read ends when it is closed.
func socketFile(fd int) *os.File {
	_ = unix.SetNonblock(fd, true) // cannot fail for a socket of ours
	return os.NewFile(uintptr(fd), "control")
}

// Launch is the step between: it starts `program args…` in yet another session and
// returns, so that its caller ends and the engine has no parent of ours. The engine
// gets the control socket and the two pipes, and nothing else that is open here.
func Launch(program string, args []string) error {
	if err := closeOnExec(); err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{os.NewFile(controlFD, "control")}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// closeOnExec keeps descriptors that the caller left open out of the engine, which
// would hold them for as long as the run takes.
func closeOnExec() error {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("cannot tell which descriptors are open: %w", err)
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= controlFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// Serve makes this process the engine that Launch started: it says that it is there.
func Serve() (*Control, error) {
	if kind, err := unix.GetsockoptInt(controlFD, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
		return nil, errors.New("this command is started by `orchestrate run`, not by hand: it has no control socket")
	}
	unix.CloseOnExec(controlFD)
	return newControl(newLink(socketFile(controlFD))), nil
}
