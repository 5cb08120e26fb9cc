//go:build linux

package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFramesArriveInAnyPieces(t *testing.T) {
	want := []message{{Kind: kindRun, Turn: 1, Run: &Invocation{Job: "a", Stdin: []byte("\x00é"), Argv: []string{"x"}}}, {Kind: kindCancel, Turn: 1}, {Kind: kindKill, Turn: 2}}
	var all []byte
	for _, m := range want {
		frame, err := encodeFrame(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, frame...)
	}
	for size := 1; size <= len(all); size++ {
		var f frames
		var got []message
		for rest := all; len(rest) > 0; {
			n := min(size, len(rest))
			f.add(rest[:n])
			rest = rest[n:]
			for {
				m, ok, err := f.next()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				got = append(got, m)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in pieces of %d: %s", size, diff)
		}
	}
}

func TestFramesThatAreNone(t *testing.T) {
	for _, bytes := range []string{"\xff\xff\xff\xffabc", "\x00\x00\x00\x03abc"} {
		f := frames{}
		f.add([]byte(bytes))
		if _, ok, err := f.next(); ok || err == nil {
			t.Errorf("%q: ok %v, %v", bytes, ok, err)
		}
	}
	if _, err := encodeFrame(message{Run: &Invocation{Stdin: make([]byte, maxFrame)}}); err == nil || !strings.Contains(err.Error(), "prompt") {
		t.Errorf("a message over the bound: %v", err)
	}
}

func TestCgroupDir(t *testing.T) {
	const v2 = "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ own, mounts, want string }{
		{"0::/user.slice/a.scope\n", v2, "/sys/fs/cgroup/user.slice/a.scope"},
		{"9:cpu:/\n0::/\n", "1 1 0:1 / /proc rw - proc proc rw\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/unified"},
		{"0::/docker/x/y\n", strings.Replace(v2, " / /sys", " /docker/x /sys", 1), "/sys/fs/cgroup/y"},
		{"0::/elsewhere\n", strings.Replace(v2, " / /sys", " /docker/x /sys", 1), ""},
		{"9:cpu:/\n", v2, ""},
		{"0::/\n", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", ""},
	} {
		if got := cgroupDir(c.own, c.mounts); got != c.want {
			t.Errorf("%q: got %q, want %q", c.own, got, c.want)
		}
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/nowhere", "X=1", "PATH=::.:" + dir}
	if got, err := lookPath("tool", env); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := lookPath("./tool", nil); err != nil || got != "./tool" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"text", "folder", "none"} {
		if got, err := lookPath(name, env); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "orchestrate")
	if diff := cmp.Diff([]string{self, "supervise"}, Program(self)); diff != "" {
		t.Error(diff)
	}
	lean := filepath.Join(dir, "orchestrate-supervise")
	if err := os.WriteFile(lean, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{lean}, Program(self)); diff != "" {
		t.Error(diff)
	}
}

func TestBounded(t *testing.T) {
	if got := bounded("short", 5); got != "short" {
		t.Error(got)
	}
	if got := bounded("aéé", 4); got != "aé… [2 bytes cut]" {
		t.Error(got)
	}
}
