//go:build linux

package cli_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stillThere is the exit status of alone when the program left processes.
const stillThere = 199

// alone runs `alone STATUS PROGRAM ARGS…` and shows that the program leaves no
// process behind: it is the reaper of all that the program's tree orphans, it was
// there before, and it waits for nobody but the program itself and engines, which
// are nobody's child by design, so whatever is left, even a dead one, is a child of
// it in the end. It passes SIGINT on to the
// program's whole process group, as a terminal does, demands the exit status STATUS
// (128+n for signal n) and answers 0 if that is what came.
// With `alone -adopt …` what is left may take its time to end by itself.
func alone(args []string) int {
	adopt := args[0] == "-adopt"
	if adopt {
		args = args[1:]
	}
	want, err := strconv.Atoi(args[0])
	if err == nil {
		err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "alone:", err)
		return 1
	}
	got, err := follow(exec.Command(args[1], args[2:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, "alone:", err)
		return 1
	}
	if adopt {
		for len(children()) > 0 {
			if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
				break
			}
		}
	}
	buryEngines()
	if left := children(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "alone: left behind: %s\n", strings.Join(left, ", "))
		return stillThere
	}
	if got != want {
		fmt.Fprintf(os.Stderr, "alone: exit status %d, want %d\n", got, want)
		return 1
	}
	return 0
}

// buryEngines takes note of the deaths of engines that lived as orphans. One that is
// alive stays.
func buryEngines() {
	for _, c := range children() {
		if pid, ok := strings.CutPrefix(c, "orchestrate("); ok {
			if pid, err := strconv.Atoi(strings.TrimSuffix(pid, ")")); err == nil {
				unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
	}
}

func follow(cmd *exec.Cmd) (status int, err error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ints := make(chan os.Signal, 8)
	signal.Notify(ints, os.Interrupt)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for range ints {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		}
	}()
	err = cmd.Wait()
	signal.Stop(ints)
	close(ints)
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal()), nil
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 0, err
}

// children are this process's own, alive or dead, as "name(pid)".
func children() (all []string) {
	for _, p := range processes() {
		if p.parent == os.Getpid() {
			all = append(all, fmt.Sprintf("%s(%d)", p.name, p.pid))
		}
	}
	return all
}

type proc struct {
	name                 string
	pid, parent, session int
}

// processes are all that there are, dead ones that nobody took note of too.
func processes() (all []proc) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	for _, p := range procs {
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue // no process, or gone meanwhile
		}
		open, end := strings.IndexByte(string(stat), '('), strings.LastIndexByte(string(stat), ')')
		fields := strings.Fields(string(stat[end+1:]))
		one := proc{name: string(stat[open+1 : end])}
		one.pid, _ = strconv.Atoi(p.Name())
		one.parent, _ = strconv.Atoi(fields[1])
		one.session, _ = strconv.Atoi(fields[3])
		all = append(all, one)
	}
	return all
}

// hold is `hold LOCK`: it takes the lock, says so in LOCK.held, and keeps it for
// as long as it lives, whatever it is asked politely.
func hold(args []string) int {
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = os.WriteFile(args[0]+".held", nil, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hold:", err)
		return 1
	}
	time.Sleep(time.Hour)
	return 0
}

// raze is `raze SIGN PROGRAM ARGS…`: it starts the program in a session of its own and,
// once the file SIGN is there, kills all that can be found of it: its children and
// theirs, its process group and its session. When they have gone it says so in SIGN.done.
func raze(args []string) int {
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "raze:", err)
		return 1
	}
	for {
		if _, err := os.Stat(args[0]); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	below := map[int]bool{cmd.Process.Pid: true}
	for grown := true; grown; {
		grown = false
		for _, p := range processes() {
			if (below[p.parent] || p.session == cmd.Process.Pid) && !below[p.pid] {
				below[p.pid], grown = true, true
			}
		}
	}
	for pid := range below {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Wait() // it was killed
	if err := os.WriteFile(args[0]+".done", fmt.Appendf(nil, "%d\n", len(below)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "raze:", err)
		return 1
	}
	return 0
}

// say prints the value of a variable of a .env file in the ways that secrets come
// out: `say plain FILE VAR`, split (in two writes, 200 ms apart), json, base64,
// error (on standard error, in a message).
func say(args []string) int {
	data, err := os.ReadFile(args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "say:", err)
		return 1
	}
	_, rest, _ := strings.Cut(string(data), args[2]+"=")
	value, _, _ := strings.Cut(rest, "\n")
	switch args[0] {
	case "split":
		os.Stdout.WriteString("token " + value[:len(value)/2])
		time.Sleep(200 * time.Millisecond)
		fmt.Println(value[len(value)/2:] + " end")
	case "json":
		fmt.Printf("{\"text\": %q}\n", "the\tvalue\n\""+value+"\"")
	case "base64":
		fmt.Println(base64.StdEncoding.EncodeToString([]byte("x" + value + "\n")))
	case "error":
		fmt.Fprintf(os.Stderr, "error: request with key %s was refused\n", value)
	default:
		fmt.Println(value)
	}
	return 0
}
