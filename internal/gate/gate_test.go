package gate

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// routed is a recorded route with the given controls.
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

// boxed is the route in a sandbox, its own or the engine's.
func boxed(by string, r ledger.Route) ledger.Route {
	r.Sandbox, r.Controls = by, append(r.Controls, "os-sandbox")
	return r
}

// TestMinimumControls is the contract's table of controls per tier, on a host with a
// sandbox and on one without.
func TestMinimumControls(t *testing.T) {
	observer := &spec.Job{ID: "o", Effect: "observe"}
	asking := &spec.Job{ID: "s", Effect: "observe", AllowedTools: []string{"Bash"}}
	writer := &spec.Job{ID: "w", Effect: "scoped-write", AllowedTools: []string{"Bash"}}
	checked := &spec.Job{ID: "c", Effect: "scoped-write", AllowedTools: []string{"Bash"}, Checks: []spec.Check{{Shell: "true"}}}
	deploy := &spec.Job{ID: "d", Effect: "external-destructive", Checks: checked.Checks, Preview: "p", Rollback: "r"}
	unsaid := &spec.Job{ID: "u", Effect: "external-destructive", Checks: checked.Checks, Preview: "p"}
	w := func(controls ...string) []string { return append([]string{"patch", "owned-paths"}, controls...) }
	for name, c := range map[string]struct {
		job   *spec.Job
		route ledger.Route
		bare  string // what is missing where the host has no sandbox; "" = nothing
		has   string // and where it has one
	}{
		"R0, read-only":                  {observer, routed("R0", "read", "read-only", "fingerprint"), "", ""},
		"R0, read-only and boxed":        {observer, boxed("landlock", routed("R0", "read", "read-only", "fingerprint")), "", ""},
		"R0, boxed alone":                {observer, boxed("landlock", routed("R0", "read", "fingerprint")), "", ""},
		"R0, a shell, boxed":             {asking, boxed("landlock", routed("R0", "shell", "fingerprint")), "", ""},
		"R0, a shell nobody asked for":   {observer, boxed("landlock", routed("R0", "shell", "fingerprint")), "no access beyond need", "no access beyond need"},
		"R0, edits":                      {observer, boxed("landlock", routed("R0", "edit", "fingerprint")), "no access beyond need", "no access beyond need"},
		"R0, nobody looks":               {observer, routed("R0", "read", "read-only"), "fingerprint of the checkout", "fingerprint of the checkout"},
		"R0, no timeout":                 {observer, without(routed("R0", "read", "read-only", "fingerprint"), "timeout"), "bounded timeout", "bounded timeout"},
		"R0, a mode that edits":          {observer, routed("R0", "read", "edits-only", "fingerprint"), "write boundary", "write boundary"},
		"R0, a shell in read-only mode":  {asking, routed("R0", "shell", "read-only", "fingerprint"), "write boundary", "write boundary"},
		"R0, fingerprint, on the record": {asking, constrained(routed("R0", "shell", "fingerprint")), "", ""},
		"R0, fingerprint, unsaid":        {asking, routed("R0", "shell", "fingerprint"), "write boundary", "write boundary"},
		"R0, exec":                       {observer, plain(routed("R0", "shell", "fingerprint")), "", ""},
		"R1, edits only":                 {writer, routed("R1", "edit", w("edits-only", "tool-limits")...), "", ""},
		"R1, boxed":                      {writer, boxed("landlock", routed("R1", "edit", w()...)), "", ""},
		"R1, a shell, boxed":             {writer, boxed("landlock", routed("R1", "shell", w()...)), "", ""},
		"R1, its own sandbox":            {writer, boxed("own", routed("R1", "shell", w()...)), "", ""},
		"R1, no tool limits":             {writer, routed("R1", "edit", w("edits-only")...), "tool limits", "tool limits"},
		"R1, shell in the checkout":      {writer, constrained(routed("R1", "shell", w("edits-only", "tool-limits")...)), "write boundary", "write boundary"},
		"R1, shell in a worktree":        {writer, constrained(routed("R1", "shell", w("worktree", "tool-limits")...)), "", ""},
		"R1, the same, unsaid":           {writer, routed("R1", "shell", w("worktree", "tool-limits")...), "write boundary", "write boundary"},
		"R1, no patch":                   {writer, boxed("landlock", routed("R1", "edit", "owned-paths")), "patch", "patch"},
		"R1, exec in a worktree":         {writer, plain(routed("R1", "shell", w("worktree")...)), "", ""},
		"R1, exec in the checkout":       {writer, plain(routed("R1", "shell", w()...)), "write boundary", "write boundary"},
		"R1, exec boxed":                 {writer, boxed("landlock", plain(routed("R1", "shell", w()...))), "", ""},
		"R2, boxed":                      {checked, boxed("landlock", routed("R2", "edit", w("worktree")...)), "", ""},
		"R2, its own sandbox":            {checked, boxed("own", routed("R2", "shell", w("worktree")...)), "", ""},
		"R2, in the checkout":            {checked, boxed("landlock", routed("R2", "edit", w()...)), "worktree", "worktree"},
		"R2, no checks":                  {writer, boxed("landlock", routed("R2", "edit", w("worktree")...)), "checks", "checks"},
		"R2, edits only":                 {checked, constrained(routed("R2", "edit", w("worktree", "edits-only", "tool-limits")...)), "", "sandbox"},
		"R2, a sandbox by name only":     {checked, routed("R2", "edit", w("worktree", "os-sandbox", "tool-limits")...), "", "sandbox"},
		"R2, a sandbox without control":  {checked, without(boxed("landlock", constrained(routed("R2", "edit", w("worktree", "tool-limits")...))), "os-sandbox"), "", "sandbox"},
		"R2, shell":                      {checked, constrained(routed("R2", "shell", w("tool-limits", "worktree")...)), "sandbox for its shell", "sandbox for its shell, sandbox"},
		"R2, shell, observing":           {asking, constrained(routed("R2", "shell", "worktree")), "sandbox for its shell", "sandbox for its shell, sandbox"},
		"R2, exec":                       {checked, plain(routed("R2", "shell", w("worktree")...)), "", "sandbox"},
		"R2, exec boxed":                 {checked, boxed("landlock", plain(routed("R2", "shell", w("worktree")...))), "", ""},
		"R2, observing":                  {observer, routed("R2", "read", "read-only", "worktree"), "", "sandbox"},
		"R2, observing, its own":         {observer, own(routed("R2", "read", "read-only", "worktree")), "", ""},
		"R3, exec":                       {deploy, plain(routed("R3", "shell", w("worktree")...)), "enforced boundary", "sandbox, enforced boundary"},
		"R3, edits only":                 {deploy, routed("R3", "edit", w("worktree", "edits-only", "tool-limits")...), approvalMissing, "sandbox"},
		"R3, exec boxed":                 {deploy, boxed("landlock", plain(routed("R3", "shell", w("worktree")...))), approvalMissing, approvalMissing},
		"R3, in the checkout":            {deploy, boxed("landlock", plain(routed("R3", "shell", w()...))), "worktree", "worktree"},
		"the session, R0":                {observer, hostedBy(routed("R0", "read", "read-only", "fingerprint")), "", ""},
		"the session, R0, unbounded":     {observer, hostedBy(routed("R0", "read", "fingerprint")), "", ""},
		"the session, R0, unsaid":        {observer, unsaidOf(hostedBy(routed("R0", "read", "read-only", "fingerprint"))), "explicit cwd, bounded timeout", "explicit cwd, bounded timeout"},
		"the session, R1":                {writer, hostedBy(routed("R1", "edit", w("worktree", "tool-limits")...)), "", ""},
		"the session, R1, in checkout":   {writer, hostedBy(routed("R1", "edit", w("edits-only", "tool-limits")...)), "worktree of its own", "worktree of its own"},
		"the session, R1, no limits":     {writer, hostedBy(routed("R1", "edit", w("worktree", "edits-only")...)), "tool limits", "tool limits"},
		"the session, R2":                {checked, hostedBy(routed("R2", "edit", w("worktree", "edits-only", "tool-limits")...)), "", "sandbox"},
		"the session, R3":                {deploy, hostedBy(routed("R3", "edit", w("worktree", "edits-only", "tool-limits")...)), "enforced boundary", "sandbox, enforced boundary"},
		"R3, no rollback":                {unsaid, boxed("landlock", plain(routed("R3", "shell", w("worktree")...))), "preview and rollback", "preview and rollback"},
	} {
		for host, missing := range map[sandbox.State]string{sandbox.Unavailable: c.bare, sandbox.Off: c.bare, sandbox.Enforced: c.has} {
			if got := missingOf(Decide(c.job, c.route, sandbox.Level{State: host}, Word{})); got != missing {
				t.Errorf("%s, sandbox %s: %q is missing, want %q", name, host, got, missing)
			}
		}
	}
}

// hostedBy is the route as an agent of the hosting session has it: its time and place are held by
// nobody, and its weakness is on the record.
func hostedBy(r ledger.Route) ledger.Route {
	r.Runtime = runtime.Internal
	return constrained(without(without(r, "timeout"), "cwd"))
}

func unsaidOf(r ledger.Route) ledger.Route {
	r.Constrained = nil
	return r
}

// own is the route in its runtime's own sandbox, of which its read-only mode is made.
func own(r ledger.Route) ledger.Route {
	r.Sandbox = "own"
	return r
}

// approvalMissing stands for all that a person is told who has not approved.
const approvalMissing = "approval"

// missingOf names the controls of a block, "" = it is none.
func missingOf(b *route.Block) string {
	switch {
	case b == nil:
		return ""
	case b.NextStep == "":
		return "a way on"
	case b.Reason == runtime.BlockedApproval:
		return approvalMissing
	}
	return b.Detail[strings.LastIndex(b.Detail, ": ")+2:]
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
