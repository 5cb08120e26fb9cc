//go:build linux

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestTmux: the scripts about a live view look at it in tmux. A machine without it leaves
// them out; one that says whether a change may land must not.
func TestTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil && os.Getenv("CI") == "true" {
		t.Fatal("tmux is not installed, so nobody has looked at a live view")
	}
}

// term is a terminal in tmux with a shell in it:
//
//	term open 80x24        a new one
//	term type LINE         a line, with the return key
//	term press KEY…        keys, as tmux names them
//	term size 200x50       another size
//	[!] term shows RE…     wait until all of these are (not) on the screen
//	term view JOB…         wait until the screen is a view and nothing else, with a row
//	                       for each of these jobs
//	term given-back        wait until the view has gone and the terminal is as it was
func term(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, 40, "term open|type|press|size|shows|view|given-back ARG…")
	t := tmux{ts, filepath.Join(ts.Getenv("WORK"), "tmux")}
	rest := args[1:]
	switch args[0] {
	case "open":
		t.open(rest[0])
	case "type":
		t.run("send-keys", "-l", strings.Join(rest, " "))
		t.run("send-keys", "Enter")
	case "press":
		t.run(append([]string{"send-keys"}, rest...)...)
	case "size":
		w, h, _ := strings.Cut(rest[0], "x")
		t.run("resize-window", "-x", w, "-y", h)
	case "shows":
		t.shows(neg, rest)
	case "view":
		t.view(rest)
	case "given-back":
		t.givenBack()
	default:
		ts.Fatalf("what is %q?", args[0])
	}
}

// tmux is a server of a script's own.
type tmux struct {
	ts     *testscript.TestScript
	folder string // its path is in the file of this name: a socket's must be short
}

func (t tmux) run(args ...string) string {
	dir, err := os.ReadFile(t.folder)
	t.ts.Check(err)
	out, err := t.try(string(dir), args...)
	if err != nil {
		t.ts.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

func (t tmux) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", filepath.Join(dir, "s"), "-f", "/dev/null"}, args...)...)
	cmd.Dir = t.ts.MkAbs(".")
	cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8"}
	for _, name := range []string{"PATH", "HOME", "WORK", "GIT_CONFIG_NOSYSTEM", "GORACE", "TMPDIR", "NO_COLOR"} {
		cmd.Env = append(cmd.Env, name+"="+t.ts.Getenv(name))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (t tmux) open(size string) {
	dir, err := os.MkdirTemp("", "t")
	t.ts.Check(err)
	t.ts.Check(os.WriteFile(t.folder, []byte(dir), 0o600))
	t.ts.Defer(func() {
		_, _ = t.try(dir, "kill-server") // it may have ended
		_ = os.RemoveAll(dir)            // of the test alone
	})
	w, h, _ := strings.Cut(size, "x")
	t.run("new-session", "-d", "-x", w, "-y", h, "PS1='$ ' exec bash --norc --noprofile -i")
	t.shows(false, []string{`^\$`})
}

func (t tmux) screen() string { return t.run("capture-pane", "-p") }

// wait looks until said is "".
func (t tmux) wait(said func(screen string) string) {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		screen := t.screen()
		why := said(screen)
		switch {
		case why == "":
			return
		case time.Now().After(end):
			t.ts.Fatalf("%s in\n%s", why, screen)
		}
	}
}

func (t tmux) shows(neg bool, all []string) {
	t.wait(func(screen string) string {
		for _, re := range all {
			if regexp.MustCompile(`(?m)`+re).MatchString(screen) == neg {
				return fmt.Sprintf("%q: %v", re, !neg)
			}
		}
		return ""
	})
}

// view holds the screen against what a view consists of: its head, the heading, a row
// for each job, and its foot. A line more is left over from before.
func (t tmux) view(jobs []string) {
	t.wait(func(screen string) string {
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		heading := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  JOB ") })
		if heading < 2 || !strings.HasPrefix(lines[0], "run 2") || !strings.HasPrefix(lines[len(lines)-1], "arrows, PgUp") {
			return "no head, heading or foot"
		}
		if strings.Count(screen, "\nrun 2") > 0 || strings.Count(screen, "  JOB ") > 1 || strings.Count(screen, "arrows, PgUp") > 1 {
			return "a part of it is there twice"
		}
		var seen []string
		for _, l := range lines[heading+1 : len(lines)-1] {
			if f := strings.Fields(l); len(f) > 1 && len([]rune(f[0])) == 1 {
				seen = append(seen, f[1])
			} else if l != "" && !regexp.MustCompile(`^(and|rows|note:) `).MatchString(l) {
				return fmt.Sprintf("the line %q", l)
			}
		}
		if !slices.Equal(seen, jobs) {
			return fmt.Sprintf("rows of %v, not of %v", seen, jobs)
		}
		return ""
	})
}

func (t tmux) givenBack() {
	t.wait(func(string) string {
		if got := t.run("display-message", "-p", "#{alternate_on} #{cursor_flag} #{pane_current_command}"); got != "0 1 bash\n" {
			return "alternate screen, cursor, program: " + got
		}
		return ""
	})
	tty := strings.TrimSpace(t.run("display-message", "-p", "#{pane_tty}"))
	out, err := exec.Command("stty", "-F", tty, "-a").CombinedOutput()
	t.ts.Check(err)
	// The shell edits its line itself, so canonical mode and echo are its own affair.
	if !regexp.MustCompile(`[^-]isig`).Match(out) || !regexp.MustCompile(`[^-]opost`).Match(out) {
		t.ts.Fatalf("the terminal is left as it was not: %s", out)
	}
}
