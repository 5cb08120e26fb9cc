//go:build linux

package supervise_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

// tricks are ways out for which the shell has no words. Each gets the file outside, the
// file that may not be read and the name of an abstract socket; nil means that it worked.
var tricks = map[string]func(out, hidden, socket string) error{
	"exchange": func(out, _, _ string) error {
		if err := os.WriteFile("mine", nil, 0o600); err != nil {
			return nil
		}
		return unix.Renameat2(unix.AT_FDCWD, "mine", unix.AT_FDCWD, out, unix.RENAME_EXCHANGE)
	},
	"whiteout": func(out, _, _ string) error {
		return unix.Renameat2(unix.AT_FDCWD, out, unix.AT_FDCWD, "mine", unix.RENAME_WHITEOUT)
	},
	"unnamed": func(out, _, _ string) error {
		_, err := unix.Open(filepath.Dir(out)+"/empty", unix.O_TMPFILE|unix.O_WRONLY, 0o600)
		return err
	},
	"link by descriptor": func(out, _, _ string) error {
		fd, err := unix.Open(out, unix.O_RDONLY, 0)
		if err != nil {
			return nil
		}
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "mine", unix.AT_SYMLINK_FOLLOW)
	},
	"path descriptor": func(out, _, _ string) error {
		fd, err := unix.Open(out, unix.O_PATH, 0)
		if err != nil {
			return nil
		}
		_, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY, 0)
		return err
	},
	"denied path descriptor": func(_, hidden, _ string) error {
		fd, err := unix.Open(hidden, unix.O_PATH, 0)
		if err != nil {
			return nil
		}
		_, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY, 0)
		return err
	},
	"by handle": func(_, hidden, _ string) error {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, hidden, 0)
		if errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
		if err != nil {
			return nil
		}
		mount, err := unix.Open(".", unix.O_RDONLY, 0)
		if err != nil {
			return nil
		}
		_, err = unix.OpenByHandleAt(mount, handle, unix.O_RDONLY)
		return err
	},
	"trace":       func(string, string, string) error { return unix.PtraceAttach(os.Getppid()) },
	"seize":       func(string, string, string) error { return unix.PtraceSeize(os.Getppid()) },
	"read memory": readMemory,
	"take a descriptor": func(string, string, string) error {
		fd, err := unix.PidfdOpen(os.Getppid(), 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 1, 0)
		return err
	},
	"signal by pidfd": func(string, string, string) error {
		fd, err := unix.PidfdOpen(os.Getppid(), 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, 0, nil, 0)
	},
	"abstract socket": func(_, _, socket string) error {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
		}
		return err
	},
	"new mount": func(string, string, string) error { _, err := unix.Fsopen("tmpfs", 0); return err },
	"root":      func(out, _, _ string) error { return pivot(out) },
	"privilege": func(string, string, string) error {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_SYS_ADMIN, 0, 0)
	},
	"kernel log": func(string, string, string) error {
		_, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 8))
		return err
	},
	"host name": func(string, string, string) error { return unix.Sethostname([]byte("orchestrate-test")) },
}

// aim is something to read in a process of the same program.
var aim = 1

// readMemory reads some bytes of the supervisor, as a debugger would.
func readMemory(string, string, string) error {
	var buf [8]byte
	local := []unix.Iovec{{Base: &buf[0], Len: 8}}
	remote := []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&aim)), Len: 8}} // the same program, so perhaps the same place
	_, err := unix.ProcessVMReadv(os.Getppid(), local, remote, 0)
	return err
}

// pivot leaves the root and writes from outside it.
func pivot(out string) error {
	if err := errors.Join(os.Mkdir("jail", 0o700), unix.Chroot("jail")); err != nil {
		return err
	}
	return os.WriteFile("../../../../../../../../../.."+out, []byte("x"), 0o600)
}

// trickRole tries one: 0 = it worked, 10 = it was refused, 11 = neither is known.
func trickRole(args []string) int {
	err := tricks[args[0]](args[1], args[2], args[3])
	fmt.Println(err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EXDEV):
		return 10
	}
	return 11
}

func TestTricksAreRefused(t *testing.T) {
	t.Parallel()
	if sandbox.ABI() < 6 {
		t.Skip("before version 6 Landlock holds neither signals nor abstract sockets, as its limits say")
	}
	for name := range tricks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlot(t)
			socket := "@orchestrate-test" + strings.ReplaceAll(p.root, "/", "-")
			server, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			inv := p.boxed(t, "")
			inv.Argv = []string{supervisor(t)[0], "trick", name, p.out + "/file", p.hidden + "/file", socket}
			checkExit(t, run(t, inv), 10, supervise.StopNone)
			if t.Failed() {
				t.Log(read(t, inv, "stdout.txt"))
			}
			p.check(t)
		})
	}
}
