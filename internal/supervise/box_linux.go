package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/sandbox"
)

// boxLimit is how long a child may take to confine itself.
const boxLimit = 10 * time.Second

// box is what a program is started through that the kernel's sandbox is to hold: the
// policy that the child reads, and a pipe over which it says that it is held, or why not.
type box struct {
	policy  int
	trouble int
	theirs  int // the other end of the pipe
}

func openBox(policy sandbox.Policy) (b *box, err error) {
	b = &box{policy: -1, trouble: -1, theirs: -1}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.policy, err = unix.MemfdCreate("policy", unix.MFD_CLOEXEC); err != nil {
		return b, err
	}
	data, err := json.Marshal(policy)
	if err != nil {
		return b, err
	}
	for at := 0; at < len(data); {
		n, err := unix.Pwrite(b.policy, data[at:], int64(at))
		if err != nil {
			return b, err
		}
		at += n
	}
	b.trouble, b.theirs, err = pipe()
	return b, err
}

// wrap returns the command that confines itself and then becomes c.
func (b *box) wrap(c command) command {
	argv := append([]string{os.Args[0], sandbox.Command, c.path}, c.argv...)
	return command{name: c.name, path: "/proc/self/exe", argv: argv, files: append(c.files, uintptr(b.policy), uintptr(b.theirs))}
}

// await waits until the child has become the program. An error says why it did not.
func (b *box) await() error {
	closeFD(b.theirs)
	b.theirs = -1
	said, err := b.read(time.Now().Add(boxLimit))
	switch {
	case err != nil:
		return err
	case len(said) == 0:
		return errors.New("the process ended before it was held")
	case said[0] == sandbox.Confined && len(said) == 1:
		return nil
	case said[0] == sandbox.Confined:
		said = said[1:]
	}
	return errors.New(string(said))
}

// read takes what the child says until it closes its end.
func (b *box) read(deadline time.Time) (said []byte, err error) {
	for buf := make([]byte, 4096); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return nil, fmt.Errorf("the process was not held within %v", boxLimit)
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(b.trouble), Events: unix.POLLIN}}, int(left/time.Millisecond)+1)
		if errors.Is(err, unix.EINTR) || err == nil && ready == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		n, err := unix.Read(b.trouble, buf)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return said, nil
		default:
			said = append(said, buf[:n]...)
		}
	}
}

func (b *box) close() {
	for _, fd := range []int{b.policy, b.trouble, b.theirs} {
		if fd >= 0 {
			closeFD(fd)
		}
	}
}
