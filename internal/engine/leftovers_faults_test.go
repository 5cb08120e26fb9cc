//go:build faults && linux

package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
)

// cleanVar names, for the copy of this test that is to be killed, the workspace and what
// is given up in it.
const cleanVar = "ORCHESTRATE_TEST_CLEAN"

// TestACleanThatIsKilled is both: who kills, and who is killed at a failpoint.
func TestACleanThatIsKilled(t *testing.T) {
	if dir, run, doomed := strings.Cut(os.Getenv(cleanVar), "\n"); doomed {
		f := &field{t: t, dir: dir, eng: &Engine{Now: time.Now}}
		f.clean(run)
		t.Fatal("the failpoint was not reached")
	}
	for _, name := range failpoint.OfClean {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "bad", "good")
			f.attempt("bad", 1, ledger.Failed)
			f.attempt("good", 1, ledger.Success)
			f.end()
			f.write(f.tree["bad"].Dir, "later.txt", "x\n")
			killAt(t, name, cleanVar+"="+f.dir+"\n"+f.led.ID)
			late := ""
			if aside, err := filepath.Glob(f.led.Path(ledger.WorktreesDir, ".*", "later.txt")); err == nil && len(aside) > 0 && name == failpoint.CleanAside {
				late = filepath.Dir(aside[0])
				f.write(late, "late.txt", "late\n") // before it was looked at for the last time
			}
			if name == failpoint.CleanAside && late == "" {
				t.Error("no tree is aside")
			}
			if l := f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
				t.Errorf("stays: %+v", l.Items)
			}
			f.gone(f.led.Dir)
			if got := f.git("show", salvagePrefix+f.led.ID+"/bad:later.txt"); got != "x" {
				t.Errorf("saved %q", got)
			}
			if late != "" && !strings.Contains(f.git("log", "--all", "--format=", "--name-only"), "late.txt") {
				t.Error("what was written late is lost")
			}
			for _, job := range []string{"bad", "good"} {
				if got := f.git("log", "--all", "--format=%H"); !strings.Contains(got, f.work[job].Commit) {
					t.Errorf("the work of %s is lost", job)
				}
			}
			if refs := f.git("for-each-ref", "--format=%(refname)", "refs/heads"); refs != "refs/heads/main" {
				t.Errorf("branches:\n%s", refs)
			}
			f.git("fsck", "--strict")
		})
	}
}

// killAt runs the same test once more with an addition to its environment, and kills it
// at a failpoint.
func killAt(t *testing.T, name, env string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+strings.Split(t.Name(), "/")[0]+"$")
	cmd.Env = append(os.Environ(), env, "ORCHESTRATE_FAILPOINT="+name, "ORCHESTRATE_FAILPOINT_DIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	mark := filepath.Join(dir, name+"."+strconv.Itoa(cmd.Process.Pid))
	for {
		select {
		case err := <-ended:
			t.Fatalf("it ended before %s: %v", name, err)
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := os.Stat(mark); err == nil {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}
