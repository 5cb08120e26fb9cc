package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"orchestrate/internal/engine"
	"orchestrate/internal/inventory"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/runtime/registry"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/secret"
	"orchestrate/internal/supervise"
	"orchestrate/internal/version"
)

// OS runs the process's own command line and returns the exit status.
func OS() int {
	if len(os.Args) > 1 && sandbox.Hidden(os.Args[1]) {
		// Before anything is set up here that the program it becomes would inherit.
		return sandbox.Main(os.Args[1:])
	}
	cwd, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "orchestrate: the working directory is gone: %v\n", err)
		return exitFailed
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(os.Stderr, "orchestrate: cannot find its own program file: %v\n", err)
		return exitFailed
	}
	surviveClosedPipes()
	if os.Getenv("GOGC") == "" {
		// The engine waits much more than it computes, so memory counts for more
		// than the collector's time; while jobs run it has more of it (engine/collector.go).
		debug.SetGCPercent(10)
	}
	return Main(context.Background(), os.Args[1:], System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ(), Cwd: cwd, Self: self,
		Version: version.Version, Home: accountHome(), Now: time.Now,
	})
}

// accountHome is the home folder that the system's list of accounts names; "" = none.
func accountHome() string {
	who, err := user.Current()
	if err != nil {
		return ""
	}
	return who.HomeDir
}

// configPath is where the operator's configuration is.
func (s System) configPath() (string, error) {
	dir := environ.Value(s.Env, "XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := environ.Value(s.Env, "HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for the operator's configuration")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "orchestrate", "config.yaml"), nil
}

// operator reads the operator's configuration; without one it is empty.
func (s System) operator() (policy.Operator, error) {
	path, err := s.configPath()
	if err != nil {
		return policy.Operator{}, nil //nolint:nilerr // without a home there is no configuration, which is allowed
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return policy.Operator{}, nil
	}
	if err != nil {
		return policy.Operator{}, err
	}
	return policy.ParseOperator(path, data, registry.Names(), environ.Value(s.Env, "HOME"))
}

// station is an engine on this machine, with the probes' host that it must close.
type station struct {
	*engine.Engine
	host *inventory.LiveHost
}

func (s System) station() (*station, error) {
	op, err := s.operator()
	if err != nil {
		return nil, usageError(err)
	}
	if environ.Value(s.Env, "PATH") == "" {
		fmt.Fprintln(s.Err, "warning: PATH is empty or not set, so no program is found by its name, git and the agents included: set it as your shell has it")
	}
	program := supervise.Program(s.Self)
	host := inventory.NewHost(inventory.HostOptions{
		Env: s.Env, Secrets: secret.FromEnv(s.Env), Allowed: op.Secrets.Allow, Now: s.Now, Known: s.known,
		Start: func(ctx context.Context) (inventory.Supervisor, error) {
			return supervise.Start(ctx, program, s.Version)
		},
	})
	return &station{
		host: host,
		Engine: &engine.Engine{
			Adapters: registry.All(s.Self, op.Described()), Host: host, Operator: op, Env: s.Env, Now: s.Now,
			Supervisor: func(ctx context.Context) (engine.Supervisor, error) { return supervise.Start(ctx, program, s.Version) },
			Sandbox:    s.sandbox(op.Sandbox, program),
			Self:       s.Self,
			Home:       s.Home,
		},
	}, nil
}

// sandbox tests this host's sandbox when it is first asked for, once.
func (s System) sandbox(rule policy.SandboxRule, program []string) func(context.Context) sandbox.Level {
	var once sync.Once
	var level sandbox.Level
	return func(ctx context.Context) sandbox.Level {
		once.Do(func() {
			if rule.Off {
				level = sandbox.Level{State: sandbox.Off, Evidence: "switched off in the operator's configuration (sandbox.off)", Limits: []string{}}
				return
			}
			level = supervise.TestSandbox(ctx, func(ctx context.Context) (*supervise.Slot, error) {
				return supervise.Start(ctx, program, s.Version)
			}, program[0], "")
		})
		return level
	}
}

func (s *station) close() error { return s.host.Close() }
