//go:build linux

package supervise_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

// plot is a small place with a part that may be changed, one that may be read, and one
// that may not.
type plot struct{ root, in, out, hidden string }

const untouched = "as it was\n"

func newPlot(t testing.TB) plot {
	t.Helper()
	if sandbox.ABI() < sandbox.MinABI {
		t.Skip("this kernel has no Landlock that could hold anything; TestSelfTestOfTheSandbox says so")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := plot{root, root + "/in", root + "/out", root + "/hidden"}
	for _, dir := range []string{p.in, p.out, p.out + "/empty", p.hidden} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, p.out+"/file", untouched)
	write(t, p.out+"/tool", "#!/bin/sh\necho ran\n")
	write(t, p.hidden+"/file", untouched)
	if err := os.Symlink("../out", p.in+"/link"); err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// boxed is a job in the plot's sandbox. The script finds IN, OUT and HIDDEN.
func (p plot) boxed(t testing.TB, script string) supervise.Invocation {
	t.Helper()
	inv := job(t, script)
	inv.Cwd = p.in
	inv.Env = append(inv.Env, "IN="+p.in, "OUT="+p.out, "HIDDEN="+p.hidden, "SELF="+supervisor(t)[0])
	inv.Sandbox = &sandbox.Policy{Write: []string{p.in}, Deny: []string{p.hidden}}
	return inv
}

// check fails if something outside is not as it was.
func (p plot) check(t *testing.T) {
	t.Helper()
	for dir, want := range map[string]string{p.root: "hidden in out", p.out: "empty file tool", p.out + "/empty": "", p.hidden: "file"} {
		if got := strings.Join(entries(t, dir), " "); got != want {
			t.Errorf("%s has %q, want %q", dir, got, want)
		}
	}
	for _, file := range []string{p.out + "/file", p.hidden + "/file"} {
		data, err := os.ReadFile(file)
		if err != nil || string(data) != untouched {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

func entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// waysOut try to change, read or reach something outside.
var waysOut = map[string]string{
	"redirect":             `echo x >$OUT/new`,
	"redirect over":        `echo x >$OUT/file`,
	"append":               `echo x >>$OUT/file`,
	"empty":                `truncate -s 0 $OUT/file`,
	"copy over":            `cp /etc/hostname $OUT/file`,
	"given link":           `echo x >link/new`,
	"own link":             `ln -s $OUT mine && echo x >mine/new`,
	"link to a file":       `ln -s $OUT/file mine && echo x >mine`,
	"rename over":          `echo x >mine && mv -f mine $OUT/file`,
	"rename out":           `mkdir dir && mv dir $OUT/dir`,
	"rename in":            `mv $OUT/file mine`,
	"hard link":            `ln $OUT/file mine && echo x >mine`,
	"hard link out":        `echo x >mine && ln mine $OUT/new`,
	"remove":               `rm -f $OUT/file`,
	"remove folder":        `rmdir $OUT/empty`,
	"make folder":          `mkdir $OUT/new`,
	"make link":            `ln -s file $OUT/new`,
	"make fifo":            `mkfifo $OUT/new`,
	"proc root":            `echo x >/proc/self/root$OUT/new`,
	"proc cwd":             `echo x >/proc/self/cwd/../out/new`,
	"proc fd":              `exec 9<$OUT/file && echo x >/proc/self/fd/9`,
	"above":                `echo x >../new`,
	"kernel setting":       `cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern`,
	"device node":          `mknod disk b 1 0 && head -c 1 disk`,
	"mount":                `mount -t tmpfs none $IN`,
	"mount in a namespace": `unshare -rm mount --bind $IN $OUT`,
	"root of another":      `echo x >/proc/$PPID/root$OUT/new`,
	"environment":          `head -c 1 /proc/$PPID/environ`,
	"memory":               `head -c 1 /proc/$PPID/mem || head -c 1 /proc/$PPID/maps | grep .`,
	"descriptors":          `readlink /proc/$PPID/fd/1`,
	"namespace of another": `nsenter -t $PPID -m true`,
	"signal":               `kill -0 $PPID`,
	"signal all":           `kill -0 1`,
	"read denied":          `cat $HIDDEN/file`,
	"read denied, proc":    `cat /proc/self/root$HIDDEN/file`,
	"read denied, link":    `ln -s $HIDDEN/file mine && cat mine`,
	"read denied, moved":   `mv $HIDDEN/file mine && cat mine`,
	"read denied, linked":  `ln $HIDDEN/file mine && cat mine`,
	"list denied":          `ls $HIDDEN`,
	"list above denied":    `ls ..`,
	"run denied":           `cp $OUT/tool $IN/ && sh $HIDDEN/file`,
	"shared memory":        `echo x >/dev/shm/orchestrate-test-$$`,
	"terminals":            `ls /dev/pts`,
}

// Each way out says LOOSE if it led out.
func TestNothingGetsOut(t *testing.T) {
	t.Parallel()
	for name, script := range waysOut {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlot(t)
			inv := p.boxed(t, "if { "+script+"; } then echo LOOSE; fi")
			checkExit(t, run(t, inv), 0, supervise.StopNone)
			if out := read(t, inv, "stdout.txt"); strings.Contains(out, "LOOSE") {
				t.Errorf("%s got out:\n%s", script, out)
			}
			p.check(t)
		})
	}
}

// Each line is work that a job does.
func TestWorkGoesOnInside(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"files":        `echo x >a && cp a b && mv b c && rm a && test "$(cat c)" = x`,
		"folders":      `mkdir -p a/b/c && mv a/b d && rmdir d/c && rm -r a`,
		"links":        `echo x >a && ln a b && ln -s a c && test "$(cat c)" = x`,
		"over":         `echo x >a && echo y >b && mv b a && test "$(cat a)" = y`,
		"fifo":         `mkfifo f && { echo x >f & } && test "$(cat f)" = x`,
		"read outside": `cat $OUT/file && ls $OUT && ls /usr && test -d ..`,
		"run outside":  `$OUT/tool && env true`,
		"devices":      `echo x >/dev/null && head -c 1 /dev/zero && head -c 1 /dev/urandom`,
		"proc":         `cat /proc/self/status /proc/cpuinfo`,
		"streams":      `echo x >/dev/stdout && echo x >/dev/stderr && echo x | cat /dev/stdin`,
		"here":         "cat <<E\nx\nE",
		"background":   `sleep 0.01 & kill -0 $! && wait`,
		"own signals":  `sleep 60 & kill $!; wait $!; test $? -gt 128`,
		"deep":         `d=$(printf 'd%.0s/' $(seq 200)) && mkdir -p $d && echo x >$d/f && test -f $d/f`,
		"modes":        `echo x >a && chmod 600 a && touch -d 2020-01-01 a`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlot(t)
			inv := p.boxed(t, script)
			exit := run(t, inv)
			checkExit(t, exit, 0, supervise.StopNone)
			if t.Failed() {
				t.Log(read(t, inv, "stderr.txt"))
			}
			if exit.Sandbox == nil || *exit.Sandbox != (sandbox.Applied{Mechanism: sandbox.Landlock, ABI: sandbox.ABI()}) {
				t.Errorf("exit says that it was held by %+v", exit.Sandbox)
			}
			p.check(t)
		})
	}
}

func TestExitFileSaysWhatHeldIt(t *testing.T) {
	t.Parallel()
	slot, p := start(t), newPlot(t)
	for want, inv := range map[string]supervise.Invocation{`{"mechanism":"landlock","abi":`: p.boxed(t, "exit 0"), "null": job(t, "exit 0")} {
		runIn(t, slot, inv)
		if text := read(t, inv, "exit.json"); !strings.Contains(text, `"sandbox":`+want) {
			t.Errorf("want %s: %s", want, text)
		}
	}
}

func TestWhatCannotBeHeldIsNotStarted(t *testing.T) {
	t.Parallel()
	slot, p := start(t), newPlot(t)
	for want, change := range map[string]func(*supervise.Invocation){
		"in/gone":                func(inv *supervise.Invocation) { inv.Sandbox.Write = []string{p.in + "/gone"} },
		"link is a symbolic":     func(inv *supervise.Invocation) { inv.Sandbox.Write = []string{p.in + "/link"} },
		"link/empty":             func(inv *supervise.Invocation) { inv.Sandbox.Write = []string{p.in + "/link/empty"} },
		"file/below":             func(inv *supervise.Invocation) { inv.Sandbox.Write = []string{p.out + "/file/below"} },
		"something below it":     func(inv *supervise.Invocation) { inv.Sandbox.Write = []string{p.root} },
		"everything":             func(inv *supervise.Invocation) { inv.Sandbox.Write = []string{"/"} },
		"permission denied":      func(inv *supervise.Invocation) { inv.Argv = []string{p.hidden + "/file"} },
		"no such file":           func(inv *supervise.Invocation) { inv.Argv = []string{p.in + "/gone"} },
		"exec format":            func(inv *supervise.Invocation) { inv.Argv = []string{p.out + "/file"} },
		"sh in /no/such/folder":  func(inv *supervise.Invocation) { inv.Cwd = "/no/such/folder" },
		"not on PATH":            func(inv *supervise.Invocation) { inv.Argv = []string{"no-such-program"} },
		"ended before it was":    func(inv *supervise.Invocation) { inv.Env = append(inv.Env, "CONFINE=dies") },
		"kept from being held's": func(inv *supervise.Invocation) { inv.Env = append(inv.Env, "CONFINE=kept from being held's") },
	} {
		inv := p.boxed(t, "echo x >"+p.in+"/ran")
		change(&inv)
		exit := runIn(t, slot, inv)
		if !strings.Contains(exit.SpawnError, want) || exit.ExitCode != nil || exit.PID != 0 || exit.Sandbox != nil {
			t.Errorf("%s: %+v", want, exit)
		}
	}
	checkExit(t, runIn(t, slot, p.boxed(t, "exit 0")), 0, supervise.StopNone)
	if slices.Contains(entries(t, p.in), "ran") {
		t.Error("something ran that was not held")
	}
	p.check(t)
}

func TestPoliciesThatAreRefused(t *testing.T) {
	t.Parallel()
	slot, p := start(t), newPlot(t)
	for _, path := range []string{"relative", p.in + "/../out", p.in + "/", "/\xff", ""} {
		inv := p.boxed(t, "exit 0")
		inv.Sandbox.Deny = append(inv.Sandbox.Deny, path)
		if _, err := slot.Run(t.Context(), inv, nil, nil); err == nil || !strings.Contains(err.Error(), "a path of the sandbox must be") {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// What the policy says of folders in one another: the deepest counts.
func TestFoldersInOneAnother(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	for _, dir := range []string{"jobs", "jobs/mine", "jobs/mine/tree", "jobs/mine/inputs", "jobs/other"} {
		if err := os.Mkdir(p.root+"/"+dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, p.root+"/"+dir+"/file", untouched)
	}
	inv := p.boxed(t, `
		cat ../jobs/mine/inputs/file && echo x >../jobs/mine/tree/file || exit 1
		ls ../jobs && ls ../jobs/other || exit 2
		for f in mine other; do cat ../jobs/$f/file && exit 3; done
		echo x >../jobs/mine/inputs/file && exit 4
		cat "../-odd 'name
of a file" ../out/file || exit 5
		ls .. || exit 6
		exit 0`)
	write(t, p.root+"/-odd 'name\nof a file", untouched)
	inv.Sandbox.Deny = append(inv.Sandbox.Deny, p.root+"/jobs", p.root+"/never-there/at-all", p.out+"/file/below")
	inv.Sandbox.Read = []string{p.root + "/jobs/mine/inputs", p.root + "/jobs/gone"}
	inv.Sandbox.Write = append(inv.Sandbox.Write, p.root+"/jobs/mine/tree")
	inv.Sandbox.List = []string{p.root}
	checkExit(t, run(t, inv), 0, supervise.StopNone)
}

// A link in place of something denied takes what it leads to out as well.
func TestADeniedLink(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	if err := os.Symlink(p.out, p.root+"/keys"); err != nil {
		t.Fatal(err)
	}
	inv := p.boxed(t, "cat ../keys/file || cat ../out/file")
	inv.Sandbox.Deny = []string{p.root + "/keys"}
	checkExit(t, run(t, inv), 1, supervise.StopNone)
}

func TestMovingBetweenWritableFolders(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	other := filepath.Join(p.root, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	inv := p.boxed(t, "echo x >a && mkdir d && mv a d ../other && ln ../other/a b && mv ../other/d . && test -d d")
	inv.Sandbox.Write = append(inv.Sandbox.Write, other)
	checkExit(t, run(t, inv), 0, supervise.StopNone)
}

// A file can be writable in a folder that is not.
func TestAWritableFile(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	inv := p.boxed(t, `echo x >../out/tool && test "$(cat ../out/tool)" = x && ! rm ../out/tool && ! mv ../out/tool . && ! echo x >../out/file`)
	inv.Sandbox.Write = append(inv.Sandbox.Write, p.out+"/tool")
	checkExit(t, run(t, inv), 0, supervise.StopNone)
	p.check(t)
}

// What is in /dev can be named too.
func TestSharedMemoryThatIsNamed(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	dir, err := os.MkdirTemp("/dev/shm", "orchestrate-test-")
	if err != nil {
		t.Skip("this machine has no shared memory by name:", err)
	}
	defer os.RemoveAll(dir)
	inv := p.boxed(t, "echo x >"+dir+"/file && cat "+dir+"/file && ! ls /dev/shm")
	inv.Sandbox.Write = append(inv.Sandbox.Write, dir)
	checkExit(t, run(t, inv), 0, supervise.StopNone)
}

func TestRefusalsAreEvents(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	script := "echo x >$OUT/new; echo x >$OUT/new; cat $HIDDEN/file; echo 'EACCES on stdout'; exit 0"
	inv := p.boxed(t, script)
	checkExit(t, run(t, inv), 0, supervise.StopNone)
	found := find(events(t, inv.Dir), runtime.EventBoundary)
	if len(found) != 3 {
		t.Fatalf("%+v", found)
	}
	all := found[0].Text.Unshown() + found[1].Text.Unshown() + found[2].Text.Unshown()
	for _, want := range []string{p.out + "/new", p.hidden + "/file", "EACCES on stdout"} {
		if !strings.Contains(all, want) {
			t.Errorf("no event tells of %s: %s", want, all)
		}
	}
	free := job(t, "echo Permission denied")
	run(t, free)
	if found := find(events(t, free.Dir), runtime.EventBoundary); len(found) > 0 {
		t.Errorf("nothing held that program, but: %+v", found)
	}
}

// A supervisor that is held itself can hold a program more tightly, and never less. When
// it cannot see what there is to be kept apart, nothing is started.
func TestASandboxInASandbox(t *testing.T) {
	t.Parallel()
	for name, listed := range map[string][]string{"a": {"/"}, "": nil} {
		p := newPlot(t)
		inner := p.boxed(t, "echo x >inner/a; echo x >b; echo x >$OUT/new; cat $HIDDEN/file; exit 0")
		inner.Dir = p.in + "/evidence"
		inner.Sandbox = &sandbox.Policy{Write: []string{p.in + "/inner", p.out}}
		for _, dir := range []string{inner.Dir, p.in + "/inner"} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		data, err := json.Marshal(inner)
		if err != nil {
			t.Fatal(err)
		}
		outer := p.boxed(t, "")
		outer.Argv = []string{supervisor(t)[0], "engine", string(data)}
		outer.Sandbox.List = listed
		checkExit(t, run(t, outer), 0, supervise.StopNone)
		if got := strings.Join(entries(t, p.in+"/inner"), " "); got != name {
			t.Errorf("in the inner one there is %q, want %q", got, name)
		}
		if text := read(t, inner, "exit.json"); (name == "") != strings.Contains(text, "/ cannot be listed") {
			t.Errorf("%q: %s", name, text)
		}
		if got := strings.Join(entries(t, p.in), " "); got != "evidence inner link" {
			t.Errorf("inside there is %s", got)
		}
		p.check(t)
	}
}

// The proof of the end is that of any other tree.
func TestAHeldTreeIsKilledAndProvenGone(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	lock := p.in + "/lock"
	inv := p.boxed(t, "trap '' TERM; "+lockLine(lock)+"$SELF daemon $IN/other; sleep 600 & setsid sleep 600 & echo started; wait")
	inv.Timeout, inv.Grace, inv.PoliteStop = 300*time.Millisecond, 50*time.Millisecond, "TERM-GROUP"
	checkSignal(t, run(t, inv), "SIGKILL", supervise.StopTimeout)
	checkFree(t, lock)
}

// The program has neither the policy nor anything else of the supervisor's.
func TestDescriptorsOfTheSandboxStayOut(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	inv := p.boxed(t, "ls -l /proc/self/fd; tr '\\0' ' ' </proc/self/cmdline")
	run(t, inv)
	out := read(t, inv, "stdout.txt")
	if strings.Contains(out, "policy") || strings.Contains(out, "confine") || strings.Count(out, "->") != 4 {
		t.Errorf("%s", out)
	}
}
