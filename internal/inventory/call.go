package inventory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/shellword"
	"orchestrate/internal/supervise"
)

// Call is one command of an adapter that was carried out as a job's would be.
type Call struct {
	Asked string // the command, redacted
	Began time.Time
	Exit  supervise.Exit
}

// Call runs the command that build makes for a scratch folder (dir, which is empty, and
// out), under a supervisor and through the command's own decoder. An error means that
// nothing is known of how it ended.
func (h *LiveHost) Call(ctx context.Context, a runtime.Adapter, limit time.Duration, build func(dir, out string) (runtime.Command, error)) (c Call, err error) {
	if !h.enter() {
		return c, errors.New("the probes of this run have ended")
	}
	defer h.busy.Done()
	dir, err := h.scratch()
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		return c, err
	}
	cmd, err := build(filepath.Join(dir, "cwd"), out)
	if err != nil {
		return c, err
	}
	c.Asked = h.redact.String(shellword.Join(cmd.Argv))
	c.Exit, c.Began, err = h.supervised(ctx, h.callOf(a, cmd, dir, limit))
	return c, err
}

func (h *LiveHost) callOf(a runtime.Adapter, cmd runtime.Command, dir string, limit time.Duration) supervise.Invocation {
	env, _, _ := environ.Filter(h.opt.Env, a.SignInEnv(), nil)
	for _, more := range append(slices.Clone(cmd.Env), "TMPDIR="+filepath.Join(dir, "tmp"), "ORCHESTRATE_OUT="+filepath.Join(dir, "out")) {
		env = setenv(env, more)
	}
	return supervise.Invocation{
		Job: "smoke", Attempt: 1,
		Dir: filepath.Join(dir, "capture"), Cwd: filepath.Join(dir, "cwd"), Argv: cmd.Argv, Env: env, Stdin: cmd.Stdin,
		Decoder: cmd.Decoder, Timeout: limit, Grace: grace, PoliteStop: cmd.PoliteStop,
		MaxBytes: answerLimit, Secrets: h.opt.Secrets, AllowedSecrets: h.opt.Allowed,
	}
}
