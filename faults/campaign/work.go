//go:build linux

package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orchestrate/internal/ledger"
)

// Work is the program that plain jobs run: it counts itself, works for a while and
// leaves something. args are its flags.
func Work(args []string) error {
	var w worker
	f := flag.NewFlagSet("work", flag.ContinueOnError)
	f.StringVar(&w.tally, "tally", "", "where it counts itself")
	f.DurationVar(&w.span, "for", 0, "how long it works")
	f.StringVar(&w.leave, "leave", "", "NAME=TEXT, a file of its artifacts")
	f.StringVar(&w.write, "write", "", "NAME=TEXT, a file of its tree; # in TEXT is the attempt")
	f.StringVar(&w.read, "read", "", "NAME=TEXT, a file of its tree that must hold that text")
	f.IntVar(&w.fail, "fail", 0, "the attempt that fails")
	f.IntVar(&w.children, "children", 0, "processes that it leaves behind")
	f.BoolVar(&w.child, "child", false, "it is such a process")
	f.IntVar(&w.attempt, "attempt", 0, "of whom it is one")
	if err := f.Parse(args); err != nil {
		return err
	}
	return w.do()
}

type worker struct {
	tally, leave, write, read string
	span                      time.Duration
	fail, children, attempt   int
	child                     bool
}

func (w worker) do() error {
	me := Count{Job: os.Getenv("ORCHESTRATE_JOB"), Attempt: w.attempt, What: countStart}
	if w.child {
		me.What = countChild
		if err := enter(w.tally, me); err != nil {
			return err
		}
		time.Sleep(time.Hour)
		return nil
	}
	out := os.Getenv("ORCHESTRATE_OUT")
	var err error
	if me.Attempt, err = attemptOf(filepath.Dir(out)); err != nil {
		return err
	}
	if err := enter(w.tally, me); err != nil {
		return err
	}
	fmt.Println("at work on", me.Job)
	for range w.children {
		if err := startChild(w.tally, me); err != nil {
			return err
		}
	}
	time.Sleep(w.span)
	if me.Attempt == w.fail {
		os.Exit(7) // a crash, as far as anybody can tell
	}
	if err := w.result(out, me.Attempt); err != nil {
		return err
	}
	me.What = countEnd
	return enter(w.tally, me)
}

func (w worker) result(out string, attempt int) error {
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
		text = strings.ReplaceAll(text, "#", fmt.Sprint(attempt))
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	if name, text, ok := strings.Cut(w.leave, "="); ok {
		return os.WriteFile(filepath.Join(out, name), []byte(text+"\n"), 0o600)
	}
	return nil
}

// startChild starts a process in a session of its own and without this one's
// streams. It is not over when this one is.
func startChild(tally string, of Count) error {
	cmd := exec.Command("/proc/self/exe", "work", "-child", "-tally", tally, "-attempt", fmt.Sprint(of.Attempt))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// attemptOf reads from a job's directory which attempt has it.
func attemptOf(dir string) (int, error) {
	data, err := os.ReadFile(filepath.Join(dir, ledger.AttemptLockFile))
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	var head struct {
		Attempt int `json:"attempt"`
	}
	if err := json.Unmarshal(first, &head); err != nil || head.Attempt == 0 {
		return 0, errors.Join(fmt.Errorf("attempt.lock does not say which attempt: %q", first), err)
	}
	return head.Attempt, nil
}
