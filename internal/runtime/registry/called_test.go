package registry

import (
	"slices"
	"testing"

	"orchestrate/internal/runtime"
)

// What people call a runtime, and the order of the worker form, lead to runtimes that
// there are, and no other name of a runtime hides one.
func TestOtherNamesOfRuntimes(t *testing.T) {
	names := Names()
	for other, want := range map[string]string{
		"cmd": "command-code", "cmdc": "command-code", "commandcode": "command-code", "cursor": "agent", "cursor-agent": "agent",
		"claude-code": "claude", "agent": "agent", "codex": "codex", "no-such": "no-such",
	} {
		got := runtime.Called(other)
		if got != want {
			t.Errorf("%s is %s, want %s", other, got, want)
		}
		if got != other && (slices.Contains(names, other) || !slices.Contains(names, got)) {
			t.Errorf("%s hides a runtime of that name, or leads to none", other)
		}
	}
	for _, name := range runtime.WorkerOrder() {
		if !slices.Contains(names, name) {
			t.Errorf("the order of the worker form names %s, which is no runtime", name)
		}
	}
}
