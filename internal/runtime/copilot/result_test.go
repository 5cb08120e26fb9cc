package copilot_test

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/copilot"
)

// TestAResultThatIsNotSaidToBeGoodIsNone: only the program's own word makes a success.
func TestAResultThatIsNotSaidToBeGoodIsNone(t *testing.T) {
	for _, lines := range [][]string{
		{`{"type":"session.error","data":{"message":"boom"}}`, `{"type":"result","sessionId":"s"}`},
		{`{"type":"result","sessionId":"s"}`},
		{`{"type":"result","sessionId":"s","exitCode":"1"}`},
	} {
		d := copilot.NewDecoder(runtime.DecoderSpec{Runtime: copilot.Name})
		for _, line := range lines {
			d.Stdout([]byte(line))
		}
		if out := d.Outcome(); out.Completed && !out.ErrorFlag {
			t.Errorf("%q is success: %+v", lines, out)
		}
	}
}
