//go:build linux || darwin

package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
	"orchestrate/internal/secret"
)

// server is one supervisor process: what outlives a single job.
type server struct {
	opt     Options
	control control
	null    int              // /dev/null, the stdin of jobs that get none
	wake    int              // readable after a signal to the supervisor itself
	told    atomic.Int32     // how often it was told to end
	self    process.Identity // known from the first lock on
	tree    *tree

	// Kept from one job to the next, because they cost more than a small job.
	buf     []byte
	secrets []string
	allowed []string
	red     *secret.Redactor
}

// Serve is a supervisor's life: it greets the engine at the other end of socket,
// runs the jobs it is sent, one at a time, and returns when the engine is gone and
// its last job has settled. It makes the calling process a session leader and the
// reaper of all its descendants, so it must be the only work of its process.
func Serve(socket *os.File, opt Options) error {
	defer socket.Close() // also keeps the collector from closing it before
	s := &server{opt: opt, control: control{fd: int(socket.Fd())}}
	if err := s.prepare(); err != nil {
		return err
	}
	defer s.tree.close()
	s.control.send(message{Kind: kindHello, Version: opt.Version, Protocol: protocol, PID: os.Getpid()})
	for {
		m, ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		if m.Kind == kindRun && m.Run != nil {
			s.run(m)
		} // a cancel that came too late for its job is nothing
	}
}

func (s *server) prepare() error {
	var st unix.Stat_t
	if err := unix.Fstat(s.control.fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return fmt.Errorf("descriptor %d is no control socket: this program is started by orchestrate, not by hand", s.control.fd)
	}
	unix.CloseOnExec(s.control.fd)
	keepDescriptors()
	// Fails only where it is a group leader already, as when the engine made it one.
	_, _ = unix.Setsid()
	if err := os.Chdir("/"); err != nil { // pins no folder of the user's
		return err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	s.null = null
	if s.tree, err = newTree(s.opt.NoCgroup); err != nil {
		return err
	}
	return s.watchSignals()
}

// watchSignals makes SIGTERM and SIGINT to the supervisor stop its job politely, a
// second one without further grace.
// Catching them also gives programs the default disposition back when the engine
// was started with them ignored.
func (s *server) watchSignals() error {
	r, w, err := pipe()
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	if err := unix.SetNonblock(r, true); err != nil {
		return err
	}
	s.wake = r
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() { // lives as long as the process
		for sig := range signals {
			if sig == syscall.SIGHUP {
				continue // a closed terminal is no reason to stop
			}
			s.told.Add(1)
			_, _ = unix.Write(w, []byte{0}) // full means that the loop wakes up anyway
		}
	}()
	return nil
}

// next waits for a whole frame; ok is false when the engine is gone.
func (s *server) next() (m message, ok bool, err error) {
	for {
		m, ok, err = s.control.in.next()
		if err != nil || ok {
			return m, ok, err
		}
		if s.control.gone || s.told.Load() > 0 {
			return m, false, nil
		}
		fds := []unix.PollFd{{Fd: int32(s.control.fd), Events: unix.POLLIN}, {Fd: int32(s.wake), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return m, false, fmt.Errorf("poll: %w", err)
		}
		if fds[0].Revents != 0 {
			// An error is the engine's end by another name (connection reset).
			_ = s.control.receive()
		}
	}
}

// redactor returns one for these exact values, the last one if they are the same.
func (s *server) redactor(inv *Invocation) *secret.Redactor {
	if inv.Unredacted {
		return nil
	}
	if s.red == nil || !slices.Equal(s.secrets, inv.Secrets) || !slices.Equal(s.allowed, inv.AllowedSecrets) {
		s.red = secret.NewAllowing(inv.Secrets, inv.AllowedSecrets)
		s.secrets, s.allowed = inv.Secrets, inv.AllowedSecrets
	}
	return s.red
}
