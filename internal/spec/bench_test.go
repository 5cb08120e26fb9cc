package spec

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead reads a thousand jobs, flat and as ten stages in which every job
// depends on all of the stage before, and writes them out with their defaults.
func BenchmarkRead(b *testing.B) {
	for _, shape := range []struct {
		name string
		wide bool
	}{{"flat", false}, {"wide", true}} {
		data := []byte(thousand(shape.wide))
		b.Run(shape.name, func(b *testing.B) {
			for b.Loop() {
				if _, errs := Parse("/bench/spec.yaml", data, Options{WorkspaceRoot: b.TempDir()}); len(errs) > 0 {
					b.Fatal(errs[0])
				}
			}
		})
		b.Run(shape.name+", written out", func(b *testing.B) {
			s, errs := Parse("/bench/spec.yaml", data, Options{WorkspaceRoot: b.TempDir()})
			if len(errs) > 0 {
				b.Fatal(errs[0])
			}
			for b.Loop() {
				s.Resolved()
			}
		})
	}
}

func thousand(wide bool) string {
	var s strings.Builder
	s.WriteString("version: 1\ndefaults: {runtime: exec, effect: observe, command: [/bin/true], timeout: 1m, expected_output: nothing}\njobs:\n")
	for stage := range 10 {
		for i := range 100 {
			fmt.Fprintf(&s, "- id: s%dj%d\n", stage, i)
			if wide && stage > 0 {
				s.WriteString("  depends_on: [s" + fmt.Sprint(stage-1) + "j0")
				for k := 1; k < 100; k++ {
					fmt.Fprintf(&s, ", s%dj%d", stage-1, k)
				}
				s.WriteString("]\n")
			}
		}
	}
	return s.String()
}
