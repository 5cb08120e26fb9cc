//go:build linux

package private_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/sandbox/private"
	"orchestrate/internal/sandbox/private/gocache"
	"orchestrate/internal/supervise"
)

// The test binary is also the supervisor, what confines itself, and go's build cache.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch args := os.Args[1:]; args[0] {
		case "supervise":
			os.Exit(serve())
		case gocache.Command:
			os.Exit(gocache.Main(args[1:], os.Stdin, os.Stdout, os.Stderr))
		default:
			if sandbox.Hidden(args[0]) {
				os.Exit(sandbox.Main(args))
			}
		}
	}
	os.Exit(m.Run())
}

const version = "test"

func serve() int {
	err := supervise.Serve(os.NewFile(supervise.ControlFD, "control"), supervise.Options{
		Version:  version,
		Decoders: func(runtime.DecoderSpec) (runtime.Decoder, error) { return plain{}, nil },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// plain takes what a program says as it is.
type plain struct{}

func (plain) Stdout([]byte) []runtime.Event  { return nil }
func (plain) Stderr([]byte) []runtime.Event  { return nil }
func (plain) Settle() (runtime.Reason, bool) { return "", false }
func (plain) Outcome() runtime.Outcome       { return runtime.Outcome{} }

// person is somebody with a HOME, on this machine's tools.
type person struct {
	home string
	env  []string // beside HOME and PATH
}

func newPerson(t *testing.T, env ...string) person {
	t.Helper()
	home := real(t, t.TempDir())
	// Something in it is closed to jobs, as always, so HOME itself cannot be listed.
	write(t, filepath.Join(home, ".ssh", "id"), "secret")
	return person{home: home, env: env}
}

func (p person) environ() []string {
	return append([]string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}, p.env...)
}

func (p person) getenv(name string) string {
	for _, e := range p.environ() {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// does is what a script says and how it ends when the person runs it by hand.
func (p person) does(t *testing.T, cwd, script string) string {
	t.Helper()
	return run(t, supervise.Invocation{Cwd: cwd, Env: p.environ(), Argv: []string{"sh", "-ec", script}})
}

// job makes a private folder for a tree and returns what runs scripts there as a job:
// held by the kernel, where this one can.
func (p person) job(t *testing.T, tree string) (d private.Dir, does func(script string) string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err = private.Make(private.Ask{Parent: t.TempDir(), Getenv: p.getenv, Trees: []string{tree}, Self: self})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := private.Remove(d.Path); err != nil {
			t.Error(err)
		}
	})
	inv := supervise.Invocation{Cwd: tree, Env: append(p.environ(), d.Env...)}
	if sandbox.ABI() >= sandbox.MinABI {
		inv.Sandbox = &sandbox.Policy{Write: []string{tree, d.Path}, Deny: []string{filepath.Join(p.home, ".ssh")}}
	}
	return d, func(script string) string {
		t.Helper()
		inv.Argv = []string{"sh", "-ec", script}
		return run(t, inv)
	}
}

// run returns what a program said, which has to end well.
func run(t *testing.T, inv supervise.Invocation) string {
	t.Helper()
	inv.Job, inv.Attempt, inv.Dir = "job", 1, t.TempDir()
	inv.Timeout, inv.Grace, inv.MaxBytes = 5*time.Minute, time.Second, 8<<20
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	slot, err := supervise.Start(context.Background(), []string{self, "supervise"}, version)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := slot.Run(context.Background(), inv, nil, nil)
	if cerr := slot.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	said := read(t, filepath.Join(inv.Dir, "stdout.txt")) + read(t, filepath.Join(inv.Dir, "stderr.txt"))
	if exit.ExitCode == nil || *exit.ExitCode != 0 {
		t.Fatalf("%v ended with %+v and said:\n%s", inv.Argv, exit, said)
	}
	return said
}

func real(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// below is every name and size below a folder.
func below(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
