// Package registry lists the runtimes that this build knows.
package registry

import (
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/qwen"
	"orchestrate/internal/runtime/standin"
)

// All returns one adapter per known runtime, coding agents first. self is the
// absolute path of the running executable, which the stand-in runs.
func All(self string) []runtime.Adapter {
	return []runtime.Adapter{
		claude.New(), codex.New(), gemini.New(), opencode.New(), opencode.NewKilo(), qwen.New(), copilot.New(),
		exec.New(), standin.New(self),
	}
}
