//go:build linux

package cli_test

import (
	"encoding/json"
	"os"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orchestrate/internal/inventory"
	"orchestrate/internal/runtime"
)

// probed reads what doctor printed as JSON.
func probed(ts *testscript.TestScript, file string) (inv inventory.Inventory) {
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &inv))
	return inv
}

// state holds a runtime's profile against what is wanted:
// `state FILE RUNTIME STATE-PATTERN [REASON-PATTERN [NEXT-STEP-PATTERN]]`. A runtime
// that cannot take jobs always says why, and what to do.
func state(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 3, 5, "state FILE RUNTIME STATE [REASON [NEXT-STEP]]")
	p, ok := probed(ts, args[0]).Get(args[1])
	if !ok {
		ts.Fatalf("%s was not asked", args[1])
	}
	args = append(args, "", "")
	for i, got := range []string{string(p.State), p.Reason, p.NextStep} {
		want := args[2+i]
		if i == 0 {
			want = "^" + want + "$"
		}
		if !regexp.MustCompile(want).MatchString(got) {
			ts.Fatalf("%s is %s: %s. Next: %s", p.Runtime, p.State, p.Reason, p.NextStep)
		}
	}
	if !p.Routable() && (p.Reason == "" || p.NextStep == "") {
		ts.Fatalf("%s is %s, and nothing says why (%q) or what to do (%q)", p.Runtime, p.State, p.Reason, p.NextStep)
	}
}

// unhindered demands that a runtime's question ran into its limit and that by then all
// others had been asked and answered all that there was: `unhindered FILE RUNTIME`.
func unhindered(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 2, 2, "unhindered FILE RUNTIME")
	inv := probed(ts, args[0])
	hanging, _ := inv.Get(args[1])
	var ended time.Time
	for _, e := range hanging.Evidence {
		if e.TimedOut {
			ended = over(e)
			break
		}
	}
	if ended.IsZero() {
		ts.Fatalf("%s answered everything: %+v", args[1], hanging.Evidence)
	}
	for _, p := range inv.Profiles {
		for _, e := range p.Evidence {
			if p.Runtime != args[1] && over(e).After(ended) {
				ts.Fatalf("%s was still asked %s when %s had been given up", p.Runtime, e.Asked, args[1])
			}
		}
	}
}

func over(e runtime.Evidence) time.Time {
	return e.At.Add(time.Duration(e.DurationMs) * time.Millisecond)
}

// atMost demands that a file has at most so many bytes: `atmost FILE BYTES`.
func atMost(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 2, 2, "atmost FILE BYTES")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	var most int64
	ts.Check(json.Unmarshal([]byte(args[1]), &most))
	if info.Size() > most {
		ts.Fatalf("%s has %d bytes", args[0], info.Size())
	}
}
