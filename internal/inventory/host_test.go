//go:build linux

package inventory

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
)

// signsIn is an adapter with a sign-in variable.
type signsIn struct {
	runtime.Adapter
	env []string
}

func (s signsIn) SignInEnv() []string { return s.env }

// live is a host over real supervisors, and its folder of scratch folders.
func live(t *testing.T, env ...string) (*LiveHost, string) {
	t.Helper()
	scratch := t.TempDir()
	program := supervisor(t)
	h := NewHost(HostOptions{
		Env: append([]string{"PATH=" + os.Getenv("PATH")}, env...), Scratch: scratch, Secrets: []string{"s3cr3t-Value-0815"},
		Start: func(ctx context.Context) (Supervisor, error) { return supervise.Start(ctx, program, supervisorVersion) },
	})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("closing the host: %v", err)
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
			t.Errorf("scratch folders stay behind: %v (%v)", left, err)
		}
	})
	return h, scratch
}

func ask(h runtime.Host, script string) runtime.Answer {
	return h.Run(context.Background(), runtime.Question{Argv: []string{"/bin/sh", "-c", script}, Stdin: []byte("in")})
}

func TestAQuestionIsAskedInAScratchFolder(t *testing.T) {
	h, scratch := live(t)
	a := ask(h, `pwd; cat; echo "$TMPDIR"; echo oops >&2; exit 3`)
	lines := strings.Split(string(a.Stdout), "\n")
	if a.Err != nil || a.ExitCode != 3 || string(a.Stderr) != "oops\n" || len(lines) < 2 {
		t.Fatalf("answer %+v: %s", a, a.Stdout)
	}
	if !strings.HasPrefix(lines[0], scratch) || !strings.HasPrefix(lines[1], "in"+scratch) {
		t.Errorf("cwd %s, then %s; want both below %s", lines[0], lines[1], scratch)
	}
	if !strings.Contains(a.Evidence.Asked, "/bin/sh -c 'pwd;") || *a.Evidence.ExitCode != 3 || !strings.Contains(a.Evidence.Answer, "[stderr] oops") {
		t.Errorf("evidence %+v", a.Evidence)
	}
}

func TestEachRuntimeSeesItsOwnSignInOnly(t *testing.T) {
	h, _ := live(t, "CLAUDECODE=1", "A_API_KEY=a", "B_API_KEY=b")
	v := h.For(signsIn{env: []string{"A_API_KEY"}})
	if got := string(ask(v, "env").Stdout); !strings.Contains(got, "A_API_KEY=a") || strings.Contains(got, "B_API_KEY") || strings.Contains(got, "CLAUDECODE") {
		t.Errorf("the runtime saw %s", got)
	}
	if v.Getenv("A_API_KEY") != "a" || v.Getenv("B_API_KEY") != "" || h.Getenv("A_API_KEY") != "" {
		t.Error("Getenv and the environment differ")
	}
}

// A program that has not shown yet who it is gets the person's settings and no key.
func TestABareQuestionHasNoKeys(t *testing.T) {
	h, _ := live(t, "A_API_KEY=a", "A_HOME=/a")
	v := h.For(signsIn{env: []string{"A_API_KEY", "A_HOME"}})
	bare := v.Run(context.Background(), runtime.Question{Argv: []string{"/bin/sh", "-c", "env"}, Bare: true})
	if got := string(bare.Stdout); strings.Contains(got, "A_API_KEY") || !strings.Contains(got, "A_HOME=/a") {
		t.Errorf("it saw %s", got)
	}
}

func TestAHangingQuestionEndsWithItsTree(t *testing.T) {
	h, _ := live(t)
	a := h.Run(context.Background(), runtime.Question{
		Argv: []string{"/bin/sh", "-c", "echo $$; setsid sleep 600 & sleep 600"}, Timeout: 200 * time.Millisecond,
	})
	if !a.TimedOut || !a.Evidence.TimedOut || a.Err != nil {
		t.Errorf("answer %+v", a)
	}
	if again := ask(h, "echo ok"); string(again.Stdout) != "ok\n" {
		t.Errorf("the next question got %+v", again)
	}
}

func TestABabblingQuestionIsBounded(t *testing.T) {
	h, _ := live(t)
	a := ask(h, "head -c 9000000 /dev/zero | tr '\\0' x")
	if a.Err != nil || len(a.Stdout) < answerLimit/2 || len(a.Stdout) > answerLimit+200 || len(a.Evidence.Answer) > excerptLimit+100 {
		t.Errorf("error %v, %d bytes kept, %d in the evidence", a.Err, len(a.Stdout), len(a.Evidence.Answer))
	}
}

func TestSecretsStayOutOfTheEvidence(t *testing.T) {
	h, _ := live(t)
	a := ask(h, "echo s3cr3t-Value-0815")
	if all := string(a.Stdout) + a.Evidence.Asked + a.Evidence.Answer; strings.Contains(all, "s3cr3t") {
		t.Errorf("the value is in %s", all)
	}
}

func TestAProgramThatCannotStart(t *testing.T) {
	h, _ := live(t)
	a := h.Run(context.Background(), runtime.Question{Argv: []string{"/no/such/program"}})
	if a.Err == nil || a.Evidence.Answer == "" || a.Evidence.ExitCode != nil {
		t.Errorf("answer %+v", a)
	}
}

func TestAClosedHostAnswersWithAnError(t *testing.T) {
	h, _ := live(t)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if a := ask(h, "echo ok"); a.Err == nil {
		t.Errorf("answer %+v", a)
	}
}

func TestWithoutASupervisorThereIsNoAnswer(t *testing.T) {
	h := NewHost(HostOptions{Scratch: t.TempDir(), Start: func(context.Context) (Supervisor, error) { return nil, errNoSlot }})
	if a := ask(h, "echo ok"); a.Err == nil || !strings.Contains(a.Evidence.Answer, errNoSlot.Error()) {
		t.Errorf("answer %+v", a)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func TestLookPathAndHash(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tool")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	h := NewHost(HostOptions{Env: []string{"PATH=.:" + dir}})
	found, err := h.LookPath("link")
	if err != nil || found != filepath.Join(dir, "link") {
		t.Fatalf("found %s (%v)", found, err)
	}
	first, err := h.Hash(found)
	if err != nil || first.Path != found || filepath.Base(first.Resolved) != "tool" || len(first.SHA256) != 64 {
		t.Errorf("executable %+v (%v)", first, err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\nexit\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if second, err := h.Hash(found); err != nil || second.SHA256 == first.SHA256 {
		t.Errorf("a changed file kept its digest (%v)", err)
	}
	for _, name := range []string{"tool/../tool", "./tool", "nothing"} {
		if found, err := h.LookPath(name); err == nil {
			t.Errorf("%s was found as %s", name, found)
		}
	}
	if _, err := h.LookPath("nothing"); !strings.Contains(err.Error(), exec.ErrNotFound.Error()) {
		t.Errorf("error %v", err)
	}
}
