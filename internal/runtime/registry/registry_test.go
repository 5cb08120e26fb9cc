package registry

import (
	"slices"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/decoders"
)

func TestEveryRuntimeHasItsDecoderInTheSupervisor(t *testing.T) {
	var names []string
	for _, a := range All("/bin/orchestrate") {
		names = append(names, a.Name())
		if _, err := decoders.For(runtime.DecoderSpec{Runtime: a.Name()}); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"claude", "codex", "gemini", "opencode", "kilo", "qwen", "copilot", "exec", "standin"}; !slices.Equal(names, want) {
		t.Errorf("registered are %q, want %q", names, want)
	}
}
