package registry

import (
	"maps"
	"slices"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/custom"
	"orchestrate/internal/runtime/decoders"
)

var described = map[string]custom.Definition{"mine": {Argv: []string{"mine"}, Output: "text"}}

// What a runtime prints is read by the supervisor, which builds the decoder that the
// command names.
func TestEveryRuntimeHasItsDecoderInTheSupervisor(t *testing.T) {
	found := runtime.Profile{Executable: &runtime.Executable{Path: "/bin/x"}}
	for _, a := range All("/bin/orchestrate", described) {
		name := a.Name()
		if slices.Contains(slices.Concat(slices.Collect(maps.Keys(custom.Known())), []string{"mine"}), name) {
			cmd, err := a.Command(runtime.Request{Access: runtime.AccessRead, Dir: "/w"}, found)
			if err != nil {
				t.Fatal(err)
			}
			name = cmd.Decoder.Runtime
		}
		if _, err := decoders.For(runtime.DecoderSpec{Runtime: name}); err != nil {
			t.Errorf("%s: %v", a.Name(), err)
		}
	}
}

func TestNames(t *testing.T) {
	want := []string{"claude", "codex", "gemini", "opencode", "kilo", "qwen", "copilot", "pi", "command-code", "agent", "amp", "auggie", "cline", "crush", "exec", "standin"}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}
