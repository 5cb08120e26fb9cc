package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// The self-test's command says that it ran and then tries to write in three places.
const (
	ranMark  = "self-test-ran"
	tryWrite = "echo " + ranMark + "; echo x > inside; echo x > ../private/file; echo x > ../outside/file"
)

// testSandbox has the program's own sandbox try to write, with the settings that
// jobs get, and looks at the disk afterwards: what the program says is no proof.
func testSandbox(ctx context.Context, asker *probe.Asker, p *runtime.Profile, live liveFacts) {
	if hole := outside(*p, live); hole != "" {
		p.Controls = append(p.Controls,
			runtime.Control{Name: runtime.ControlReadOnly, Evidence: hole},
			runtime.Control{Name: runtime.ControlOSSandbox, Evidence: hole})
		return
	}
	readOnly := selfTest(ctx, asker, runtime.ControlReadOnly, "read-only", false)
	confined := selfTest(ctx, asker, runtime.ControlOSSandbox, "workspace-write", true)
	if confined.Verified && !p.Shows(flagWorkspace) {
		confined.Verified, confined.Evidence = false, "help does not show "+flagWorkspace
	}
	p.Controls = append(p.Controls, readOnly, confined)
}

// selfTest runs the try in one sandbox mode. The mode is as promised when the files
// inside were written exactly if they may be and the file outside was not.
func selfTest(ctx context.Context, asker *probe.Asker, name runtime.ControlName, mode string, mayWrite bool) runtime.Control {
	c := runtime.Control{Name: name}
	wrote, err := tryIn(ctx, asker, mode)
	switch {
	case err != nil:
		c.Evidence = fmt.Sprintf("self-test of the %s sandbox: %v", mode, err)
	case wrote.outside:
		c.Evidence = fmt.Sprintf("self-test of the %s sandbox: a file outside the folder was written", mode)
	case (wrote.inside || wrote.private) && !mayWrite:
		c.Evidence = fmt.Sprintf("self-test of the %s sandbox: a file was written", mode)
	case !wrote.inside && mayWrite:
		c.Evidence = fmt.Sprintf("self-test of the %s sandbox: not even its own folder could be written", mode)
	case !wrote.private && mayWrite:
		c.Evidence = fmt.Sprintf("self-test of the %s sandbox: its folder for temporary files could not be written", mode)
	case mayWrite:
		c.Verified, c.Evidence = true, "self-test through codex sandbox, workspace-write: files in its folders were written, one outside was refused"
	default:
		c.Verified, c.Evidence = true, "self-test through codex sandbox, read-only: no file could be written"
	}
	return c
}

type written struct{ inside, private, outside bool }

func tryIn(ctx context.Context, asker *probe.Asker, mode string) (w written, err error) {
	base, err := os.MkdirTemp("", "orchestrate-codex-")
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	in, own, out := filepath.Join(base, "in"), filepath.Join(base, "private"), filepath.Join(base, "outside")
	for _, dir := range []string{in, own, out} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return w, err
		}
	}
	args := append([]string{"sandbox", "-c", "sandbox_mode=" + mode}, boundaryArgs(own)...)
	args = append(args, "--", "/bin/sh", "-c", tryWrite)
	answer := asker.AskIn(ctx, in, args...)
	if why := probe.Trouble("codex sandbox", answer); why != "" {
		return w, errors.New(why)
	}
	if !strings.Contains(string(answer.Stdout), ranMark) {
		return w, fmt.Errorf("the command inside did not run: %s", probe.Bounded(probe.FirstLine(probe.Text(answer)), 200))
	}
	return written{inside: exists(filepath.Join(in, "inside")), private: exists(filepath.Join(own, "file")), outside: exists(filepath.Join(out, "file"))}, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// outside says what could still run outside the sandbox, or "".
func outside(p runtime.Profile, live liveFacts) string {
	if !live.known {
		return "the effective configuration is not known, and with it which tool servers would run outside the sandbox"
	}
	if bad := unnameable(p); bad != "" {
		return "the tool server " + bad + " of codex's configuration cannot be switched off by name and would run outside the sandbox"
	}
	return ""
}

// unnameable is a configured tool server whose name cannot stand in a dotted
// configuration path, or "".
func unnameable(p runtime.Profile) string {
	for key := range p.Flags {
		name, ok := strings.CutPrefix(key, serverKey(""))
		plain := func(r rune) bool {
			return r == '_' || r == '-' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		}
		if ok && strings.TrimFunc(name, plain) != "" {
			return fmt.Sprintf("%q", name)
		}
	}
	return ""
}
