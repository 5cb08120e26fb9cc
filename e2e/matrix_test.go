//go:build e2e && linux

package e2e

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// outcome is what a cell comes to.
type outcome struct {
	status ledger.Status
	reason runtime.Reason
	why    string // part of the reason's evidence
	events string // what the agent was seen to do, see transcript
}

// cell is one thing that every agent is asked to do: a job of one run.
type cell struct {
	name string // also the job's id
	job  func(a agent) string
	want outcome // what it comes to, unless the agent says otherwise
}

// cells are in the order in which the jobs are begun: one after the other, and the one
// that is killed while its tool runs is the last.
func cells() []cell {
	return []cell{
		{"answer", observer("Say the word of the day."), outcome{status: ledger.Success}},
		{"write", writer("Make the file made.txt.", "made.txt", "outputs: [{path: made.txt}]"), outcome{status: ledger.Success}},
		{"refused", refused, outcome{status: ledger.Failed, reason: runtime.ReasonPermission}},
		{"unknown-model", observer("Ask for a model that is not there.", "model: no-such-model"), outcome{status: ledger.Failed, reason: runtime.ReasonUnknownModel}},
		{"unauthorized", observer("Ask with a key that is not good."), outcome{status: ledger.Failed, reason: runtime.ReasonAuth}},
		{"killed", killed, outcome{status: ledger.Interrupted, reason: runtime.ReasonCancelled}},
	}
}

// scenario has the service's part in every cell. What an agent asks beside its work
// offers no tools: a title, or which of its models is to do it.
const scenario = `
models: [made-up-model]
rules:
  - {name: unauthorized, contains: Ask with a key that is not good., do: [{status: {code: 401}}]}
  - {name: unknown-model, contains: Ask for a model that is not there., do: [{status: {code: 404}}]}
  - {name: which model, json: true, do: [{text: '{"reasoning": "it is simple", "model_choice": "flash", "complexity_reasoning": "it is simple", "complexity_score": 10}'}]}
  - {name: beside, tools: false, do: [{text: a few words}]}
  - {name: write, contains: Make the file made.txt., turn: 0, do: [{write: {path: made.txt, content: "made\n"}}]}
  - {name: refused, contains: Write outside., turn: 0, do: [{write: {path: ../../../outside.txt, content: "x\n"}}]}
  - {name: forced, contains: Write though you may not., turn: 0, do: [{tool: {names: [%s], force: true, input: {path: "{{cwd}}/made.txt", file_path: "{{cwd}}/made.txt", content: "x\n"}}}]}
  - {name: killed, contains: Run a long command., turn: 0, do: [{shell: "` + longCommand + `"}]}
  - {name: silent, contains: Wait for a silent model., do: [{hang: true}]}
  - {name: resumed, contains: Say it once more., require: [FIRST], do: [{text: the first turn was seen}], otherwise: [{text: the first turn is missing}]}
  - {name: answer, do: [{text: all is done}]}
`

func scenarioFor(a agent) string {
	if a.forced == "" {
		a.forced = "none"
	}
	return fmt.Sprintf(scenario, a.forced)
}

// longCommand leaves a process in a session of its own; each of its two parts holds a
// lock by which it is seen whether it still runs.
const longCommand = `flock -n held.a setsid flock -n held.b sleep 600 & flock -n held.c sleep 600`

func observer(prompt string, extra ...string) func(agent) string {
	return func(agent) string { return job("scout", prompt, extra...) }
}

// writer is a job that may write one file.
func writer(prompt, file string, extra ...string) func(agent) string {
	return func(a agent) string {
		fields := append([]string{"effect: scoped-write", "isolation: worktree", "owned_paths: [" + file + "]"}, extra...)
		if a.rash {
			fields = append(fields, `checks: ["true"]`)
		}
		return job("docs", prompt, fields...)
	}
}

// refused: a writer writes outside its tree, or where nothing would keep it from that,
// an observer writes at all.
func refused(a agent) string {
	if a.forced != "" {
		return observer("Write though you may not.")(a)
	}
	return writer("Write outside.", "other.txt")(a)
}

// killed: a tool runs, or where no job can have one, the model says nothing.
func killed(a agent) string {
	if a.shell == nil {
		return observer("Wait for a silent model.")(a)
	}
	if len(a.shell) == 0 {
		return writer("Run a long command.", "held.*")(a)
	}
	return writer("Run a long command.", "held.*", "allowed_tools: ["+strings.Join(a.shell, ", ")+"]")(a)
}

func job(task, prompt string, fields ...string) string {
	return "task: " + task + "\n    prompt: " + prompt + "\n    " + strings.Join(fields, "\n    ")
}

// The matrix: each installed agent in each cell, with what comes of it and what the
// agent was seen to do.
func TestMatrix(t *testing.T) {
	rows := &table{}
	t.Cleanup(func() { rows.write(t) })
	for _, a := range agents() {
		if a.does == nil {
			continue // it only runs signed out; see the doctor's test
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.matrix(t, rows)
		})
	}
}

func (a agent) matrix(t *testing.T, rows *table) {
	first := "nonce-" + strings.ToLower(rand.Text())
	l := newAgentLab(t, scenarioFor(a), map[string]string{"FIRST": first}, a)
	l.repository()
	e := l.untilKilled(a, first)
	for _, c := range cells() {
		t.Run(c.name, func(t *testing.T) {
			got := e.cell(c.name)
			rows.add(a, e.version(a), c.name, got)
			got.holds(t, a.expected(c))
		})
	}
	t.Run("resumed", func(t *testing.T) {
		got := e.resumed(t, a, "answer", first)
		rows.add(a, e.version(a), "resumed", got)
		got.holds(t, a.expected(cell{name: "resumed", want: outcome{status: ledger.Success}}))
	})
}

// expected is what has to come of the cell: the usual, and what the agent says of it.
func (a agent) expected(c cell) outcome {
	want, of := c.want, a.does[c.name]
	if of.status != "" {
		want.status, want.reason = of.status, of.reason
	}
	want.why, want.events = of.why, of.events
	return want
}

// untilKilled runs all cells and cancels the run while the last is under way.
func (l *lab) untilKilled(a agent, first string) *ended {
	l.t.Helper()
	spec := "version: 1\nconcurrency: 1\narbiter: {mode: checks-only}\ndefaults: {runtime: " + a.name + ", timeout: 5m, expected_output: what was asked for" + model(a) + "}\njobs:\n"
	for _, c := range cells() {
		spec += "  - id: " + c.name + "\n    " + strings.Replace(c.job(a), "Say the word of the day.", "Say the word of the day. It is "+first+".", 1) + "\n"
	}
	l.file("jobs.yaml", spec)
	h := l.openHouse()
	run := h.start("run", quoted(filepath.Join(h.base, "jobs.yaml")))
	dir := run.begun()
	h.until("the last cell", func() bool { return run.read(".exit") != "" || l.atWork(dir) })
	cancelled := h.start("cancel", quoted(dir)).end(dir)
	e := run.end(dir).sound()
	if cancelled.exit != 0 {
		l.t.Errorf("cancel: exit status %d\n%s%s", cancelled.exit, cancelled.stdout, cancelled.stderr)
	}
	h.close() // nothing may be left
	for _, lock := range l.locked(dir) {
		l.command("", "flock", "-n", lock, "true")
	}
	return e
}

func model(a agent) string {
	if a.model == "" {
		return ""
	}
	return ", model: " + a.model
}

// atWork reports whether the last cell has come as far as it goes.
func (l *lab) atWork(dir string) bool {
	return len(l.locked(dir)) == 3 || answered(l.sim.Requests())["silent"] > 0
}

// locked are the locks that the last cell's processes hold or held.
func (l *lab) locked(dir string) []string {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "worktrees/killed*/held.?"))
	ok(l.t, err)
	return found
}

// cell is what came of a cell.
func (e *ended) cell(name string) outcome {
	e.t.Helper()
	s := e.status(name)
	got := outcome{status: s.Status, reason: s.Reason, why: s.ReasonEvidence.Unshown()}
	if s.Attempts > 0 {
		got.events = transcript(e.t, filepath.Join(e.run, ledger.JobPath(name, ledger.EventsFile)))
	}
	return got
}

func (e *ended) version(a agent) string {
	e.t.Helper()
	return e.profile(a).Version
}

func (e *ended) profile(a agent) runtime.Profile {
	e.t.Helper()
	var all ledger.Runtimes
	ok(e.t, json.Unmarshal([]byte(e.text(ledger.RuntimesFile)), &all))
	for _, p := range all.Profiles {
		if p.Runtime == a.name {
			return p
		}
	}
	e.t.Fatalf("%s was not probed", a.name)
	return runtime.Profile{}
}

// transcript is what the decoder made of an attempt: the kinds of its events in their
// order, with the tool, and for a refusal its boundary. What says the same as the event
// before is left out, and so is what comes from the supervisor, and warnings: they are
// mostly of the other stream, in whatever order. A refusal is the last: the agent is
// ended then, sooner or later.
func transcript(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	ok(t, err)
	defer file.Close()
	var said []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var ev runtime.Event
		ok(t, json.Unmarshal(lines.Bytes(), &ev))
		if word := describeEvent(ev); word != "" && (len(said) == 0 || said[len(said)-1] != word) {
			said = append(said, word)
		}
		if ev.Kind == runtime.EventDenied {
			break
		}
	}
	ok(t, lines.Err())
	return strings.Join(said, " ")
}

func describeEvent(ev runtime.Event) string {
	switch ev.Kind {
	case runtime.EventStarted, runtime.EventProcess, runtime.EventOversize, runtime.EventSignal, runtime.EventDropped, runtime.EventExited, runtime.EventWarning,
		runtime.EventBoundary:
		return ""
	case runtime.EventToolCall, runtime.EventToolDone:
		return fmt.Sprintf("%s(%s)", ev.Kind, ev.Tool)
	case runtime.EventDenied:
		return fmt.Sprintf("denied(%s: %s)", ev.Tool, ev.Text)
	case runtime.EventFailed, runtime.EventRetry:
		return fmt.Sprintf("%s(%s)", ev.Kind, ev.Reason)
	}
	return string(ev.Kind)
}

func (got outcome) holds(t *testing.T, want outcome) {
	t.Helper()
	if got.status != want.status || got.reason != want.reason || !strings.Contains(got.why, want.why) {
		t.Errorf("%s, %s: %s\nwant %s, %s: %s", got.status, got.reason, got.why, want.status, want.reason, want.why)
	}
	if !fits(want.events, got.events) {
		t.Errorf("events:\n%s\nwant:\n%s", got.events, want.events)
	}
}

// fits compares with a text in which … stands for whatever is there.
func fits(want, got string) bool {
	parts := strings.Split(want, "…")
	if len(parts) == 1 {
		return want == got
	}
	rest, begins := strings.CutPrefix(got, parts[0])
	if !begins {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, last)
}

// table is what was seen, for people.
type table struct {
	mu   sync.Mutex
	rows map[string][]string // by agent
}

func (tab *table) add(a agent, version, cell string, got outcome) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if tab.rows == nil {
		tab.rows = map[string][]string{}
	}
	row := fmt.Sprintf("| %s %s | %s | %s %s | %s | %s |", a.name, version, cell, got.status, got.reason, plainCell(got.why), plainCell(got.events))
	tab.rows[a.name] = append(tab.rows[a.name], row)
}

func plainCell(s string) string {
	s = strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
	if len(s) > 400 {
		s = strings.ToValidUTF8(s[:400], "") + " …"
	}
	return s
}

// write puts the table where scripts/e2e.sh wants it, if it does.
func (tab *table) write(t *testing.T) {
	path := os.Getenv("ORCHESTRATE_E2E_TABLE")
	if path == "" {
		return
	}
	text := "| agent | cell | came to | because | seen |\n| --- | --- | --- | --- | --- |\n"
	for _, a := range agents() {
		for _, row := range tab.rows[a.name] {
			text += row + "\n"
		}
	}
	ok(t, os.WriteFile(path, []byte(text), 0o600))
}
