package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/docs/schemas"
	"orchestrate/internal/handoff"
	"orchestrate/internal/history"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

var day = time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func load(t *testing.T) Schemas {
	t.Helper()
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var usage = &runtime.Usage{InputTokens: ptr(int64(5)), OutputTokens: ptr(int64(6)), CostUSD: ptr(0.5)}

func route() ledger.Route {
	return ledger.Route{
		Runtime: "codex", Model: "m", Capability: "C3", CapabilityFloor: "C2", Risk: "R1", Isolation: "worktree", Access: "edit",
		Controls: []string{"os-sandbox"}, Constrained: []string{"x"}, Candidates: []ledger.Candidate{{Runtime: "codex", Chosen: true, Reasons: []string{"pinned"}}},
	}
}

func status() ledger.JobStatus {
	return ledger.JobStatus{
		SchemaVersion: 1, ID: "a", Runtime: "codex", Status: ledger.Failed, Reason: runtime.ReasonTimeout, ReasonEvidence: untrusted.From("10m"), ExitCode: ptr(1),
		CapabilityTier: "C2", RiskTier: "R1", Attempts: 1, Worktree: ptr("worktrees/a"), Branch: ptr("orchestrate/r/a"), Controls: []string{"x"},
		Route: ptr(route()), Usage: usage, Artifacts: []ledger.Artifact{{Path: "r.md", SHA256: strings.Repeat("a", 64), Bytes: 3, Source: "tree"}},
		Checks: []ledger.Check{check}, Proof: &ledger.Proof{Level: "cgroup", Gone: true}, StartedAt: &day, EndedAt: &day,
	}
}

var (
	check     = ledger.Check{Name: "t", Command: "go test", Kind: "run", Status: "failed", ExitCode: ptr(1), Output: "a/checks/1.out"}
	approval  = ledger.Approval{Job: "a", Effect: "scoped-write", Digest: "dd", By: "flag", At: day}
	event     = runtime.Event{Seq: 1, At: day, Kind: runtime.EventStarted, Text: untrusted.From("t"), Tool: "Bash", Model: "m", SessionID: "s", Reason: runtime.ReasonAuth, Usage: usage, PID: 4, StartTime: 5, RetryAfterMs: 6, Bytes: 7}
	judgement = ledger.Judgement{
		SchemaVersion: 1, RunID: "r", Verdict: "fail", Why: []string{"w"}, Mode: "required", Overall: "pass", At: day,
		Findings:       []ledger.Finding{{Rule: "check-failed", Job: "a", Detail: "d"}},
		Jobs:           []ledger.JobVerdict{{Job: "a", Verdict: "unsure", Citations: []ledger.Citation{{Kind: "file", Ref: "a:x:1", Found: true}}}},
		Questions:      []ledger.Answer{{N: 1, Question: "q", Answer: "yes", Passes: true}},
		Contradictions: []untrusted.Text{untrusted.From("c")}, UnsupportedClaims: []untrusted.Text{untrusted.From("u")}, SafetyGaps: []untrusted.Text{untrusted.From("s")}, UnresolvedQuestions: []untrusted.Text{untrusted.From("q")},
	}
)

func profile() runtime.Profile {
	return runtime.Profile{
		Runtime: "codex", Kind: runtime.KindCLI, State: runtime.StateAvailable, Limits: []string{"l"}, Executable: &runtime.Executable{Path: "/x"}, SignedIn: ptr(true),
		Models: []runtime.Model{{ID: "m", Efforts: []string{"high"}}}, Agents: []runtime.Agent{{Name: "a", Tools: []string{"Read"}, Access: runtime.AccessRead, Boundary: "b", General: true}}, Flags: map[string]string{"--json": "line"},
		Controls: []runtime.Control{{Name: runtime.ControlOSSandbox}}, Capability: "C3", Evidence: []runtime.Evidence{{ExitCode: ptr(0), At: day}}, ProbedAt: day,
	}
}

// samples has a full document of every kind, by schema and a name of its own.
func samples(t *testing.T) map[string]any {
	at := func(seq int64, r ledger.Record) ledger.Record {
		r.SchemaVersion, r.Seq, r.At = 1, seq, day
		return r
	}
	state := ledger.State{
		SchemaVersion: 1, Seq: 1, RunID: "r", Phase: ledger.PhaseEnded, StartedAt: day, EndedAt: &day, Verdict: "pass", ExitStatus: ptr(0),
		Approvals: []ledger.Approval{approval},
		Paused:    []ledger.Paused{{Runtime: "codex", Reason: runtime.ReasonRateLimit, Until: &day, Resets: &day}},
		Arbiter:   &ledger.JobState{ID: "arbiter", Status: ledger.Success, StartedAt: &day, EndedAt: &day, Earlier: []ledger.Earlier{}},
		Jobs: []ledger.JobState{{
			ID: "a", Status: ledger.Failed, Attempt: 2, StartedAt: &day, EndedAt: &day,
			Earlier: []ledger.Earlier{{Attempt: 1, Runtime: "codex", Model: "m", Status: ledger.Failed, Reason: runtime.ReasonRateLimit}},
		}},
	}
	lines := history.Lines("r", "pass", []ledger.JobStatus{status()}, map[string][]ledger.JobStatus{"a": {status()}}, day)
	whole := report.Build(report.Input{
		State: state, Jobs: map[string]ledger.JobStatus{"a": status()}, Earlier: map[string][]ledger.JobStatus{"a": {status()}}, Judgement: &judgement,
		Arbiter:   []ledger.JobStatus{status(), status()},
		Approvals: []ledger.Approval{approval}, Patches: []report.Patch{{Job: "a"}}, KeptTrees: []report.Tree{{Job: "a", Attempt: 1}}, Notes: []string{"n"},
	})
	return map[string]any{
		"state/": state, "status/": gathered(status()), "event/": event, "session/": ledger.Session{SchemaVersion: 1, Job: "a", Attempt: 1, Runtime: "codex"},
		"exit/": supervise.Exit{
			SchemaVersion: 1, Job: "a", Attempt: 1, PID: 3, ExitCode: ptr(0), StartedAt: day, EndedAt: day,
			Outcome: runtime.Outcome{Usage: usage, Denials: []runtime.Denial{{Tool: "Bash", Boundary: untrusted.From("b")}}},
			Proof:   supervise.Proof{Level: supervise.ProofCgroup, Gone: false, Left: []supervise.Process{{PID: 3, StartTime: 4}}},
		},
		"runtimes/": ledger.Runtimes{
			SchemaVersion: 1, Profiles: []runtime.Profile{profile()},
			Environments: map[string]ledger.Environment{"codex": {Passed: []string{"PATH"}, Withheld: []string{"OTHER_KEY"}}},
		},
		"check/": ledger.CheckResult{SchemaVersion: 1, Check: check}, "approvals/": ledger.Approvals{SchemaVersion: 1, Approvals: []ledger.Given{{Approval: approval, Shown: "all of it"}}},
		"checkout/":  ledger.Checkout{SchemaVersion: 1, At: day, Checkout: ledger.CheckoutState{Head: "c0ffee", Entries: map[string]string{"a": "absent"}}},
		"reclaimed/": ledger.Reclaimed{SchemaVersion: 1, Items: []ledger.ReclaimedItem{{Kind: "worktree", Job: "j", Attempt: 1, Path: "/p", Branch: "", Commit: "", Why: "w", Saved: "s", Done: true, At: day}}},
		"leftovers/": reclaim.Listing{
			SchemaVersion: 1, Root: "/w", Notes: []string{"n"},
			Items: []reclaim.Item{{Kind: reclaim.KindWorktree, Run: "r", Job: "a", Attempt: 1, Path: "/w/a", Bytes: 1, At: day, Fate: reclaim.Keep, Why: "w"}},
		},
		"request/": handoff.Request{
			SchemaVersion: 1, RunID: "r", RunDir: "/r", Job: "a", Attempt: "a.a1.x", N: 1, Agent: "general", PromptFile: "/r/a/prompt.md", Cwd: "/w", Worktree: ptr("/r/worktrees/a"), Branch: ptr("b"),
			MayRead: []string{"/w"}, MayWrite: []string{"/w"}, AllowedTools: []string{"Read"}, DisallowedTools: []string{"Bash"}, Out: "/r/a/artifacts", Outputs: []string{"x.md"}, Checks: []string{"go test"},
			Controls: []string{"worktree"}, Constrained: []string{"x"}, CreatedAt: day,
		},
		"lease/":      handoff.Lease{SchemaVersion: 1, Attempt: "a.a1.x", At: day, Until: day},
		"submission/": handoff.Submission{SchemaVersion: 1, Attempt: "a.a1.x", Usage: usage, ResultSHA256: strings.Repeat("a", 64), At: day},
		"next/":       handoff.Handout{SchemaVersion: 1, RunID: "r", RunDir: "/r", Standing: "running", Others: []handoff.Other{{Job: "a", Attempt: "a.a1.x", Until: ptr(day)}}},
		"submit/":     handoff.Receipt{SchemaVersion: 1, RunID: "r", RunDir: "/r", Job: "a", Attempt: "a.a1.x", Redacted: []string{"exact"}, Status: ledger.Success, Phase: ledger.PhaseRunning, Next: "orchestrate next r"},
		"agents/":     handoff.Agents{SchemaVersion: 1, Host: "h", Agents: []handoff.Agent{{Name: "general", Tools: []string{"*"}, Access: runtime.AccessEdit}}},
		"draft/": ledger.Draft{
			SchemaVersion: 1, Outcome: ledger.DraftedSpec, SpecDigest: strings.Repeat("a", 64), RequestDigest: strings.Repeat("a", 64), Runtime: "codex", Model: "m",
			Rounds: []ledger.DraftRound{{Attempt: 1, Problems: []untrusted.Text{untrusted.From("p")}}},
		},
		"history-summary/": summed(lines), "integration/": integrated(), "verdict/": judgement, "history/": lines[0], "report/": whole,
		"journal/run_started":   at(1, ledger.RunStarted(ledger.RunInfo{RunID: "r", Jobs: []string{"a"}, Worker: "/w"})),
		"journal/intent":        at(2, ledger.Intent("a", 1, route())),
		"journal/started":       at(3, ledger.Started("a", 1, 4, 5)),
		"journal/event":         at(4, ledger.Imported("a", 1, event)),
		"journal/attempt_ended": at(5, worked(ledger.AttemptEnded(status()))),
		"journal/settled":       at(6, worked(ledger.Settle(status()))),
		"journal/note":          at(7, ledger.Noted("a", "x")),
		"journal/arbitrating":   at(8, ledger.Arbitrating()),
		"journal/run_ended":     at(9, ledger.RunEnded("pass", 0)),
		"journal/told":          at(10, ledger.Told(ledger.AboutCheckout, "x")),
		"journal/resumed":       at(11, ledger.Resumed(true)),
		"journal/requeued":      at(12, ledger.Requeued("a", "x")),
		"journal/awaiting":      at(15, ledger.AwaitingSession("a", 1)),
		"journal/parked":        at(16, ledger.Parked(4)),
		"journal/expanded":      at(17, ledger.ExpandedTo("a", ledger.Expanded{Of: "a", Sources: []string{"s"}, Items: []json.RawMessage{}})),
		"journal/progress":      at(14, ledger.Under("a", ledger.StepCheck, "go test", true)),
		"journal/approved":      at(13, ledger.Approved(ledger.Given{Approval: approval, Shown: "all of it"})),
	}
}

func gathered(s ledger.JobStatus) ledger.JobStatus {
	s.Decided = "2 of 3 accepted"
	return s
}

// summed is a summary of lines, in which every figure is known.
func summed(lines []history.Line) history.Summary {
	tally := history.NewTally(history.Filter{}, history.Keys()...)
	for _, l := range lines {
		tally.Add(l)
	}
	all := []string{"x"}
	return history.Summary{
		SchemaVersion: 1, File: "f", Read: history.Read{Lines: 1, Jobs: 1}, By: history.Keys(), Confidence: 0.95, QuantileType: 7,
		Filter: history.Filter{Runtimes: all, Models: all, Agents: all, Tasks: all, Runs: all, Statuses: all, Reasons: all, Verdicts: all, Since: &day},
		Groups: tally.Groups(), Total: tally.Total(), Suggestions: []string{"s"},
	}
}

func integrated() integrate.Integration {
	clashes := []integrate.Clash{{A: "a", B: "b", Files: []string{"f"}}}
	return integrate.Integration{
		SchemaVersion: 1, RunID: "r", Verdict: "pass", Strategy: integrate.Merge, Outcome: integrate.Refused, At: day,
		Jobs:   []integrate.Work{{Job: "a", Files: []integrate.FileStat{{Path: "f", Status: "A", Insertions: -1, Deletions: -1}}}},
		Matrix: integrate.Matrix{Target: clashes, Pairs: clashes}, Checks: []ledger.Check{check}, Why: []string{"w"}, Next: []string{"n"},
	}
}

func worked(r ledger.Record) ledger.Record {
	r.Next = &ledger.Next{Pause: "codex", NotBefore: &day, Until: &day, Resets: &day}
	r.Work = &ledger.Work{Inputs: "i", Base: "b", Commit: "c", Output: "o", Patch: "p", Masked: true, Shared: []string{"s"}, Findings: []ledger.Finding{{Rule: "r", Job: "j", Detail: "d"}}}
	return r
}

// optional lists every key that may be missing: those that are left out when empty.
var optional = map[string][]string{
	"event/":                {"text", "tool", "model", "sessionId", "reason", "usage", "startTime", "retryAfterMs", "bytes"},
	"status/":               {"decided"},
	"journal/run_started":   {"run.worker"},
	"journal/started":       {"startTime"},
	"journal/event":         {"event.text", "event.tool", "event.model", "event.sessionId", "event.reason", "event.usage", "event.startTime", "event.retryAfterMs", "event.bytes"},
	"journal/attempt_ended": {"reason", "text", "work", "next"},
	"journal/settled":       {"attempt", "reason", "text", "work", "next"},
	"journal/note":          {"job"},
	"journal/told":          {"about"},
	"journal/progress":      {"job"},
	"agents/":               {"agents.0.access", "agents.0.boundary", "agents.0.description", "agents.0.general", "agents.0.model", "agents.0.tools", "host"},
	"journal/resumed":       {"retryFailed"},
	"manifest/":             optionalOfManifest(),
	"runtimes/":             {"profiles.0.agents.0.access", "profiles.0.agents.0.boundary", "profiles.0.agents.0.general", "profiles.0.agents.0.tools"},
}

// open lists the places whose keys are data, so that any may come or go.
var open = map[string][]string{"runtimes/": {"profiles.0.flags", "environments"}, "checkout/": {"checkout.entries"}, "history-summary/": {"groups.0.reasons", "groups.0.verdicts", "total.reasons", "total.verdicts"}}

func TestAnyChangeOfShapeIsNoticed(t *testing.T) {
	s := load(t)
	seen := map[string]bool{}
	all := samples(t)
	maps.Copy(all, workerSamples())
	for name, doc := range all {
		schema, _, _ := strings.Cut(name, "/")
		seen[schema] = true
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(schema, data); err != nil {
			t.Errorf("%s as it should be: %v", name, err)
			continue
		}
		var dropped []string
		for _, m := range mutations(t, data) {
			err := s.Check(schema, m.doc)
			if slices.Contains(open[name], m.parent) && m.kind != "retype" {
				continue
			}
			if m.kind == "delete" && err == nil {
				dropped = append(dropped, m.path)
			} else if err == nil {
				t.Errorf("%s: %s %s goes unnoticed", name, m.kind, m.path)
			}
		}
		slices.Sort(dropped)
		if diff := cmp.Diff(slices.Sorted(slices.Values(optional[name])), dropped); diff != "" {
			t.Errorf("%s: optional keys:\n%s", name, diff)
		}
	}
	for name := range s {
		if !seen[name] && name != "common" {
			t.Errorf("no sample for schema %s", name)
		}
	}
}

type mutation struct {
	kind, path, parent string
	doc                []byte
}

// mutations are all documents in which one key is deleted or added, or one value
// has another type.
func mutations(t *testing.T, data []byte) []mutation {
	root, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	var all []mutation
	emit := func(kind, path, parent string) {
		doc, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, mutation{kind, path, parent, doc})
	}
	var walk func(path string, v any, set func(any))
	walk = func(path string, v any, set func(any)) {
		for _, other := range otherTypes(v) {
			set(other)
			emit("retype", path, "")
		}
		set(v)
		switch v := v.(type) {
		case []any:
			for i := range v {
				walk(join(path, strconv.Itoa(i)), v[i], func(x any) { v[i] = x })
			}
		case map[string]any:
			v["unexpected"] = 1
			emit("add", join(path, "unexpected"), path)
			delete(v, "unexpected")
			for _, key := range slices.Sorted(maps.Keys(v)) {
				old := v[key]
				delete(v, key)
				emit("delete", join(path, key), path)
				v[key] = old
				walk(join(path, key), old, func(x any) { v[key] = x })
			}
		}
	}
	walk("", root, func(v any) { root = v })
	return all
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// otherTypes has values of other JSON types than v's: a scalar and an object.
// Null stands for "unknown" or an empty list in many places and is not among them.
func otherTypes(v any) []any {
	object, number := map[string]any{"unexpected": 1}, json.Number("-1.5")
	switch v.(type) {
	case json.Number:
		return []any{object, "not what it was"}
	case map[string]any:
		return []any{number, "not what it was"}
	case nil: // what it may be instead is shown by the other samples
		return []any{[]any{[]any{}}}
	}
	return []any{object, number}
}

func TestSchemasListTheFieldsOfTheirStructs(t *testing.T) {
	var common, journal map[string]any
	read(t, "common", &common)
	read(t, "journal", &journal)
	defs := func(doc map[string]any, name string) any { return doc["$defs"].(map[string]any)[name] }
	for name, c := range map[string]struct {
		of     any
		schema any
	}{
		"state": {ledger.State{}, nil}, "status": {ledger.JobStatus{}, nil}, "event": {runtime.Event{}, nil}, "exit": {supervise.Exit{}, nil},
		"session": {ledger.Session{}, nil}, "check": {ledger.CheckResult{}, nil}, "verdict": {ledger.Judgement{}, nil},
		"history": {history.Line{}, nil}, "history-summary": {history.Summary{}, nil}, "report": {report.Report{}, nil}, "approvals": {ledger.Approvals{}, nil}, "checkout": {ledger.Checkout{}, nil}, "integration": {integrate.Integration{}, nil}, "request": {handoff.Request{}, nil}, "lease": {handoff.Lease{}, nil}, "submission": {handoff.Submission{}, nil}, "agents": {handoff.Agents{}, nil}, "next": {handoff.Handout{}, nil}, "submit": {handoff.Receipt{}, nil}, "runtimes": {ledger.Runtimes{}, nil}, "leftovers": {reclaim.Listing{}, nil}, "reclaimed": {ledger.Reclaimed{}, nil},
		"route": {ledger.Route{}, defs(common, "route")}, "usage": {runtime.Usage{}, defs(common, "usage")}, "run": {ledger.RunInfo{}, defs(journal, "run")},
		"work": {ledger.Work{}, defs(journal, "work")},
	} {
		schema := c.schema
		if schema == nil {
			var doc map[string]any
			read(t, name, &doc)
			schema = doc
		}
		var want []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.of)) {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
				want = append(want, key)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(schema.(map[string]any)["properties"].(map[string]any)))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := schemas.Files.ReadFile(name + ".schema.json")
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSchemasKnowEveryConstant parses the constants, so that a new reason or
// kind cannot be forgotten in the schemas.
func TestSchemasKnowEveryConstant(t *testing.T) {
	s := load(t)
	for _, value := range constants(t, "../../runtime/reason.go", "Reason") {
		doc := status()
		doc.Reason = runtime.Reason(value)
		accepts(t, s, "status", doc)
	}
	for _, value := range constants(t, "../../runtime/event.go", "EventKind") {
		doc := event
		doc.Kind = runtime.EventKind(value)
		accepts(t, s, "event", doc)
	}
	for _, value := range constants(t, "../status.go", "Status") {
		doc := status()
		doc.Status = ledger.Status(value)
		accepts(t, s, "status", doc)
	}
	for _, value := range []string{`"text"`, `1.5`, `true`, `{"a": [null]}`} {
		doc := status()
		doc.Item = json.RawMessage(value)
		accepts(t, s, "status", doc)
		rec := ledger.ExpandedTo("a", ledger.Expanded{Of: "a", Sources: []string{"s"}, Items: []json.RawMessage{doc.Item}})
		rec.SchemaVersion, rec.Seq, rec.At = 1, 1, day
		accepts(t, s, "journal", rec)
	}
	for _, value := range constants(t, "../../runtime/profile.go", "ControlName") {
		p := profile()
		p.Controls = []runtime.Control{{Name: runtime.ControlName(value)}}
		accepts(t, s, "runtimes", ledger.Runtimes{SchemaVersion: 1, Profiles: []runtime.Profile{p}})
	}
}

func accepts(t *testing.T, s Schemas, name string, doc any) {
	t.Helper()
	data, err := json.Marshal(doc)
	if err == nil {
		err = s.Check(name, data)
	}
	if err != nil {
		t.Errorf("%s: %v", data, err)
	}
}

// constants are the string constants of a type in a Go file, with or without
// the type repeated.
func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != typ || len(spec.Values) != 1 {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
		return true
	})
	if len(values) < 5 {
		t.Fatalf("%s: only %d constants of type %s", file, len(values), typ)
	}
	return values
}

// oneRun writes a small run as the engine would.
func oneRun(t *testing.T) *ledger.Run {
	t.Helper()
	r, err := ledger.Create(t.TempDir(), day)
	must(t, err)
	must(t, r.Append(ledger.RunStarted(ledger.RunInfo{RunID: r.ID, Jobs: []string{"a"}})))
	_, lock, err := r.BeginAttempt("a", 1)
	must(t, err)
	must(t, lock.Close())
	must(t, r.Append(ledger.Intent("a", 1, ledger.Route{Runtime: "exec"}), ledger.Started("a", 1, 7, 8)))
	must(t, r.WriteFile("a/events.jsonl", []byte(`{"seq":1,"at":"2026-07-30T12:00:05Z","kind":"exited"}`+"\n")))
	must(t, r.WriteJSON("a/checks/1.json", ledger.CheckResult{SchemaVersion: 1, Check: check}))
	must(t, r.WriteFile("a/artifacts/any.json", []byte("agents write what they like")))
	must(t, r.WriteJSON("runtimes.json", ledger.Runtimes{SchemaVersion: 1}))
	must(t, r.WriteJSON("a/status.json", status()))
	must(t, r.Append(ledger.Settle(status()), ledger.RunEnded("unreviewed", 0)))
	must(t, history.Append(workspace(r), history.Lines(r.ID, "unreviewed", []ledger.JobStatus{status()}, nil, day)))
	must(t, r.Close())
	return r
}

func workspace(r *ledger.Run) string {
	return strings.TrimSuffix(r.Dir, "/"+ledger.ReportsDir+"/orchestrate-"+r.ID)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestASoundRunValidates(t *testing.T) {
	if err := errors.Join(ValidateRun(oneRun(t).Dir)...); err != nil {
		t.Error(err)
	}
}

func TestDamageToAnyFileIsFound(t *testing.T) {
	for _, name := range []string{
		"state.json", "journal.jsonl", "runtimes.json", "a/status.json", "a/events.jsonl", "a/checks/1.json", "../orchestrate-history.jsonl", "a/unknown.json", ".x.1.tmp",
	} {
		r := oneRun(t)
		must(t, os.WriteFile(r.Path(name), []byte("{}\n"), 0o600))
		if len(ValidateRun(r.Dir)) == 0 {
			t.Errorf("damage to %s goes unnoticed", name)
		}
	}
}
