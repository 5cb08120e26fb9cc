//go:build linux

package campaign

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Work is the program that plain jobs run: it counts itself, works for a while and
// leaves something. args are its flags.
func Work(args []string) error {
	var w worker
	f := flag.NewFlagSet("work", flag.ContinueOnError)
	f.StringVar(&w.tally, "tally", "", "where it counts itself")
	f.DurationVar(&w.span, "for", 0, "how long it works")
	f.StringVar(&w.leave, "leave", "", "NAME=TEXT, a file of its artifacts")
	f.StringVar(&w.write, "write", "", "NAME=TEXT, a file of its tree")
	f.StringVar(&w.read, "read", "", "NAME=TEXT, a file of its tree that must hold that text")
	f.BoolVar(&w.fail, "fail", false, "it fails when it is the first of its job")
	f.IntVar(&w.children, "children", 0, "processes that it leaves behind")
	f.BoolVar(&w.child, "child", false, "it is such a process")
	if err := f.Parse(args); err != nil {
		return err
	}
	return w.do()
}

type worker struct {
	tally, leave, write, read string
	span                      time.Duration
	children                  int
	fail, child               bool
}

func (w worker) do() error {
	me := Count{Job: os.Getenv("ORCHESTRATE_JOB"), Mark: os.Getenv("ORCHESTRATE_ATTEMPT"), What: countStart}
	if me.Mark == "" {
		return errors.New("nobody says which attempt this is")
	}
	if w.child {
		me.What = countChild
		if err := enter(w.tally, me); err != nil {
			return err
		}
		time.Sleep(time.Hour)
		return nil
	}
	before, err := ReadTally(w.tally)
	if err != nil {
		return err
	}
	if err := enter(w.tally, me); err != nil {
		return err
	}
	fmt.Println("at work on", me.Job)
	for range w.children {
		if err := startChild(w.tally); err != nil {
			return err
		}
	}
	time.Sleep(w.span)
	if w.fail && !slices.ContainsFunc(before, func(c Count) bool { return c.Job == me.Job }) {
		os.Exit(7) // a crash, as far as anybody can tell
	}
	if err := w.result(); err != nil {
		return err
	}
	me.What = countEnd
	return enter(w.tally, me)
}

func (w worker) result() error {
	if name, text, ok := strings.Cut(w.read, "="); ok {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if string(data) != text+"\n" {
			return fmt.Errorf("%s holds %q", name, data)
		}
	}
	if name, text, ok := strings.Cut(w.write, "="); ok {
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	if name, text, ok := strings.Cut(w.leave, "="); ok {
		return os.WriteFile(filepath.Join(os.Getenv("ORCHESTRATE_OUT"), name), []byte(text+"\n"), 0o600)
	}
	return nil
}

// startChild starts a process in a session of its own and without this one's
// streams. It is not over when this one is.
func startChild(tally string) error {
	cmd := exec.Command("/proc/self/exe", "work", "-child", "-tally", tally)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}
