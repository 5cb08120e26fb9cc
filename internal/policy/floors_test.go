package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/graph"
	"orchestrate/internal/policy"
	"orchestrate/internal/spec"
)

// The floors of the contract, written out: for each task the capability at normal and
// at high importance, and the risk under each effect, in the order of effectsInOrder,
// for a job that owns some paths and for one that owns its whole cwd.
type floors struct {
	normal, high policy.Capability
	// What company changes nothing: risk at either importance.
	risk string
	// implement and mechanical only, where these differ from risk.
	riskHigh, besideWriters, broad string
}

var effectsInOrder = []string{"observe", "scoped-write", "high-impact-write", "external-destructive"}

const byEffect = "R0 R1 R2 R3"

var contract = map[string]floors{
	"scout":        {normal: "C1", high: "C1", risk: byEffect},
	"research":     {normal: "C1", high: "C1", risk: byEffect},
	"analysis":     {normal: "C2", high: "C2", risk: byEffect},
	"architecture": {normal: "C3", high: "C3", risk: byEffect},
	"synthesis":    {normal: "C3", high: "C3", risk: byEffect},
	"implement":    {normal: "C2", high: "C3", risk: "R1 R1 R2 R3", riskHigh: "R2 R2 R2 R3", besideWriters: "R1 R2 R2 R3"},
	"review":       {normal: "C3", high: "C3", risk: byEffect},
	"audit":        {normal: "C3", high: "C3", risk: byEffect},
	"security":     {normal: "C3", high: "C3", risk: byEffect},
	"test":         {normal: "C2", high: "C2", risk: byEffect},
	"docs":         {normal: "C1", high: "C1", risk: byEffect},
	"writing":      {normal: "C1", high: "C1", risk: byEffect},
	"mechanical":   {normal: "C1", high: "C1", risk: "R1 R1 R2 R3", besideWriters: "R1 R2 R2 R3", broad: "R1 R2 R2 R3"},
}

// companies are those in which a job runs, and whether another writer may run at the
// same time.
var companies = []struct {
	name    string
	with    func(j, other *spec.Job)
	writers bool
}{
	{"alone", nil, false},
	{"beside observers", func(_, other *spec.Job) { other.Effect = "observe" }, false},
	{"beside writers", func(_, other *spec.Job) { other.Effect = "scoped-write" }, true},
	{"after a writer", func(j, other *spec.Job) { other.Effect, j.DependsOn = "scoped-write", []string{"other"} }, false},
	{"taking turns with a writer", func(j, other *spec.Job) { other.Effect, other.Serialize, j.Serialize = "scoped-write", "key", "key" }, false},
}

// wanted is what the contract says of one job.
func (f floors) wanted(importance string, effect int, writers, broad bool) (policy.Capability, policy.Risk) {
	capability, risk := f.normal, f.risk
	if importance == "high" {
		capability = f.high
	}
	highest := strings.Fields(risk)[effect]
	raise := func(when bool, row string) {
		if when && row != "" {
			highest = max(highest, strings.Fields(row)[effect])
		}
	}
	raise(importance == "high", f.riskHigh)
	raise(writers, f.besideWriters)
	raise(broad, f.broad)
	return capability, policy.Risk(highest)
}

// TestFloors is the whole product of task, importance, effect and company.
func TestFloors(t *testing.T) {
	seen := 0
	for task, f := range contract {
		for _, importance := range []string{"normal", "high"} {
			for i, effect := range effectsInOrder {
				for _, c := range companies {
					for owned, broad := range map[string]bool{"mine/**": false, "": true, "**": true, "**/*": true} {
						seen++
						j := spec.Job{ID: "j", Task: task, Importance: importance, Effect: effect, Cwd: "/w", Overlap: "accept", OwnedPaths: strings.Fields(owned)}
						capability, risk := f.wanted(importance, i, c.writers && effect != "observe", broad)
						got := tiersIn(j, c.with)
						if got.Capability != capability || got.Risk != risk || got.RiskWhy == "" {
							t.Errorf("%s, %s importance, %s, %s, owning %q: %s/%s (%s), want %s/%s",
								task, importance, effect, c.name, owned, got.Capability, got.Risk, got.RiskWhy, capability, risk)
						}
					}
				}
			}
		}
	}
	if seen != 13*2*4*5*4 {
		t.Errorf("%d combinations", seen)
	}
}

// tiersIn are the tiers of a job in the company of another.
func tiersIn(j spec.Job, with func(j, other *spec.Job)) policy.Tiers {
	other := spec.Job{ID: "other", Task: "docs", Importance: "normal", Cwd: "/w", OwnedPaths: []string{"theirs/**"}, Overlap: "accept"}
	jobs := []spec.Job{j}
	if with != nil {
		with(&jobs[0], &other)
		jobs = append(jobs, other)
	}
	g, errs := graph.New(&spec.Spec{Jobs: jobs})
	if len(errs) > 0 {
		panic(fmt.Sprint(errs)) // a fault of this test
	}
	return policy.TiersOf(&jobs[0], g.ConcurrentWriters()["j"], func(string) string { return "" })
}

// TestThePlainProgramHasNoFloor: it has no capability and asks for none, unless it
// would judge; its risk is that of any job.
func TestThePlainProgramHasNoFloor(t *testing.T) {
	for task, f := range contract {
		j := spec.Job{ID: "j", Task: task, Importance: "normal", Effect: "scoped-write", Cwd: "/w", OwnedPaths: []string{"mine/**"}, Command: []string{"true"}, Runtime: "exec"}
		want := policy.NoCapability
		if task == "review" || task == "audit" || task == "security" {
			want = policy.C3
		}
		_, risk := f.wanted("normal", 1, false, false)
		if got := tiersIn(j, nil); got.Capability != want || got.Risk != risk {
			t.Errorf("%s: %s/%s", task, got.Capability, got.Risk)
		}
	}
}

// TestFactsThatRaise: what a job says of itself beside its effect, over all tasks.
func TestFactsThatRaise(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*spec.Job)
		risk policy.Risk
	}{
		"untrusted":    {func(j *spec.Job) { j.Untrusted = true }, "R2"},
		"destructive":  {func(j *spec.Job) { j.Destructive = true }, "R3"},
		"credentialed": {func(j *spec.Job) { j.Credentialed = true }, "R3"},
		"a secret":     {func(j *spec.Job) { j.EnvAllow = []string{"PLAIN", "SECRET_ONE"} }, "R3"},
	} {
		for task := range contract {
			for _, effect := range effectsInOrder {
				j := spec.Job{ID: "j", Task: task, Importance: "normal", Effect: effect, OwnedPaths: []string{"mine/**"}}
				c.set(&j)
				got := policy.TiersOf(&j, "", func(name string) string { return strings.Repeat("is one", strings.Count(name, "SECRET")) })
				if want := max(c.risk, policy.Risk(strings.Fields(byEffect)[indexOf(effect)])); got.Risk != want {
					t.Errorf("%s, %s, %s: %s (%s), want %s", name, task, effect, got.Risk, got.RiskWhy, want)
				}
			}
		}
	}
}

func indexOf(effect string) int {
	for i, e := range effectsInOrder {
		if e == effect {
			return i
		}
	}
	return -1
}
