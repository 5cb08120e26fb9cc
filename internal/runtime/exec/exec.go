// Package exec is the runtime of a plain program: an argv that is started without
// a shell, with nothing on its standard input, or with a prompt where it is a person's
// command for one. It claims nothing about what the program does; the engine judges its
// exit status.
package exec

import (
	"context"
	"errors"

	"orchestrate/internal/runtime"
)

// Name is the runtime's name in a spec.
const Name = "exec"

// New returns the adapter.
func New() runtime.Adapter { return adapter{} }

type adapter struct{}

func (adapter) Name() string        { return Name }
func (adapter) SignInEnv() []string { return nil }
func (adapter) Shared() bool        { return false }

// Probe has nothing to ask: whether a job's program exists is seen when it starts.
func (adapter) Probe(_ context.Context, host runtime.Host) runtime.Profile {
	return runtime.Profile{
		Runtime:  Name,
		Kind:     runtime.KindExec,
		State:    runtime.StateAvailable,
		Limits:   []string{"a plain program: nothing restricts what it writes"},
		ProbedAt: host.Now(),
	}
}

// Command passes the argv on as given.
func (adapter) Command(req runtime.Request, _ runtime.Profile) (runtime.Command, error) {
	if len(req.Argv) == 0 || req.Argv[0] == "" {
		return runtime.Command{}, errors.New("an exec job needs a command: give `command: [program, argument, …]`")
	}
	cmd := runtime.Command{
		Argv:       append([]string(nil), req.Argv...),
		Decoder:    runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP",
		Limits:     []string{runtime.LimitShell},
		Answer:     runtime.AnswerFromStdout,
	}
	if !req.Fed {
		return cmd, nil
	}
	return feed(cmd, req)
}

func (adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }
