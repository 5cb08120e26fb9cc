package gate

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// route is a recorded route with the given controls.
func routed(risk, access string, controls ...string) ledger.Route {
	return ledger.Route{
		Runtime: "one", Capability: "C3", Risk: risk, RiskWhy: "because", Access: access,
		Controls: append([]string{"cwd", "timeout", "capture"}, controls...),
	}
}

func constrained(r ledger.Route) ledger.Route {
	r.Constrained = []string{"shell not confined"}
	return r
}

func plain(r ledger.Route) ledger.Route {
	r.Runtime, r.Capability = "exec", ""
	return constrained(r)
}

func without(r ledger.Route, control string) ledger.Route {
	r.Controls = slices.DeleteFunc(slices.Clone(r.Controls), func(c string) bool { return c == control })
	return r
}

// TestMinimumControls is the contract's table of controls per tier.
func TestMinimumControls(t *testing.T) {
	observer := &spec.Job{ID: "o", Effect: "observe"}
	writer := &spec.Job{ID: "w", Effect: "scoped-write"}
	checked := &spec.Job{ID: "c", Effect: "scoped-write", Checks: []spec.Check{{Shell: "true"}}}
	written := []string{"patch", "owned-paths"}
	for name, c := range map[string]struct {
		job     *spec.Job
		route   ledger.Route
		missing string // "" = allowed
	}{
		"R0, read-only":                  {observer, routed("R0", "read", "read-only", "fingerprint"), ""},
		"R0, sandbox":                    {observer, routed("R0", "shell", "os-sandbox"), ""},
		"R0, no timeout":                 {observer, without(routed("R0", "read", "read-only"), "timeout"), "bounded timeout"},
		"R0, a mode that edits":          {observer, routed("R0", "read", "edits-only"), "write boundary"},
		"R0, a shell in read-only mode":  {observer, routed("R0", "shell", "read-only"), "write boundary"},
		"R0, fingerprint, on the record": {observer, constrained(routed("R0", "shell", "fingerprint")), ""},
		"R0, fingerprint, unsaid":        {observer, routed("R0", "shell", "fingerprint"), "write boundary"},
		"R1, edits only":                 {writer, routed("R1", "edit", append(written, "edits-only", "tool-limits")...), ""},
		"R1, sandbox":                    {writer, routed("R1", "edit", append(written, "os-sandbox")...), ""},
		"R1, no tool limits":             {writer, routed("R1", "edit", append(written, "edits-only")...), "tool limits"},
		"R1, shell in the checkout":      {writer, constrained(routed("R1", "shell", append(written, "edits-only", "tool-limits")...)), "write boundary"},
		"R1, shell in a worktree":        {writer, constrained(routed("R1", "shell", append(written, "worktree", "tool-limits")...)), ""},
		"R1, the same, unsaid":           {writer, routed("R1", "shell", append(written, "worktree", "tool-limits")...), "write boundary"},
		"R1, no patch":                   {writer, routed("R1", "edit", "owned-paths", "os-sandbox"), "patch"},
		"R1, exec in a worktree":         {writer, plain(routed("R1", "shell", append(written, "worktree")...)), ""},
		"R1, exec in the checkout":       {writer, plain(routed("R1", "shell", written...)), "write boundary"},
		"R2":                             {checked, routed("R2", "edit", append(written, "os-sandbox", "worktree")...), ""},
		"R2, in the checkout":            {checked, routed("R2", "edit", append(written, "os-sandbox")...), "worktree"},
		"R2, no checks":                  {writer, routed("R2", "edit", append(written, "os-sandbox", "worktree")...), "checks"},
		"R2, shell":                      {checked, constrained(routed("R2", "shell", append(written, "tool-limits", "worktree")...)), "sandbox for its shell"},
		"R2, shell, observing":           {observer, constrained(routed("R2", "shell", "worktree")), "sandbox for its shell"},
		"R2, shell, sandbox":             {checked, routed("R2", "shell", append(written, "os-sandbox", "worktree")...), ""},
		"R2, exec":                       {checked, plain(routed("R2", "shell", append(written, "worktree")...)), ""},
		"R2, observing":                  {observer, routed("R2", "read", "read-only", "worktree"), ""},
	} {
		block := Controls(c.job, c.route)
		switch {
		case c.missing == "":
			if block != nil {
				t.Errorf("%s: %+v", name, block)
			}
		case block == nil || block.Reason != runtime.BlockedRiskControls || !strings.HasSuffix(block.Detail, ": "+c.missing) || block.NextStep == "":
			t.Errorf("%s: %+v", name, block)
		}
	}
}

func TestBypass(t *testing.T) {
	for _, argv := range [][]string{
		{"x", "--dangerously-skip-permissions"},
		{"x", "--permission-mode=bypassPermissions"},
		{"x", "--permission-mode", "bypassPermissions"},
		{"x", "-s", "danger-full-access"},
		{"x", "-c", `sandbox_mode="danger-full-access"`},
		{"x", "--yolo"},
	} {
		if Bypass(argv) == "" {
			t.Errorf("%v is let through", argv)
		}
	}
	if flag := Bypass([]string{"x", "-p", "--permission-mode=acceptEdits", "-s", "workspace-write"}); flag != "" {
		t.Errorf("%s is refused", flag)
	}
}
