//go:build e2e && linux

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
)

// house is where commands run side by side and one after the other: what outlives the
// command that began it goes on there. A shell starts them; all of it is under one
// watcher.
type house struct {
	*lab
	watch *underWatch
	shell *os.File // takes lines
	count int
	close func() // waits for nothing; no process may be left
}

func (l *lab) openHouse() *house {
	l.t.Helper()
	read, write, err := os.Pipe()
	ok(l.t, err)
	h := &house{lab: l, watch: l.begin(read, "sh"), shell: write}
	ok(l.t, read.Close())
	h.close = sync.OnceFunc(func() {
		ok(l.t, write.Close())
		e, left := h.watch.end()
		for _, process := range left {
			l.t.Errorf("a process is left: %s", process)
		}
		if e.stderr != "" {
			l.t.Errorf("the shell says: %s", e.stderr)
		}
	})
	l.t.Cleanup(h.close)
	return h
}

// command is one that was started in a house.
type command struct {
	*house
	files string // where its streams and its exit status go, without the endings
}

// start starts a command of orchestrate.
func (h *house) start(args ...string) *command {
	h.t.Helper()
	return h.sh("%s %s", quoted(h.program()), strings.Join(args, " "))
}

// sh starts what a line of shell says.
func (h *house) sh(format string, args ...any) *command {
	h.t.Helper()
	h.count++
	c := &command{house: h, files: filepath.Join(h.base, fmt.Sprintf("command-%d", h.count))}
	f := quoted(c.files)
	_, err := fmt.Fprintf(h.shell, "{ %s </dev/null >%s.out 2>%s.err; echo $? >%s.part; mv %s.part %s.exit; } &\n", fmt.Sprintf(format, args...), f, f, f, f, f)
	ok(h.t, err)
	return c
}

func quoted(path string) string { return "'" + path + "'" }

func (c *command) read(ending string) string {
	data, err := os.ReadFile(c.files + ending)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
	return string(data)
}

// begun waits for the run directory and returns it.
func (c *command) begun() (dir string) {
	c.t.Helper()
	c.meanwhile("a run directory", func() bool {
		if m := runLine.FindStringSubmatch(c.read(".err")); m != nil {
			dir = m[1]
		}
		return dir != ""
	})
	return dir
}

// end waits for the end of the command, which belongs to the run in dir.
func (c *command) end(dir string) *ended {
	c.t.Helper()
	c.until("the end of a command", func() bool { return c.read(".exit") != "" })
	exit, err := strconv.Atoi(strings.TrimSpace(c.read(".exit")))
	ok(c.t, err)
	return &ended{lab: c.lab, exit: exit, stdout: c.read(".out"), stderr: c.read(".err"), run: dir}
}

// meanwhile waits for what comes while the command goes on.
func (c *command) meanwhile(what string, holds func() bool) {
	c.t.Helper()
	c.until(what, func() bool {
		if exit := c.read(".exit"); exit != "" {
			c.t.Fatalf("it ended with exit status %sbefore %s:\n%s%s", strings.ReplaceAll(exit, "\n", " "), what, c.read(".out"), c.read(".err"))
		}
		return holds()
	})
}

// until waits for what comes by itself.
func (h *house) until(what string, holds func() bool) {
	h.t.Helper()
	for !holds() {
		select {
		case <-h.watch.ctx.Done():
			h.t.Fatalf("there is no end of waiting for %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// kill ends exactly this process, and nothing that belongs to it.
func (h *house) kill(id process.Identity) {
	h.t.Helper()
	ok(h.t, id.Signal(os.Kill))
	h.until("the end of a killed process", func() bool { return id.Fate() == process.Gone })
}

// killEngine kills the engine of a run.
func (h *house) killEngine(dir string) {
	h.t.Helper()
	engine, known, err := ledger.Holder(dir)
	ok(h.t, err)
	if !known {
		h.t.Fatal("the run does not say who carries it on")
	}
	h.kill(engine)
}

// locks is what the newest attempts of jobs say about who runs them.
func (h *house) locks(dir string, jobs ...string) map[string]ledger.AttemptLock {
	h.t.Helper()
	run, err := ledger.Open(dir)
	ok(h.t, err)
	defer run.Close()
	all := map[string]ledger.AttemptLock{}
	for _, job := range jobs {
		lock, err := run.AttemptLock(job)
		ok(h.t, err)
		if lock.Supervisor == nil || lock.Program == nil || lock.Over {
			h.t.Fatalf("job %s is not at work: %+v", job, lock)
		}
		all[job] = lock
	}
	return all
}

// tree names the processes below pid.
func tree(pid int) (all []process.Identity) {
	for _, pid := range descendants(pid) {
		if id, ok := process.Of(pid); ok && id.Fate() == process.Alive {
			all = append(all, id)
		}
	}
	return all
}

// reachable are the processes that belong to a shell: those below it, and those of
// its process group and its session.
func reachable(shell int) []process.Identity {
	all := tree(shell)
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil { // only a malformed pattern
		panic(err)
	}
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		session, errSession := unix.Getsid(pid)
		group, errGroup := unix.Getpgid(pid)
		if errors.Join(errSession, errGroup) != nil || session != shell && group != shell {
			continue
		}
		if id, ok := process.Of(pid); ok {
			all = append(all, id)
		}
	}
	return all
}
