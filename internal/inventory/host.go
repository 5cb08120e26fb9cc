package inventory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/secret"
	"orchestrate/internal/supervise"
)

const (
	answerLimit = 4 << 20         // bytes kept of each stream of an answer
	grace       = 2 * time.Second // between the polite end of a question and SIGKILL
)

// Supervisor runs one question's process tree; *supervise.Slot is one.
type Supervisor interface {
	Run(ctx context.Context, inv supervise.Invocation, locks []*os.File, started func(supervise.Process)) (supervise.Exit, error)
	Idle() bool
	Close() error
}

// HostOptions configure a LiveHost.
type HostOptions struct {
	Env     []string // this process's environment; each runtime sees a part of it
	Secrets []string // exact values that must not reach the disk or a profile
	Allowed []string // fingerprints of values that the operator allowed
	Scratch string   // absolute folder for the questions' scratch folders; "" = the system's temporary folder
	Start   func(context.Context) (Supervisor, error)
	Now     func() time.Time // nil = time.Now
	// Known are the profiles that this command has just made in another process.
	Known []runtime.Profile
}

// LiveHost asks the programs of this machine. Each question runs in a scratch
// folder of its own under a supervisor, which ends its whole process tree.
type LiveHost struct {
	opt    HostOptions
	redact *secret.Redactor
	busy   sync.WaitGroup

	mu     sync.Mutex
	idle   []Supervisor // those started and not at work
	closed bool
	hashes map[string]hashed
	known  map[string]runtime.Profile
}

// NewHost returns a host; Close ends its supervisors.
func NewHost(opt HostOptions) *LiveHost {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	h := &LiveHost{
		opt: opt, redact: secret.NewAllowing(opt.Secrets, opt.Allowed), hashes: map[string]hashed{}, known: map[string]runtime.Profile{},
	}
	for _, p := range opt.Known {
		h.known[p.Runtime] = p
	}
	return h
}

// For returns the host as one runtime sees it: with its own sign-in variables.
func (h *LiveHost) For(a runtime.Adapter) runtime.Host {
	env, _, _ := environ.Filter(h.opt.Env, a.SignInEnv(), nil)
	return &view{LiveHost: h, env: env}
}

// Close waits for the questions under way and ends the supervisors. Later
// questions are answered with an error.
func (h *LiveHost) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	h.busy.Wait()
	var errs []error
	for _, s := range h.idle {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// enter registers a question, unless the host was closed.
func (h *LiveHost) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.busy.Add(1)
	}
	return !h.closed
}

// Now is the clock.
func (h *LiveHost) Now() time.Time { return h.opt.Now().UTC() }

// LookPath finds an executable on PATH; folders that are not absolute are skipped.
func (h *LiveHost) LookPath(name string) (string, error) { return h.For(noAdapter{}).LookPath(name) }

// Getenv reads the environment that every runtime sees.
func (h *LiveHost) Getenv(name string) string { return h.For(noAdapter{}).Getenv(name) }

// Run asks with the environment that every runtime sees.
func (h *LiveHost) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	return h.For(noAdapter{}).Run(ctx, q)
}

// noAdapter has no sign-in variables.
type noAdapter struct{ runtime.Adapter }

func (noAdapter) SignInEnv() []string { return nil }

// scratch makes a question's folders: the cwd, a temporary folder, the capture.
func (h *LiveHost) scratch() (dir string, err error) {
	dir, err = os.MkdirTemp(h.opt.Scratch, "orchestrate-probe-")
	if err != nil {
		return "", fmt.Errorf("a probe needs a scratch folder: %w", err)
	}
	for _, sub := range [...]string{"cwd", "tmp", "capture"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}
