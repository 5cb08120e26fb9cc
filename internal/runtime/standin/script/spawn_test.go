//go:build unix

package script

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestASpawnedChildHoldsItsLockWhileItLives(t *testing.T) {
	dir := t.TempDir()
	p := play(t, dir, "version: 1\njobs: {j: [{spawn: {sleep: 10m, lock: held}}]}", "--job=j")
	if p.code != 0 {
		t.Fatalf("exit %d, stderr %s", p.code, p.stderr)
	}
	var pid int
	for _, e := range p.events {
		if m := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(e.Text.Unshown()); m != nil {
			pid, _ = strconv.Atoi(m[1])
		}
	}
	if pid == 0 {
		t.Fatalf("no process id in %+v", p.events)
	}
	f, err := os.Open(filepath.Join(dir, "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	free := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("the child is in session %d (%v), want its own, %d", sid, err, pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if free == nil {
		t.Error("the lock was free while the child lived")
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Errorf("the lock outlived the child: %v", err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Errorf("reaping the child: %v", err)
	}
}
