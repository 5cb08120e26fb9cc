//go:build linux

package ui

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"

	"orchestrate/internal/ledger"
)

// glassTerminal is a terminal with an emulator behind it.
type glassTerminal struct {
	master, slave *os.File

	mu   sync.Mutex
	em   *vt.Emulator
	seen chan struct{} // holds one: something was drawn
	done sync.WaitGroup
}

func newTerminal(t *testing.T, w, h int) *glassTerminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	raw, err := master.SyscallConn()
	must(t, err)
	n := 0
	must(t, raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	must(t, err)
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	g := &glassTerminal{master: master, slave: slave, em: vt.NewEmulator(w, h), seen: make(chan struct{}, 1)}
	g.size(t, w, h)
	g.done.Go(g.read)
	g.done.Go(g.reply)
	t.Cleanup(func() {
		for _, c := range []any{slave, master, g.em.InputPipe()} {
			must(t, c.(io.Closer).Close())
		}
		g.done.Wait()
	})
	return g
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (g *glassTerminal) read() {
	buf := make([]byte, 4<<10)
	for {
		n, err := g.master.Read(buf)
		if err != nil {
			return
		}
		g.mu.Lock()
		g.em.Write(buf[:n])
		g.mu.Unlock()
		select {
		case g.seen <- struct{}{}:
		default:
		}
	}
}

// reply hands on what the emulator answers to questions.
func (g *glassTerminal) reply() {
	buf := make([]byte, 1<<10)
	for {
		n, err := g.em.Read(buf)
		if err != nil {
			return
		}
		g.master.Write(buf[:n])
	}
}

func (g *glassTerminal) size(t *testing.T, w, h int) {
	t.Helper()
	g.mu.Lock()
	g.em.Resize(w, h)
	g.mu.Unlock()
	must(t, unix.IoctlSetWinsize(int(g.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(h), Col: uint16(w)}))
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil { // the terminal is not this process's own
		t.Fatal(err)
	}
}

func (g *glassTerminal) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	lines := strings.Split(g.em.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// shows waits until the screen is exactly this.
func (g *glassTerminal) shows(t *testing.T, want []string) {
	t.Helper()
	text := strings.TrimRight(strings.Join(want, "\n"), "\n")
	patience := time.After(20 * time.Second)
	for g.text() != text {
		select {
		case <-g.seen:
		case <-patience:
			t.Fatalf("the screen shows\n%s\nand not\n%s", g.text(), text)
		}
	}
}

func (g *glassTerminal) attributes(t *testing.T) unix.Termios {
	t.Helper()
	a, err := unix.IoctlGetTermios(int(g.slave.Fd()), unix.TCGETS)
	must(t, err)
	return *a
}

// After every change of size the screen is the view of that size and nothing else, and
// at the end it is as it was before, the terminal too.
func TestScreen(t *testing.T) {
	g := newTerminal(t, 80, 24)
	before := g.attributes(t)
	fmt.Fprint(g.slave, "$ x\n")
	g.shows(t, []string{"$ x"})
	s := newStory(many(200))
	for i := range 30 {
		s.start(fmt.Sprintf("job-%03d", i), 1, "claude")
		if i < 25 {
			s.settle(fmt.Sprintf("job-%03d", i), ledger.Success, spent(100, 10, 0.1))
		}
	}
	pressed := make(chan Press, 8)
	screen, err := OpenScreen(Terminal{In: g.slave, Out: g.slave, Env: []string{"TERM=xterm-256color"}, Stops: "stop"},
		s.Live, func() time.Time { return s.now }, func(p Press) { pressed <- p })
	must(t, err)
	at := Following
	expect := func(w, h int) {
		t.Helper()
		lines, _, _, _ := s.View(Frame{Width: w, Height: h, Now: s.now, At: at, Keys: keys + "stop"})
		g.shows(t, lines)
	}
	expect(80, 24)
	for _, to := range [][2]int{{200, 50}, {60, 10}, {81, 25}, {30, 6}, {10, 2}, {80, 24}} {
		g.size(t, to[0], to[1])
		expect(to[0], to[1])
	}
	s.settle("job-029", ledger.Failed, nil)
	expect(80, 24)
	for _, press := range []struct {
		keys string
		at   int
	}{{"g", 0}, {"j", 1}, {"\x1b[B", 2}, {"k", 1}, {"\x1b[A\x1b[A", 0}, {"f", Following}, {"G", 1 << 30}, {"f", Following}} {
		g.master.WriteString(press.keys)
		at = press.at
		expect(80, 24)
	}
	g.master.WriteString("\x03q")
	if a, b := <-pressed, <-pressed; a != PressInterrupt || b != PressLeave {
		t.Errorf("pressed %v and %v", a, b)
	}
	must(t, screen.Close())
	g.shows(t, []string{"$ x"})
	if g.em.IsAltScreen() || g.em.CursorHidden() {
		t.Error("the alternate screen is not left, or the cursor is hidden")
	}
	if after := g.attributes(t); after != before {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}

// A fault in the view ends the view and gives the terminal back.
func TestAFaultGivesTheTerminalBack(t *testing.T) {
	g := newTerminal(t, 80, 24)
	before := g.attributes(t)
	var faulty atomic.Int32
	screen, err := OpenScreen(Terminal{In: g.slave, Out: g.slave, Env: []string{"TERM=xterm-256color"}}, NewLive(), func() time.Time {
		if faulty.Add(1) == 1 {
			return noon
		}
		panic("a clock that has stopped")
	}, func(Press) {})
	must(t, err)
	<-screen.Done()
	if err := screen.Close(); err == nil || !strings.Contains(err.Error(), "a clock that has stopped") {
		t.Errorf("it is said: %v", err)
	}
	if after := g.attributes(t); after != before {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}
