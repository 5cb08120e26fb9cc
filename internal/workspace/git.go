package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// identity is the name under which snapshots are committed; the user's own is
// never used for what the user did not do.
const (
	identityName  = "orchestrate"
	identityEmail = "orchestrate@localhost"
)

// nowhere is an empty file that git knows by this name on every system.
const nowhere = "/dev/null"

// git runs the program against one explicit git directory and work tree. The
// zero paths are for discovery only.
type git struct {
	gitDir   string
	workTree string
	config   []string // extra key=value, after the hardening
	scratch  string   // where temporary indexes go, "" = the system's place
}

// call is one git command.
type call struct {
	args  []string
	env   []string // extra NAME=value
	stdin io.Reader
	out   io.Writer // nil = collected and returned
	lock  *os.File  // held by the git process too, which may outlive us
	user  bool      // with the user's own configuration; for questions that run nothing
}

// exitError is a git command that ran and said no.
type exitError struct {
	Command string
	Code    int
	Stderr  string
}

func (e *exitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("git %s: exit status %d", e.Command, e.Code)
	}
	return fmt.Sprintf("git %s: %s", e.Command, e.Stderr)
}

// run collects what one git command prints.
func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	return g.do(ctx, call{args: args})
}

// do runs one git command to its end.
func (g git) do(ctx context.Context, c call) ([]byte, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("git is not on PATH; install it and try again")
	}
	cmd := exec.CommandContext(ctx, program, append(g.globals(), c.args...)...)
	var out, stderr bytes.Buffer
	cmd.Env = append(environment(os.Environ(), c.user), c.env...)
	cmd.Dir = g.workTree
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.out, &stderr
	if c.out == nil {
		cmd.Stdout = &out
	}
	ownGroup(cmd)
	if c.lock != nil {
		inherit(cmd, c.lock)
	}
	cmd.WaitDelay = 2 * time.Second
	err = explain(ctx, cmd.Run(), c.args[0], stderr.String())
	return out.Bytes(), err
}

// explain turns the end of a git process into an error for a person.
func explain(ctx context.Context, err error, command, stderr string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", command, ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && strings.Contains(stderr, "from promisor remote") {
		return fmt.Errorf("git %s: this is a partial clone, and something that is needed is not on this machine; nothing is fetched for a run; bring it first with `git checkout HEAD`, or once for all with `git fetch --refetch --no-filter`", command)
	}
	if errors.As(err, &exit) {
		return &exitError{Command: command, Code: exit.ExitCode(), Stderr: short(stderr)}
	}
	return fmt.Errorf("git %s: %w", command, err)
}

// globals are the arguments before the command.
func (g git) globals() []string {
	args := []string{"--no-pager"}
	if g.gitDir != "" {
		args = append(args, "--git-dir="+g.gitDir, "--work-tree="+g.workTree)
	}
	for _, kv := range append(hardening(), g.config...) {
		args = append(args, "-c", kv)
	}
	return args
}

// hardening is the configuration that lets nothing in a repository run a program
// or change what is captured.
func hardening() []string {
	return []string{
		"core.hooksPath=" + nowhere,
		"core.fsmonitor=", // the empty value is off for every git; "false" was once a program's name
		"core.untrackedCache=false",
		"core.splitIndex=false",
		"core.trustctime=true", // a file rewritten in place with its old time is seen by its ctime
		"core.checkStat=default",
		"core.ignoreStat=false",
		"core.safecrlf=false",
		"core.quotePath=true",
		"core.editor=false",
		"core.askPass=",
		"credential.helper=",
		"commit.gpgSign=false",
		"gc.auto=0",
		"maintenance.auto=false",
		"diff.external=",
		"diff.ignoreSubmodules=dirty",
		"submodule.recurse=false",
		"worktree.guessRemote=false",
		"protocol.allow=never",
	}
}

// environment is the caller's without anything that steers git, and with prompts
// and replacement objects off. Unless user is set, the user's and the system's
// configuration are off too.
func environment(base []string, user bool) []string {
	env := make([]string, 0, len(base)+12)
	for _, kv := range base {
		up := strings.ToUpper(kv)
		config := strings.HasPrefix(up, "GIT_CONFIG_GLOBAL=") || strings.HasPrefix(up, "GIT_CONFIG_SYSTEM=") ||
			strings.HasPrefix(up, "GIT_CONFIG_NOSYSTEM=")
		if !strings.HasPrefix(up, "GIT_") || (user && config) {
			env = append(env, kv)
		}
	}
	if !user {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM="+nowhere, "GIT_CONFIG_GLOBAL="+nowhere)
	}
	return append(env,
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_EDITOR=false",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_AUTHOR_NAME="+identityName, "GIT_AUTHOR_EMAIL="+identityEmail,
		"GIT_COMMITTER_NAME="+identityName, "GIT_COMMITTER_EMAIL="+identityEmail,
	)
}

// short keeps the end of an error text, which is where git says what is wrong.
func short(s string) string {
	const most = 2000
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = "… " + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}

// code is the exit status of a git command that said no, or -1.
func code(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

// fields splits NUL-separated output.
func fields(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// inert returns g with every filter driver that the repository's configuration
// defines switched off. It is asked anew each time: an agent that could write
// the configuration may have added one since.
func (g git) inert(ctx context.Context) (git, error) {
	if g.unfiltered() {
		return g, nil
	}
	out, err := g.run(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil && code(err) != 1 { // 1 = none
		return g, err
	}
	seen := map[string]bool{}
	off := append([]string{}, g.config...)
	for _, key := range fields(out) {
		name := key[:strings.LastIndexByte(key, '.')]
		if seen[name] {
			continue
		}
		seen[name] = true
		off = append(off, name+".clean=", name+".smudge=", name+".process=", name+".required=false")
	}
	g.config = off
	return g, nil
}

// unfiltered reports whether the repository's configuration surely defines no filter
// driver: no file of it has a word with which one could come in. It spares a process
// for each tree and each look at one.
func (g git) unfiltered() bool {
	if g.gitDir == "" {
		return false
	}
	common := g.gitDir
	if link, err := os.ReadFile(filepath.Join(g.gitDir, "commondir")); err == nil {
		if common = strings.TrimSpace(string(link)); !filepath.IsAbs(common) {
			common = filepath.Join(g.gitDir, filepath.FromSlash(common))
		}
	}
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(common, "config.worktree"), filepath.Join(g.gitDir, "config.worktree")} {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text = bytes.ToLower(text)
		if err != nil || bytes.Contains(text, []byte("filter")) || bytes.Contains(text, []byte("include")) {
			return false
		}
	}
	return true
}

// within reports whether path (slashes, relative) stays below its root.
func within(path string) bool {
	return path != "" && filepath.IsLocal(filepath.FromSlash(path))
}
