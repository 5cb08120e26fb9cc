package commandcode_test

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/commandcode"
)

// TestAResultThatIsNotSaidToBeGoodIsNone: only the program's own word makes a success.
func TestAResultThatIsNotSaidToBeGoodIsNone(t *testing.T) {
	for _, lines := range [][]string{
		{`{"type":"result","subtype":"success","finalText":"x"}`},
	} {
		d := commandcode.NewDecoder(runtime.DecoderSpec{Runtime: commandcode.Name})
		for _, line := range lines {
			d.Stdout([]byte(line))
		}
		if out := d.Outcome(); out.Completed && !out.ErrorFlag {
			t.Errorf("%q is success: %+v", lines, out)
		}
	}
}
