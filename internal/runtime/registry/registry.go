// Package registry lists the runtimes that this build knows.
package registry

import (
	"maps"
	"slices"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/commandcode"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/cursor"
	"orchestrate/internal/runtime/custom"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/pi"
	"orchestrate/internal/runtime/qwen"
	"orchestrate/internal/runtime/standin"
)

// All returns one adapter per runtime, coding agents first: those with an adapter of
// their own, those whose description comes with this program, then those that the
// operator describes. self is the absolute path of the running executable, which the
// stand-in and the protocol client are.
func All(self string, described map[string]custom.Definition) []runtime.Adapter {
	all := []runtime.Adapter{
		claude.New(), codex.New(), gemini.New(), opencode.New(), opencode.NewKilo(), qwen.New(), copilot.New(),
		pi.New(), commandcode.New(), cursor.New(),
	}
	known := custom.Known()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		all = append(all, custom.New(name, custom.Shipped, known[name], self))
	}
	for _, name := range slices.Sorted(maps.Keys(described)) {
		all = append(all, custom.New(name, custom.ByOperator, described[name], self))
	}
	return append(all, exec.New(), standin.New(self))
}

// Names are those of the runtimes that every machine has. No description can take one.
func Names() []string {
	var names []string
	for _, a := range All("", nil) {
		names = append(names, a.Name())
	}
	return names
}
