package plugins_test

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/custom"
	"orchestrate/internal/runtime/registry"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
	"orchestrate/internal/version"
)

func versionFact(*testing.T) string { return "orchestrate " + version.Version }

// tasks asks policy about each task word that a spec can have.
func tasks(t *testing.T) string {
	rows := [][]string{{"task", "capability", "when `importance: high`", "least risk", "judges"}}
	for _, task := range enum(t, "task") {
		risk, _ := policy.RiskOf(policy.RiskFacts{Task: task, Importance: "normal", Effect: "observe"})
		judges := ""
		if policy.Judges(task) {
			judges = "yes"
		}
		rows = append(rows, []string{
			"`" + task + "`", string(policy.CapabilityFloor(task, "normal")), string(policy.CapabilityFloor(task, "high")), string(risk), judges,
		})
	}
	return table(rows)
}

// riskFacts asks policy what each fact makes of a job.
func riskFacts(t *testing.T) string {
	var all []policy.RiskFacts
	for _, effect := range enum(t, "effect") {
		all = append(all, policy.RiskFacts{Effect: effect})
	}
	all = append(
		all,
		policy.RiskFacts{Task: "implement"},
		policy.RiskFacts{Task: "mechanical"},
		policy.RiskFacts{Task: "implement", Importance: "high"},
		policy.RiskFacts{Task: "implement", BesideWriter: "JOB"},
		policy.RiskFacts{Task: "mechanical", BesideWriter: "JOB"},
		policy.RiskFacts{Task: "mechanical", Broad: true},
		policy.RiskFacts{Untrusted: true},
		policy.RiskFacts{Credentialed: true},
		policy.RiskFacts{Destructive: true},
		policy.RiskFacts{SensitiveEnv: []string{"NAME, which looks like a secret"}},
	)
	rows := [][]string{{"what is so of the job", "risk at least"}}
	for _, f := range all {
		tier, why := policy.RiskOf(f)
		rows = append(rows, []string{why, string(tier)})
	}
	return table(rows)
}

// failures asks policy what follows each way in which an attempt can end; ways of which
// the same follows share a row.
func failures(t *testing.T) string {
	rows := [][]string{{"reason", "tried again on the same route", "declared fallback", "pauses that runtime"}}
	var order []string
	of := map[string][]string{}
	for _, r := range constants(t, "internal/runtime/reason.go", "Reason", "Reason") {
		reason := runtime.Reason(r.value)
		follows := strings.Join([]string{again(reason), fallback(reason), pause(reason)}, "\x00")
		if of[follows] == nil {
			order = append(order, follows)
		}
		of[follows] = append(of[follows], named(r))
	}
	for _, follows := range order {
		rows = append(rows, append([]string{strings.Join(of[follows], ", ")}, strings.Split(follows, "\x00")...))
	}
	return table(rows)
}

// named is a word with what the source says of it, if it says anything.
func named(w word) string {
	if w.about == "" {
		return "`" + w.value + "`"
	}
	return "`" + w.value + "` (" + strings.TrimSuffix(w.about, ".") + ")"
}

func again(r runtime.Reason) string {
	listed := policy.Decide(r, policy.Attempt{
		Retry: spec.Retry{MaxAttempts: 3, On: []string{string(r)}}, Tries: 2, WorkBegun: true, TreeGone: true,
	}).Retry
	switch once := policy.Decide(r, policy.Attempt{Tries: 1, TreeGone: true}).Retry; {
	case listed && once:
		return "once by itself if no work had begun; as often as `retry` says"
	case listed:
		return "as often as `retry` says"
	}
	return "no"
}

func fallback(r runtime.Reason) string {
	a := policy.Attempt{Tries: 2, WorkBegun: true, Declared: true, Fallback: true, TreeGone: true}
	if policy.Decide(r, a).Fallback {
		return "yes"
	}
	a.WorkBegun = false
	if policy.Decide(r, a).Fallback {
		return "only if no work had begun"
	}
	return "no"
}

func pause(r runtime.Reason) string {
	switch policy.Decide(r, policy.Attempt{TreeGone: true}).Pause {
	case policy.PauseUntil:
		return "for the time it states"
	case policy.PauseRest:
		return "for the rest of the run"
	}
	return "no"
}

func blockedReasons(t *testing.T) string {
	var all []string
	for _, r := range constants(t, "internal/runtime/reason.go", "Reason", "Blocked") {
		all = append(all, named(r))
	}
	return strings.Join(all, ", ")
}

// runtimes are those that every machine's program knows by name.
func runtimes(*testing.T) string {
	var agents, described []string
	known := custom.Known()
	for _, name := range registry.Names() {
		switch _, byData := known[name]; {
		case name == "exec" || name == "standin" || name == string(runtime.KindInternal):
		case byData:
			described = append(described, "`"+name+"`")
		default:
			agents = append(agents, "`"+name+"`")
		}
	}
	return table([][]string{
		{"what", "names"},
		{"agents with an adapter of their own", strings.Join(agents, ", ")},
		{"agents that are described to the program by data", strings.Join(described, ", ")},
		{"your own subagents", "`" + string(runtime.KindInternal) + "`"},
		{"a plain program, which is no agent", "`exec`"},
		{"what plays an agent in a rehearsal", "`standin`; in a real run it makes the verdict `rehearsal`"},
	})
}

// needs asks the gate what a route lacks that holds nothing at all.
func needs(t *testing.T) string {
	rows := [][]string{{"tier", "a job that observes", "a job that writes"}}
	observer, writer := map[string]bool{}, map[string]bool{}
	for _, tier := range []policy.Risk{policy.R0, policy.R1, policy.R2, policy.R3} {
		reads := added(t, observer, spec.Job{Effect: "observe"}, tier)
		writes := added(t, writer, spec.Job{Effect: "scoped-write"}, tier)
		if tier == policy.R0 {
			writes = "(is R1 at least)"
			writer = map[string]bool{}
		}
		rows = append(rows, []string{string(tier), reads, writes})
	}
	return table(rows)
}

// added is what a tier asks for beyond what is in before.
func added(t *testing.T, before map[string]bool, j spec.Job, tier policy.Risk) string {
	t.Helper()
	lacks := gate.Controls(&j, ledger.Route{Runtime: "r", Capability: "C1", Risk: string(tier), Access: string(runtime.AccessShell)}, sandbox.Level{})
	if lacks == nil {
		t.Fatalf("a route without any control passes at %s", tier)
	}
	_, list, ok := strings.Cut(lacks.Detail, "does not hold: ")
	if !ok {
		t.Fatalf("not understood: %s", lacks.Detail)
	}
	names := slices.DeleteFunc(strings.Split(list, ", "), func(name string) bool { return before[name] })
	more := len(before) > 0
	for _, name := range names {
		before[name] = true
	}
	switch {
	case more && len(names) == 0:
		return "nothing more"
	case more:
		return "and: " + strings.Join(names, ", ")
	}
	return strings.Join(names, ", ")
}

func agentsFile(t *testing.T) string {
	rows := [][]string{{"field", "means"}}
	for _, structure := range []string{"Agents", "Agent"} {
		for _, f := range fields(t, "internal/handoff/agents.go", structure) {
			name := f.value
			if structure == "Agent" {
				name = "agents[]." + name
			}
			rows = append(rows, []string{"`" + name + "`", f.about})
		}
	}
	return table(rows)
}

func requestFile(t *testing.T) string {
	rows := [][]string{{"field of `request`", "means"}}
	for _, f := range fields(t, "internal/handoff/handoff.go", "Request") {
		rows = append(rows, []string{"`" + f.value + "`", f.about})
	}
	return table(rows)
}
