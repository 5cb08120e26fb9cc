//go:build linux

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// typist is a person at a terminal of their own: `typist DIALOG PROGRAM ARGS…`. Each
// line of the file DIALOG is what they do: `wait TEXT` until the terminal shows it,
// `type TEXT` with the return key, `press C` with the control key, `hangup`. What the
// terminal showed is in the file DIALOG.tty afterwards. The program's output goes where
// it always does, and its status is the typist's.
func typist(args []string) int {
	dialog, err := os.ReadFile(args[0])
	if err != nil {
		return complain("typist", err)
	}
	t, slave, err := newTerminal()
	if err != nil {
		return complain("typist", err)
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), slave.Close()); err != nil {
		return complain("typist", err)
	}
	for line := range strings.Lines(string(dialog)) {
		if err := t.do(strings.TrimSuffix(line, "\n")); err != nil {
			complain("typist", err)
			cmd.Process.Kill()
			break
		}
	}
	cmd.Wait() // its state says how it ended
	if err := os.WriteFile(args[0]+".tty", t.shown.Bytes(), 0o600); err != nil {
		return complain("typist", err)
	}
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// ofTerminal is one end of a terminal, with all that it has shown.
type ofTerminal struct {
	master *os.File
	shown  bytes.Buffer
	seen   int // of shown, by a wait before
}

func newTerminal() (*ofTerminal, *os.File, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var n int
	raw, err := master.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	err = errors.Join(raw.Control(func(fd uintptr) {
		err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		if err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}), err)
	if err != nil {
		return nil, nil, err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	return &ofTerminal{master: master}, slave, err
}

func (t *ofTerminal) do(line string) error {
	what, text, _ := strings.Cut(line, " ")
	switch what {
	case "wait":
		return t.wait(text)
	case "type":
		_, err := t.master.WriteString(text + "\n")
		return err
	case "press":
		_, err := t.master.Write([]byte{text[0] & 0x1f})
		return err
	case "hangup":
		return t.master.Close()
	}
	return fmt.Errorf("what is %q?", line)
}

// wait reads until the terminal shows a text that no wait before has seen.
func (t *ofTerminal) wait(text string) error {
	if err := t.master.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	buf := make([]byte, 4<<10)
	for {
		if i := bytes.Index(t.shown.Bytes()[t.seen:], []byte(text)); i >= 0 {
			t.seen += i + len(text)
			return nil
		}
		n, err := t.master.Read(buf)
		t.shown.Write(buf[:n])
		if err != nil {
			return fmt.Errorf("the terminal does not show %q but %q: %w", text, t.shown.String()[t.seen:], err)
		}
	}
}
