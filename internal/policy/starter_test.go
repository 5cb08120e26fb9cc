package policy

import (
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

// uncommented is the starter with its examples in force.
func uncommented(starter []byte) string {
	var lines []string
	in := false
	for line := range strings.Lines(string(starter)) {
		body, ok := strings.CutPrefix(line, "# ")
		key, _, _ := strings.Cut(body, ":")
		switch key {
		case "enabled", "runtimes", "secrets", "sandbox", "worktree_root":
			in = ok
		default:
			in = in && ok && strings.HasPrefix(body, " ")
		}
		if in {
			lines = append(lines, body)
		}
		in = in || line == "#\n"
	}
	return strings.Join(lines, "")
}

// All that is shown is commented out, and would be valid if it were not.
func TestTheStarterShowsWhatWasFound(t *testing.T) {
	found := []runtime.Profile{
		{
			Runtime: "one", Kind: runtime.KindCLI, State: runtime.StateAvailable, Version: "7.1", DefaultModel: "big",
			Capability: "C3", CapabilitySource: "live model list: big\nhas a reasoning-depth control", Family: "maker", FamilySource: "its status",
			Controls: []runtime.Control{{Name: runtime.ControlEffort, Verified: true}},
			Models: []runtime.Model{
				{ID: "big", Resolved: "big-9", Efforts: []string{"low", "high"}, Default: true},
				{ID: "no"},
				{ID: "a: {b}\n"},
				{ID: "1.5"},
			},
		},
		{Runtime: "two", Kind: runtime.KindCLI, State: runtime.StateConstrained, Version: "1", Flags: map[string]string{"-p": "-p  print"}},
		{
			Runtime: "out", Kind: runtime.KindCLI, State: runtime.StateUnavailable, Version: "2", Flags: map[string]string{"-p": "-p  print"},
			Capability: "C1", CapabilitySource: "nothing more was shown", Models: []runtime.Model{{ID: "m"}},
		},
		{Runtime: "stranger", Kind: runtime.KindCLI, State: runtime.StateUnverified, Version: "1"},
		{Runtime: "gone", Kind: runtime.KindCLI, State: runtime.StateUnavailable},
		{Runtime: "exec", Kind: runtime.KindExec, Version: "1", State: runtime.StateAvailable},
	}
	for i := range 30 {
		found[1].Models = append(found[1].Models, runtime.Model{ID: fmt.Sprint("m", i)})
	}
	starter := OperatorStarter(found...)
	for line := range strings.Lines(string(starter)) {
		if line != "\n" && !strings.HasPrefix(line, "#") {
			t.Errorf("in force: %s", line)
		}
	}
	op := operator(t, uncommented(starter))
	if len(op.Enabled) != 3 || len(op.Runtimes) != 3 || op.WorktreeRoot == "" || len(op.Secrets.Allow) != 1 || !op.Sandbox.Off || len(op.Sandbox.Writable) != 1 || len(op.Sandbox.Readable) != 1 {
		t.Fatalf("%+v from\n%s", op, starter)
	}
	one := op.Runtimes["one"]
	if one.Model != "big" || one.Capability != C3 || one.Family != "maker" || len(one.Models) != 4 || one.Models["big"].Capability != C3 || one.Models["a: {b}\n"].Capability != C1 {
		t.Errorf("%+v", one)
	}
	if out := op.Runtimes["out"]; out.Capability != "" || out.Family != "" || len(out.Models) > 0 {
		t.Errorf("what it cannot show today is the operator's word: %+v", out)
	}
	if two := op.Runtimes["two"]; two.Family != "" || len(two.Models) != starterModels || two.Model != "" {
		t.Errorf("%d models, default %q", len(two.Models), two.Model)
	}
	for _, want := range []string{"# today big-9; efforts: low, high", "# and more: orchestrate doctor --json two", "# version 7.1, available"} {
		if !strings.Contains(string(starter), want) {
			t.Errorf("%q is not in\n%s", want, starter)
		}
	}
}

func TestTheStarterOfAMachineWithoutAgentsNamesNone(t *testing.T) {
	op := operator(t, uncommented(OperatorStarter()))
	if len(op.Enabled) != 1 || op.Enabled[0] != "NAME" || op.Runtimes["NAME"].Capability != C3 {
		t.Errorf("%+v", op)
	}
}
