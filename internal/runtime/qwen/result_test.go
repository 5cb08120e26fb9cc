package qwen_test

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/qwen"
)

// TestAResultThatIsNotSaidToBeGoodIsNone: only the program's own word makes a success.
func TestAResultThatIsNotSaidToBeGoodIsNone(t *testing.T) {
	for _, lines := range [][]string{
		{`{"type":"result","result":"partial"}`},
		{`{"type":"result","subtype":"cancelled","is_error":"true","result":"partial"}`},
	} {
		d := qwen.NewDecoder(runtime.DecoderSpec{Runtime: qwen.Name})
		for _, line := range lines {
			d.Stdout([]byte(line))
		}
		if out := d.Outcome(); out.Completed && !out.ErrorFlag {
			t.Errorf("%q is success: %+v", lines, out)
		}
	}
}
