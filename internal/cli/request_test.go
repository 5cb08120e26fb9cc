package cli

import (
	"bytes"
	"strings"
	"testing"

	"orchestrate/internal/engine"
)

// A person sees which jobs go on beside each other, wherever they stand in the spec.
func TestTheOrderIsShownInSteps(t *testing.T) {
	var out bytes.Buffer
	showOrder(&out, engine.Preview{
		Jobs: []engine.JobPreview{
			{ID: "last", DependsOn: []string{"c", "a"}}, {ID: "a"}, {ID: "b"}, {ID: "c", DependsOn: []string{"b"}},
		},
		Arbiter: &engine.JobPreview{},
	})
	want := "\nOrder: 4 jobs in 3 steps, up to 2 beside each other\n  1  a, b\n  2  c\n  3  last\n  4  the arbiter\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%q", out.String())
	}
}
