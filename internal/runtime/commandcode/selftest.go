package commandcode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// testGate starts the program as a job is started, behind a gate that ends it when
// the session begins, and looks at which tools the gate left. No model is called.
func testGate(ctx context.Context, asker *probe.Asker, p runtime.Profile) (runtime.Control, []runtime.Evidence) {
	held := runtime.Control{Name: runtime.ControlToolLimits}
	args := base(p)
	if p.Shows(flagNoSession) {
		args = append(args, flagNoSession)
	}
	sh := &probe.Asker{Host: asker.Host, Path: shell, Env: asker.Env}
	answer := sh.Ask(ctx, []byte("self-test\n"), gated(gateFor(reading(), andLeave), asker.Path, args)...)
	if why := probe.Trouble("a start with "+flagMod, answer); why != "" {
		held.Evidence = "self-test: " + why
		return held, sh.Evidence()
	}
	var said line
	probe.JSONLines(answer.Stdout, func(raw []byte) {
		var l line
		if json.Unmarshal(raw, &l) == nil && l.Type == typeGate {
			said = l
		}
	})
	held.Verified, held.Evidence = judgeGate(said)
	sh.Summarize(held.Evidence)
	return held, sh.Evidence()
}

// judgeGate wants a tool taken away that writes, and none left that was not granted.
func judgeGate(said line) (holds bool, evidence string) {
	if said.Type != typeGate {
		return false, "self-test: the file given with " + flagMod + " was not loaded"
	}
	for _, tool := range said.Active {
		if !slices.Contains(reading(), tool) {
			return false, fmt.Sprintf("self-test: the tool %q was left though it was not granted", tool)
		}
	}
	taken := len(said.All) - len(said.Active)
	if taken <= 0 || len(said.Active) == 0 {
		return false, fmt.Sprintf("self-test: of the tools %q these were left: %q", said.All, said.Active)
	}
	return true, fmt.Sprintf("self-test: a file given with %s left %s and took %d other tools away", flagMod, strings.Join(said.Active, ", "), taken)
}
