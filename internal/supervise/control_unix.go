//go:build linux || darwin

package supervise

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// control is the supervisor's end of the socket. It is read without blocking, by
// the one loop that also watches the program.
type control struct {
	fd    int
	in    frames
	locks []int // descriptors that arrived and belong to the next run frame
	gone  bool  // the engine has closed its end or died
	buf   [16 << 10]byte
	oob   [128]byte
}

// receive takes what is there. The end of the connection sets gone.
func (c *control) receive() error {
	for {
		n, oobn, _, _, err := unix.Recvmsg(c.fd, c.buf[:], c.oob[:], receiveFlags)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil || n == 0:
			c.gone = true
			return err
		}
		if oobn > 0 {
			if err := c.keep(c.oob[:oobn]); err != nil {
				return err
			}
		}
		c.in.add(c.buf[:n])
		if n < len(c.buf) {
			return nil
		}
	}
}

// keep stores the descriptors of a control message.
func (c *control) keep(oob []byte) error {
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return err
	}
	for i := range parts {
		fds, err := unix.ParseUnixRights(&parts[i])
		if err != nil {
			return err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
		}
		c.locks = append(c.locks, fds...)
	}
	return nil
}

// takeLocks hands out the descriptors that came with the run frame.
func (c *control) takeLocks() (files []*os.File) {
	for _, fd := range c.locks {
		files = append(files, os.NewFile(uintptr(fd), "lock"))
	}
	c.locks = nil
	return files
}

// send writes a frame. When the engine is gone there is nobody to tell: all that
// matters is on disk.
func (c *control) send(m message) {
	if c.gone {
		return
	}
	frame, err := encodeFrame(m)
	if err != nil {
		c.gone = true // the engine sees the connection end and reads exit.json
		return
	}
	for len(frame) > 0 {
		n, err := unix.SendmsgN(c.fd, frame, nil, nil, sendFlags)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			c.gone = true
			return
		}
		frame = frame[n:]
	}
}
