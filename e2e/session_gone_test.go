//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/modelsim"
	"orchestrate/internal/process"
)

// hangsWithAJob takes a job for three seconds and then says nothing more.
const hangsWithAJob = `
rules:` + hostedOthers + `
  - {name: host starts, contains: Host the run, turn: 0, do: [{tool: {names: [mcp__orchestrate__start], input: {spec: jobs.yaml, agents: AGENTS}}}]}
  - {name: host asks for a job, contains: Host the run, turn: 1, do: [{tool: {names: [mcp__orchestrate__next], input: {run: 'RUN', seconds: 50, lease: 3s}}}]}
  - {name: host hangs, contains: Host the run, do: [{hang: true}]}
`

// A session is killed while it has a job: its server ends by itself, the run loses nothing,
// another caller gets the job under another id once the lease is over, and what the first
// one would have handed in is refused.
func TestAnotherCallerGoesOnForASessionThatWasKilled(t *testing.T) {
	l := hostedLab(t, hostWords(hangsWithAJob), "claude", claude())
	h := l.openHouse()
	session := h.hosting(l.claudeServed())
	h.until("the session to have a job", func() bool {
		return slices.ContainsFunc(l.sim.Requests(), func(r modelsim.Request) bool { return r.Rule == "host hangs" })
	})
	dir := l.onlyRun()
	lost := newestRequest(t, dir, "compare")
	server := tree(session.PID)
	if len(server) == 0 {
		t.Fatal("the session has no server")
	}
	h.kill(session)
	h.until("the end of the session's server", func() bool {
		return !slices.ContainsFunc(server, func(p process.Identity) bool { return p.Fate() == process.Alive })
	})

	run, answer := id(dir), quoted(filepath.Join(l.dir, "one.txt"))
	found := h.start("next", run, "--wait", "50s", "--json").end(dir).wants(0).request()
	if found.Job != "compare" || found.Attempt == lost || found.N != 2 {
		t.Errorf("the other caller gets %s %s, attempt %d; the first one had %s", found.Job, found.Attempt, found.N, lost)
	}
	late := h.start("submit", run, "compare", "--attempt", lost, "--result", answer).end(dir).wants(1)
	if !strings.Contains(late.stderr, "is not the newest of job compare") {
		t.Errorf("the late result is refused with %q", late.stderr)
	}
	h.start("submit", run, "compare", "--attempt", found.Attempt, "--result", answer).end(dir).wants(0)
	e := h.start("wait", run).end(dir).wants(0).sound()
	if s := e.status("compare"); s.Status != ledger.Success || s.Attempts != 2 || e.verdict().Verdict != "pass" {
		t.Errorf("%+v, verdict %+v", s, e.verdict())
	}
	if first := e.statusAt("compare/attempt-1/" + ledger.StatusFile); first.Status != ledger.Interrupted {
		t.Errorf("the first attempt: %s, %s", first.Status, first.Reason)
	}
}

// hosting starts a session in the house and says which process it is.
func (h *house) hosting(argv []string) process.Identity {
	h.t.Helper()
	var line strings.Builder
	for _, arg := range argv {
		line.WriteString(" " + quoted(arg))
	}
	said := filepath.Join(h.base, "session.pid")
	h.file("session.sh", fmt.Sprintf("echo $$ >%s\nexec%s\n", quoted(said), line.String()))
	h.sh("sh %s", quoted(filepath.Join(h.base, "session.sh")))
	var session process.Identity
	h.until("the session", func() (there bool) {
		data, _ := os.ReadFile(said) // it may not be there yet
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			session, there = process.Of(pid)
		}
		return there
	})
	return session
}

// newestRequest is the id of the newest attempt of a job of the session.
func newestRequest(t *testing.T, dir, job string) string {
	t.Helper()
	run, err := ledger.Open(dir)
	ok(t, err)
	defer run.Close()
	request, known, err := handoff.ReadRequest(run, job)
	ok(t, err)
	if !known {
		t.Fatalf("job %s has no request", job)
	}
	return request.Attempt
}
