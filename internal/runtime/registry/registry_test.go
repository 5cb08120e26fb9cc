package registry

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/decoders"
)

func TestEveryRuntimeHasItsDecoderInTheSupervisor(t *testing.T) {
	all := All("/bin/orchestrate")
	for _, name := range []string{"claude", "codex", "exec", "standin"} {
		a, ok := Named(all, name)
		if !ok || a.Name() != name {
			t.Errorf("%s is not registered", name)
			continue
		}
		if _, err := decoders.For(runtime.DecoderSpec{Runtime: name}); err != nil {
			t.Error(err)
		}
	}
	if _, ok := Named(all, "stranger"); ok {
		t.Error("a stranger is registered")
	}
}
