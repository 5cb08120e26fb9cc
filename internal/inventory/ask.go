package inventory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/shellword"
	"orchestrate/internal/supervise"
)

// excerptLimit bounds the answer that a profile keeps, in bytes.
const excerptLimit = 2 << 10

// view is the host as one runtime sees it.
type view struct {
	*LiveHost
	env []string
}

// Getenv reads the runtime's part of the environment.
func (v *view) Getenv(name string) string { return environ.Value(v.env, name) }

// LookPath finds an executable on the runtime's PATH.
func (v *view) LookPath(name string) (string, error) { return lookPath(v.Getenv("PATH"), name) }

// Run asks one question. The answer's streams are those that reached the disk:
// redacted, at most 4 MiB each.
func (v *view) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	if !v.enter() {
		return v.failed(q, v.Now(), errors.New("the probes of this run have ended"))
	}
	defer v.busy.Done()
	dir, err := v.scratch()
	if err != nil {
		return v.failed(q, v.Now(), err)
	}
	exit, began, err := v.supervised(ctx, v.invocation(dir, q))
	a := v.failed(q, began, err)
	if err == nil {
		a = v.read(q, began, dir, exit)
	}
	if err := os.RemoveAll(dir); err != nil && a.Err == nil {
		a.Err = fmt.Errorf("a probe's scratch folder stays behind: %w", err)
	}
	return a
}

// supervised runs a program under a supervisor that is free, and says when it began.
// A supervisor whose tree is not proven gone is closed, never used again.
func (h *LiveHost) supervised(ctx context.Context, inv supervise.Invocation) (exit supervise.Exit, began time.Time, err error) {
	began = h.Now()
	s, err := h.supervisor(ctx)
	if err != nil {
		return exit, began, err
	}
	exit, err = s.Run(ctx, inv, nil, nil)
	if !s.Idle() {
		return exit, began, errors.Join(err, s.Close())
	}
	h.mu.Lock()
	h.idle = append(h.idle, s)
	h.mu.Unlock()
	return exit, began, err
}

// supervisor is the one that became idle last, else a new one.
func (h *LiveHost) supervisor(ctx context.Context) (s Supervisor, err error) {
	h.mu.Lock()
	if n := len(h.idle); n > 0 {
		s, h.idle = h.idle[n-1], h.idle[:n-1]
	}
	h.mu.Unlock()
	if s == nil {
		return h.opt.Start(ctx)
	}
	return s, nil
}

func (v *view) invocation(dir string, q runtime.Question) supervise.Invocation {
	env := slices.Clone(v.env)
	if q.Bare {
		env = environ.WithoutKeys(env)
	}
	env = setenv(env, "TMPDIR="+filepath.Join(dir, "tmp"))
	for _, extra := range q.Env {
		env = setenv(env, extra)
	}
	return supervise.Invocation{
		Job: "probe", Attempt: 1,
		Dir: filepath.Join(dir, "capture"), Cwd: filepath.Join(dir, "cwd"),
		Argv: q.Argv, Env: env, Stdin: q.Stdin,
		Decoder: runtime.DecoderSpec{Runtime: decoders.Raw},
		Timeout: limitOf(q), Grace: grace, PoliteStop: "TERM-GROUP",
		MaxBytes: answerLimit, Secrets: v.opt.Secrets, AllowedSecrets: v.opt.Allowed,
	}
}

// setenv replaces or appends one NAME=value.
func setenv(env []string, entry string) []string {
	name, _, _ := strings.Cut(entry, "=")
	for i, e := range env {
		if strings.HasPrefix(e, name+"=") {
			env[i] = entry
			return env
		}
	}
	return append(env, entry)
}

// read makes an answer of what the supervisor left.
func (v *view) read(q runtime.Question, began time.Time, dir string, exit supervise.Exit) runtime.Answer {
	stdout, err1 := readStream(filepath.Join(dir, "capture", "stdout.txt"))
	stderr, err2 := readStream(filepath.Join(dir, "capture", "stderr.txt"))
	a := runtime.Answer{Stdout: stdout, Stderr: stderr, ExitCode: -1, TimedOut: exit.Stop == supervise.StopTimeout}
	if exit.ExitCode != nil {
		a.ExitCode = *exit.ExitCode
	}
	if exit.SpawnError == "" {
		a.CPUMs = &exit.CPUMs
	}
	switch {
	case exit.SpawnError != "":
		a.Err = errors.New(exit.SpawnError)
	case exit.Stop == supervise.StopCancelled:
		a.Err = errors.New("cancelled before it had answered")
	default:
		a.Err = errors.Join(err1, err2)
	}
	a.Evidence = v.evidence(q, began, a)
	a.Evidence.ExitCode = exit.ExitCode
	return a
}

// readStream reads one captured stream; a stream that said nothing has no file.
func readStream(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// failed is the answer of a question that could not be asked.
func (v *view) failed(q runtime.Question, began time.Time, err error) runtime.Answer {
	a := runtime.Answer{ExitCode: -1, Err: err}
	a.Evidence = v.evidence(q, began, a)
	return a
}

func (v *view) evidence(q runtime.Question, began time.Time, a runtime.Answer) runtime.Evidence {
	text := string(a.Stdout)
	if len(a.Stderr) > 0 {
		text = strings.TrimSuffix(text, "\n") + "\n[stderr] " + string(a.Stderr)
	}
	if a.Err != nil {
		text = a.Err.Error()
	}
	return runtime.Evidence{
		Asked:  v.redact.String(shellword.Join(q.Argv)),
		Answer: excerpt(v.redact.String(strings.TrimSpace(text))), TimedOut: a.TimedOut,
		At: began, DurationMs: v.Now().Sub(began).Milliseconds(),
	}
}

// excerpt bounds a text without cutting a character in two.
func excerpt(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= excerptLimit {
		return s
	}
	cut := excerptLimit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s [… %d bytes more …]", s[:cut], len(s)-cut)
}
