package decoders

import (
	"os/exec"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/custom/output"
)

// Of plain text nothing is read: the exit status decides.
func TestTextOfARuntimeThatIsDescribedByData(t *testing.T) {
	for name, completed := range map[string]bool{output.TextName: true, output.LastLineName: false} {
		d, err := For(runtime.DecoderSpec{Runtime: name})
		if err != nil {
			t.Fatal(err)
		}
		d.Stdout([]byte("x"))
		if d.Outcome().Completed != completed {
			t.Errorf("%s: completed %v, want %v", name, !completed, completed)
		}
	}
}

func TestFor(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "kilo", "qwen", "copilot", "pi", "command-code", "agent", "exec", "standin", Raw} {
		d, err := For(runtime.DecoderSpec{Runtime: name})
		if err != nil || d == nil {
			t.Errorf("%s: %v, %v", name, d, err)
			continue
		}
		d.Stdout([]byte("x"))
		d.Stderr([]byte("x"))
		if _, ok := d.Settle(); ok || d.Outcome().Completed {
			t.Errorf("%s: one stray line settled or completed it", name)
		}
	}
	if _, err := For(runtime.DecoderSpec{Runtime: "stranger"}); err == nil || !strings.Contains(err.Error(), "stranger") {
		t.Errorf("error %v", err)
	}
}

// The supervisor links this package: only the standard library and decoders.
func TestTheSupervisorStaysLean(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		first, _, _ := strings.Cut(pkg, "/")
		ours := strings.HasPrefix(pkg, "orchestrate/internal/runtime") || pkg == "orchestrate/internal/untrusted"
		if pkg == "net/http" || strings.HasSuffix(pkg, "/script") || (strings.Contains(first, ".") && !ours) || (first == "orchestrate" && !ours) {
			t.Errorf("the decoders pull in %s", pkg)
		}
	}
}
