package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"orchestrate/internal/detach"
	"orchestrate/internal/engine"
	"orchestrate/internal/mcp"
)

func newMCP(sys System) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve a hosting session: the commands as tools, on standard input and output",
		Long: `Serve a coding agent's session by the Model Context Protocol on standard input and
output: the commands of a run as tools (doctor, plan, start, wait, next, submit, status,
output, explain, report, cancel, approve), reports and answers as resources. It is started
by the agent's program, for example:

  claude mcp add orchestrate -- orchestrate mcp
  codex mcp add orchestrate -- orchestrate mcp

It ends with its client. Runs that it began go on.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMCP(cmd.Context(), sys)
		},
	}
}

func runMCP(ctx context.Context, sys System) error {
	ctx, done := unlessInterrupted(ctx)
	defer done()
	if f, ok := sys.In.(*os.File); ok && foreground(f) {
		fmt.Fprintln(sys.Err, "this speaks a protocol with the program of a coding agent, which starts it by itself (orchestrate mcp --help); Ctrl-D ends it")
	}
	d := desk{sys: sys}
	err := mcp.Serve(ctx, mcp.Host{
		Version: sys.Version, Cwd: sys.Cwd, Root: d.root, Call: d.call, Approve: d.approve, Checked: d.checked,
	}, sys.In, sys.Out)
	if err != nil && ctx.Err() == nil {
		return failure(err)
	}
	return nil
}

// desk carries out for a hosting session what a person would type.
type desk struct{ sys System }

func (d desk) root(cwd string) string {
	sys := d.sys
	sys.Cwd = cwd
	return workspaceRoot(sys)
}

// call is a command in this process. One that may have to leave what it waits for, by
// ending its process, has one of its own.
func (d desk) call(ctx context.Context, c mcp.Command) mcp.Outcome {
	if c.Args[0] == "cancel" && detach.Available {
		return d.apart(ctx, c)
	}
	var complaints held
	out := held{line: c.Each}
	sys := d.sys
	sys.In, sys.Out, sys.Err, sys.Cwd = strings.NewReader(c.In), &out, &complaints, c.Cwd
	status := Main(ctx, c.Line(), sys)
	return mcp.Outcome{Exit: status, Out: out.String(), Err: complaints.String()}
}

// apart is a command in a process of its own, which goes on when ctx ends.
func (d desk) apart(ctx context.Context, c mcp.Command) mcp.Outcome {
	e, err := d.begin(c)
	if err != nil {
		return mcp.Outcome{Exit: exitFailed, Err: err.Error()}
	}
	for e.ended == nil && !e.gone {
		select {
		case m, ok := <-e.eng.Messages():
			e.heard(m, ok)
		case <-ctx.Done():
			return e.leave(exitRunning)
		}
	}
	return e.leave(exitFailed)
}

// checked looks for secrets in a text that is about to be written down in the workspace
// of cwd.
func (d desk) checked(cwd, text string) error {
	op, err := d.sys.operator()
	if err != nil {
		return err
	}
	e := engine.Engine{Env: d.sys.Env, Operator: op}
	found, err := e.Guarded(d.root(cwd), text)
	if err != nil {
		return err
	}
	var all []error
	for _, f := range found {
		all = append(all, fmt.Errorf("line %d, column %d looks like a secret (%s; the operator can allow it as %s)", f.Line, f.Col, f.Rule, f.Fingerprint))
	}
	return errors.Join(all...)
}

// held keeps what a command prints, and hands on its lines as they come.
type held struct {
	line func([]byte) // nil = all is kept

	mu  sync.Mutex
	buf bytes.Buffer
}

// mostHeld bounds what is kept, in bytes; no result of a tool is near to it.
const mostHeld = 64 << 20

func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.buf.Len()+len(p) > mostHeld {
		return 0, fmt.Errorf("it prints more than %d bytes", mostHeld)
	}
	h.buf.Write(p)
	for h.line != nil {
		i := bytes.IndexByte(h.buf.Bytes(), '\n')
		if i < 0 {
			break
		}
		h.line(h.buf.Next(i + 1))
	}
	return len(p), nil
}

func (h *held) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}
