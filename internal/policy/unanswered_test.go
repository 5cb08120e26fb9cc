package policy

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

// Who reads that a capability is too low must learn that it is not the program's.
func TestACapabilityNamesTheQuestionThatGotNoAnswer(t *testing.T) {
	p := runtime.Profile{
		Runtime: "one", Kind: runtime.KindCLI, Controls: []runtime.Control{{Name: runtime.ControlEditsOnly, Verified: true}},
		Evidence: []runtime.Evidence{{Asked: "one --version"}, {Asked: "one models", TimedOut: true}},
	}
	c, source := CapabilityOf(p, "", Operator{})
	if c != C2 || !strings.Contains(source, "`one models` gave no answer") {
		t.Errorf("%s by %q", c, source)
	}
}
