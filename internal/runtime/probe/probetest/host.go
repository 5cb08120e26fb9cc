// Package probetest gives the tests of adapters a machine that does not exist:
// its programs are canned answers.
package probetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/runtime"
)

// Host answers questions from a table.
type Host struct {
	// Answers maps the words after the program's path, joined by blanks, to what
	// it says; the longest matching beginning wins.
	Answers map[string]runtime.Answer
	// Env is the environment that probes and jobs would get.
	Env map[string]string
	// Missing leaves the program out of PATH.
	Missing bool
	// Each, when set, sees every question and may answer it.
	Each func(q runtime.Question) (runtime.Answer, bool)

	// Asked is every question so far.
	Asked []runtime.Question
}

// Path is where every program is found.
const Path = "/opt/fake/bin/"

// LookPath implements runtime.Host.
func (h *Host) LookPath(name string) (string, error) {
	if h.Missing {
		return "", errors.New("executable file not found in $PATH")
	}
	return Path + name, nil
}

// Getenv implements runtime.Host.
func (h *Host) Getenv(name string) string { return h.Env[name] }

// Now implements runtime.Host.
func (h *Host) Now() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// Hash implements runtime.Host.
func (h *Host) Hash(path string) (runtime.Executable, error) {
	return runtime.Executable{Path: path, Resolved: path, SHA256: strings.Repeat("0", 64)}, nil
}

// Run implements runtime.Host.
func (h *Host) Run(_ context.Context, q runtime.Question) runtime.Answer {
	h.Asked = append(h.Asked, q)
	answer := h.answer(q)
	code := answer.ExitCode
	answer.Evidence = runtime.Evidence{
		Asked: strings.Join(q.Argv, " "), ExitCode: &code,
		Answer: string(answer.Stdout) + string(answer.Stderr), TimedOut: answer.TimedOut, At: h.Now(),
	}
	return answer
}

func (h *Host) answer(q runtime.Question) runtime.Answer {
	if h.Each != nil {
		if answer, ok := h.Each(q); ok {
			return answer
		}
	}
	// A question may come by way of a shell: the words count from the program on.
	program := slices.IndexFunc(q.Argv, func(word string) bool { return strings.HasPrefix(word, Path) })
	words := strings.Join(q.Argv[program+1:], " ")
	best := ""
	for key := range h.Answers {
		if strings.HasPrefix(words, key) && len(key) > len(best) {
			best = key
		}
	}
	if best == "" {
		return runtime.Answer{ExitCode: 1, Stderr: []byte("error: unknown command " + words)}
	}
	return h.Answers[best]
}

// Says is an answer on standard output.
func Says(text string) runtime.Answer { return runtime.Answer{Stdout: []byte(text)} }

// Without removes from a help text every line that names flag as an option, and
// so the whole of its definition for a reader of the option column.
func Without(help, flag string) string {
	var kept []string
	for line := range strings.SplitSeq(help, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "-") && slices.Contains(strings.FieldsFunc(line, split), flag) {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

func split(r rune) bool { return r == ' ' || r == ',' }
