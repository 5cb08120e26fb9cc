package workspace

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// holdVar makes this test program one that takes the lock of the folder that it
// names, says so, and keeps it until it dies.
const holdVar = "ORCHESTRATE_TEST_HOLD"

func holdForEver(dir string) {
	f, err := LockFolder(context.Background(), dir, "run r7, job build\x1b[31m", nil)
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = f.Close()
}

// another is a process that holds the lock of dir.
func another(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVar+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return cmd
}

// plain is a workspace that is no repository.
func plain(t *testing.T) string {
	t.Helper()
	dir := realTemp(t)
	if err := os.MkdirAll(filepath.Join(dir, "plans", "reports"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheLockOfAFolderEndsWithTheProcess(t *testing.T) {
	dir := plain(t)
	link := filepath.Join(realTemp(t), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	cmd := another(t, dir)
	var told []string
	f, err := LockFolder(context.Background(), link, "run r8", func(holder string) {
		told = append(told, holder)
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_ = cmd.Wait() // it was killed
	if len(told) != 1 || !strings.HasPrefix(told[0], "run r7, job build") || strings.Contains(told[0], "\x1b") {
		t.Errorf("told %q", told)
	}
	if who, err := note(f); who != "run r8" {
		t.Errorf("the lock says %q, %v", who, err)
	}
}

func TestOneWriterInACheckout(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	first, err := r.LockCheckout(ctx, "run a, job one", nil)
	if err != nil {
		t.Fatal(err)
	}
	given, cancel := context.WithCancel(ctx)
	_, err = open(t, dir).LockCheckout(given, "run b", func(holder string) {
		if holder != "run a, job one" {
			t.Errorf("told %q", holder)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := open(t, dir).LockCheckout(ctx, "b", func(string) { t.Error("waits for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if who, err := note(second); who != "b" {
		t.Errorf("the lock says %q, %v", who, err)
	}
}

// A git that outlives us keeps the lock under which it was started.
func TestGitKeepsTheLockItWasStartedUnder(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	name := filepath.Join(dir, "lock")
	lock, err := hold(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	answer, out := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := r.git.do(ctx, call{args: []string{"cat-file", "--batch-check"}, stdin: in, out: out, lock: lock})
		ended <- err
	}()
	io.WriteString(feed, "HEAD\n")
	if _, err := bufio.NewReader(answer).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	waited := false
	again, err := hold(ctx, name, func(string) { waited = true; feed.Close() })
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !waited {
		t.Error("the lock was free while git ran")
		feed.Close()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnotherWriterIsSeenWhileItWritesAndAfterwards(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "plans", "reports"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if _, there := OtherWriterIn(dir, before); there {
		t.Error("nobody has written yet")
	}
	lock, err := LockFolder(t.Context(), dir, "a job of a run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if who, there := OtherWriterIn(dir, time.Now().Add(time.Hour)); !there || who != "a job of a run" {
		t.Errorf("while it writes: %q %v", who, there)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if who, there := OtherWriterIn(dir, before); !there || who != "a job of a run" {
		t.Errorf("afterwards: %q %v", who, there)
	}
	if _, there := OtherWriterIn(dir, time.Now().Add(time.Hour)); there {
		t.Error("it was over before that")
	}
}
