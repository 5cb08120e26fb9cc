package conformance

import (
	"fmt"
	"slices"
	"testing"

	"orchestrate/internal/runtime"
)

// commandBypass: no command and no question switches permission checks or a sandbox
// off, whatever is asked for. Each thing that a request can ask for is put together with
// each other one.
func commandBypass(t *testing.T, s Subject) (faults []string) {
	host := s.Machine(t)
	p, err := probed(s, host, asRecorded)
	if err != nil {
		return []string{err.Error()}
	}
	for _, q := range host.Asked {
		if arg := runtime.Bypass(append(slices.Clone(q.Env), q.Argv...)); arg != "" {
			faults = append(faults, fmt.Sprintf("the question %q has %q", q.Argv, arg))
		}
	}
	built := map[string]bool{}
	for _, one := range requests(t, p) {
		for _, other := range requests(t, p) {
			cmd, err := s.Adapter.Command(both(one, other), p)
			if err != nil || built[fmt.Sprint(cmd.Argv, cmd.Env)] {
				continue
			}
			built[fmt.Sprint(cmd.Argv, cmd.Env)] = true
			if arg := runtime.Bypass(append(slices.Clone(cmd.Env), cmd.Argv...)); arg != "" {
				faults = append(faults, fmt.Sprintf("the command %q has %q", cmd.Argv, arg))
			}
		}
	}
	return faults
}

// both asks for what either asks for, with the access of the first.
func both(one, other runtime.Request) runtime.Request {
	one.Project = one.Project || other.Project
	if other.Model != "" {
		one.Model, one.Effort = other.Model, other.Effort
	}
	if other.Agent != "" {
		one.Agent = other.Agent
	}
	if other.Resume != "" {
		one.Resume = other.Resume
	}
	if other.ReadDirs != nil {
		one.ReadDirs = other.ReadDirs
	}
	if other.AllowedTools != nil {
		one.AllowedTools = other.AllowedTools
	}
	return one
}
