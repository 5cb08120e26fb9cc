//go:build e2e && linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
)

// codex holds what it runs by a sandbox of its own: the same attempts change nothing. It
// keeps nothing from being read, which is said of it.
func TestCodexHoldsItselfByItsOwnSandbox(t *testing.T) {
	t.Parallel()
	said := secretWords()
	all := slices.DeleteFunc(writing(attempts()), func(a attempt) bool {
		return strings.Contains(a.shell, "$SUPERVISOR") // it sees no process but its own
	})
	inside := attempt{name: "inside", do: []string{`{write: {path: made.txt, content: "made\n"}}`}}
	l := newAgentLab(t, prisonersScenario(t, append([]attempt{inside}, all...), nil), said, codex())
	l.outsideWorld(said)
	l.vouch()
	before := l.untouched()
	e := l.spec(strings.Replace(fmt.Sprintf(prisoners, "codex", ""), ", allowed_tools: [Read]", "", 1)).wants(0)
	l.unchanged(before)
	e.denied("escape", "Get out of here.", all, false)
	if s := e.status("escape"); s.Status != ledger.Success || s.Route.Sandbox != "own" {
		t.Errorf("%s, %s: %s; held by %q", s.Status, s.Reason, s.ReasonEvidence, s.Route.Sandbox)
	}
	if limits := strings.Join(e.status("escape").Route.Constrained, "\n"); !strings.Contains(limits, "may read the whole disk") {
		t.Errorf("its route does not say what it may read: %s", limits)
	}
}
