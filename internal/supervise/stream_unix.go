//go:build linux || darwin

package supervise

import (
	"errors"

	"golang.org/x/sys/unix"

	"orchestrate/internal/capture"
)

const (
	smallRead = 32 << 10
	largeRead = 256 << 10
	largePipe = 1 << 20
	// drainLimit is more than any pipe holds: what a dead tree left in it.
	drainLimit = 4 << 20
)

// stream is one of the program's output streams: the read end of its pipe, the
// bounded capture and, if a decoder reads lines, their framing.
type stream struct {
	fd      int // -1 once closed
	file    *capture.Writer
	sieve   *capture.Sieve // nil if all of it is kept
	lines   *capture.Lines // nil if nothing decodes it
	spotter spotter
	dirty   bool // captured since the last flush
	widened bool
}

// read takes one chunk. The buffer and the pipe grow when a stream turns out to be
// busy; most jobs never need that. chunk is nil when there is nothing (more) to read,
// and valid until the next read into buf.
func (s *stream) read(buf *[]byte) (chunk []byte) {
	if len(*buf) == 0 {
		*buf = make([]byte, smallRead)
	}
	n, err := unix.Read(s.fd, *buf)
	switch {
	case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil || n == 0:
		s.closeRead()
		return nil
	}
	chunk = (*buf)[:n]
	s.dirty = true
	if n == len(*buf) {
		s.widen(buf)
	}
	return chunk
}

func (s *stream) widen(buf *[]byte) {
	if !s.widened {
		s.widened = true
		widenPipe(s.fd)
	}
	if len(*buf) < largeRead {
		*buf = make([]byte, largeRead)
	}
}

func (s *stream) closeRead() {
	if s.fd >= 0 {
		closeFD(s.fd)
		s.fd = -1
	}
}

// feeder gives the program its stdin without ever waiting for it.
type feeder struct {
	fd   int // -1 when everything was given, or nobody reads any more
	rest []byte
}

// write gives as much as the pipe takes now. A program that does not want its
// input (EPIPE) is fine.
func (f *feeder) write() {
	for len(f.rest) > 0 {
		n, err := unix.Write(f.fd, f.rest)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil {
			break
		}
		f.rest = f.rest[n:]
	}
	f.close()
}

func (f *feeder) close() {
	if f.fd >= 0 {
		closeFD(f.fd)
		f.fd, f.rest = -1, nil
	}
}

// closeFD closes a descriptor. Linux and macOS release it whatever the answer, and
// none of these has data that a late error could tell about.
func closeFD(fd int) { _ = unix.Close(fd) }
