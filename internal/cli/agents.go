package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"orchestrate/internal/handoff"
)

// agentsFlag takes what a hosting session says of its own agents.
func agentsFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "agents", "", "what a hosting session says of its own agents, as JSON in `FILE`; - is standard input (doctor --help shows the form)")
}

// agentsHelp shows the form of what a session says of its agents.
const agentsHelp = `With --agents FILE (- is standard input) it also shows the hosting session itself, the
runtime internal, as that file describes it:

  {"host": "NAME", "agents": [{"name": "reviewer", "description": "what it is good for",
    "tools": ["Read", "Grep"], "model": "MODEL", "access": "read",
    "boundary": "what holds it, in words", "general": false}]}

Only the name is needed. What is left out is unknown and proves nothing; tools ["*"]
are all of the session's; access is read, edit or shell: the most that its tools can do.`

// hosting reads what the session says of its agents, for a command whose --agents is
// path; nil = it says nothing. An engine was handed it by who started it, since the file
// may have changed by now, and standard input is gone.
func hosting(sys System, path string) (*handoff.Agents, error) {
	switch {
	case path == "":
		return nil, nil
	case sys.agents != nil:
		return sys.agents, nil
	}
	data, err := readAgents(sys, path)
	if err != nil {
		return nil, usageError(fmt.Errorf("--agents: %w", err))
	}
	agents, err := handoff.ParseAgents(data)
	if err != nil {
		return nil, usageError(fmt.Errorf("--agents %s: %w", path, err))
	}
	return agents, nil
}

// readAgents reads no more than is needed to see that there is too much.
func readAgents(sys System, path string) (data []byte, err error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(sys.In, handoff.MaxAgentsFile+1))
	}
	f, err := os.Open(absolute(sys.Cwd, path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, handoff.MaxAgentsFile+1))
}

// misinformed makes a usage error of what a session must not say of its agents.
func misinformed(err error) error {
	var invalid *handoff.Invalid
	if errors.As(err, &invalid) {
		return usageError(err)
	}
	return err
}
