package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// signer is a runtime with files of its own.
type signer struct {
	runtime.Adapter
	name  string
	needs runtime.Confinement
}

func (s signer) Name() string                                        { return s.name }
func (s signer) Confinement(func(string) string) runtime.Confinement { return s.needs }

func TestOtherRuntimesSignInsAreForbiddenAndNoneOfOnesOwn(t *testing.T) {
	e := &Engine{Adapters: []runtime.Adapter{
		signer{name: "one", needs: runtime.Confinement{State: []string{"/h/.one"}, Credentials: []string{"/h/.one/auth", "/h/.shared"}}},
		signer{name: "two", needs: runtime.Confinement{Credentials: []string{"/h/.two", "/h/.one/borrowed", "/h/.shared"}}},
		signer{name: "boxed", needs: runtime.Confinement{Own: true}},
	}}
	for who, want := range map[string][]string{
		"one":  {"/h/.two"}, // what lies in its own state it may read
		"two":  {"/h/.one/auth"},
		"exec": {"/h/.one/auth", "/h/.one/borrowed", "/h/.shared", "/h/.two"},
	} {
		got := e.signIns(who)
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", who, got, want)
		}
	}
	if own := e.own(); !own["boxed"] || len(own) != 1 {
		t.Errorf("own: %v", own)
	}
}

func TestPersonalKeysAreForbiddenUnlessOpened(t *testing.T) {
	env := []string{"HOME=/h"}
	ssh, gh := "/h/.ssh", "/h/.config/gh"
	for _, c := range []struct {
		name  string
		job   spec.Job
		needs runtime.Confinement
		op    policy.SandboxRule
		ssh   bool
		gh    bool
	}{
		{name: "by default", ssh: true, gh: true},
		{name: "with the person's credentials", job: spec.Job{Credentialed: true}},
		{name: "a runtime that signs in by them", needs: runtime.Confinement{Credentials: []string{gh}}, ssh: true},
		{name: "opened by the operator", op: policy.SandboxRule{Readable: []string{"~/.ssh"}}, gh: true},
	} {
		e := &Engine{Operator: policy.Operator{Sandbox: c.op}, Env: env}
		got := e.forbidden(&c.job, c.needs, env)
		if slices.Contains(got, ssh) != c.ssh || slices.Contains(got, gh) != c.gh {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// homely is a runtime with its files in the home folder.
type homely struct{ runtime.Adapter }

func (homely) Name() string { return "homely" }
func (homely) Confinement(getenv func(string) string) runtime.Confinement {
	return runtime.Confinement{Credentials: runtime.Below(runtime.Base(getenv, "", ".homely"), "auth")}
}

// Cron and system services set no HOME, sudo may leave that of another: the account's own
// keys are closed all the same.
func TestKeysAreClosedInEveryHomeOfThePerson(t *testing.T) {
	holds := func(context.Context) sandbox.Level { return sandbox.Level{State: sandbox.Enforced} }
	for _, c := range []struct {
		name, account string
		env           []string
		closed        []string // home folders
		state         sandbox.State
	}{
		{"the same", "/h", []string{"HOME=/h"}, []string{"/h"}, sandbox.Enforced},
		{"no HOME", "/h", nil, []string{"/h"}, sandbox.Enforced},
		{"a HOME that means nothing", "/h", []string{"HOME=here"}, []string{"/h"}, sandbox.Enforced},
		{"another HOME", "/h", []string{"HOME=/other"}, []string{"/h", "/other"}, sandbox.Enforced},
		{"an account that is in no list", "", []string{"HOME=/h"}, []string{"/h"}, sandbox.Enforced},
		{"neither", "", nil, nil, sandbox.Unavailable},
	} {
		e := &Engine{Home: c.account, Env: c.env, Adapters: []runtime.Adapter{homely{}}, Sandbox: holds}
		got := append(e.forbidden(&spec.Job{}, runtime.Confinement{}, c.env), e.signIns("")...)
		for _, home := range []string{"/h", "/other"} {
			for _, path := range []string{"/.ssh", "/.config/gh", "/.homely/auth"} {
				if slices.Contains(got, home+path) != slices.Contains(c.closed, home) {
					t.Errorf("%s: %s: closed are %v", c.name, home+path, got)
				}
			}
		}
		if level := e.Level(context.Background()); level.State != c.state || level.Holds() == strings.Contains(level.Evidence, "set HOME") {
			t.Errorf("%s: %+v", c.name, level)
		}
	}
}

func TestStateFoldersAreMadeAndFilesAreNot(t *testing.T) {
	home := t.TempDir()
	there, dir, file := filepath.Join(home, "there.json"), filepath.Join(home, ".a", "b"), filepath.Join(home, ".a.json")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := makeState([]string{there, dir, file})
	if err != nil || !slices.Equal(got, []string{there, dir}) {
		t.Fatalf("%v, %v", got, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(file); !isAbsent(err) {
		t.Errorf("%s was made: %v", file, err)
	}
}

func TestOverlaid(t *testing.T) {
	got := overlaid([]string{"A=1", "B=2", "AB=3", "B=4"}, []string{"B=5", "C=6"})
	if want := []string{"A=1", "AB=3", "B=5", "C=6"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSomebodyElsesFolderIsNotTakenForOurs(t *testing.T) {
	dir := t.TempDir()
	open, file, link := filepath.Join(dir, "open"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	ours := filepath.Join(dir, "ours")
	for name, mode := range map[string]os.FileMode{open: 0o755, ours: 0o700} {
		if err := os.Mkdir(name, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(ours, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{open, file, link, filepath.Join(dir, "none")} {
		if onlyOurs(name) == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := onlyOurs(ours); err != nil {
		t.Error(err)
	}
}
