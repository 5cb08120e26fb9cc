package conformance

import (
	"fmt"
	"slices"
	"testing"

	"orchestrate/internal/runtime"
)

// commandSessions: a runtime that can go on with a session says so before there is one, and
// its command then names that session and no other.
func commandSessions(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	plain := runtime.Request{Job: "j", Attempt: 1, Task: "scout", Prompt: prompt, Dir: t.TempDir(), Out: t.TempDir(), Access: runtime.AccessRead}
	begun, any := plain, plain
	begun.Resume, any.Resume = session, runtime.AnySession
	cmd, err := s.Adapter.Command(any, p)
	if _, errBegun := s.Adapter.Command(begun, p); err != nil {
		if errBegun == nil {
			faults = append(faults, fmt.Sprintf("it goes on with session %s, and not with any (%s): %v", session, runtime.AnySession, err))
		}
		return faults
	}
	fresh, err := s.Adapter.Command(plain, p)
	if err != nil {
		return []string{err.Error()}
	}
	if slices.Equal(cmd.Argv, fresh.Argv) {
		faults = append(faults, "the command that goes on with a session is that of a new one")
	}
	if !slices.Equal(cmd.Controls, fresh.Controls) {
		faults = append(faults, fmt.Sprintf("a session that goes on has the controls %v, a new one %v", cmd.Controls, fresh.Controls))
	}
	return faults
}
