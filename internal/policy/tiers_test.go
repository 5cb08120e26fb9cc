package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/spec"
)

func TestCapabilityFloors(t *testing.T) {
	for _, c := range []struct {
		task         string
		normal, high Capability
	}{
		{"scout", C1, C1},
		{"research", C1, C1},
		{"analysis", C2, C2},
		{"architecture", C3, C3},
		{"synthesis", C3, C3},
		{"implement", C2, C3},
		{"review", C3, C3},
		{"audit", C3, C3},
		{"security", C3, C3},
		{"test", C2, C2},
		{"docs", C1, C1},
		{"writing", C1, C1},
		{"mechanical", C1, C1},
		{TaskArbiter, C3, C3},
	} {
		if got := CapabilityFloor(c.task, "normal"); got != c.normal {
			t.Errorf("%s: %s", c.task, got)
		}
		if got := CapabilityFloor(c.task, "high"); got != c.high {
			t.Errorf("%s, high: %s", c.task, got)
		}
	}
}

func TestRisk(t *testing.T) {
	const write = "scoped-write"
	for name, c := range map[string]struct {
		facts RiskFacts
		tier  Risk
		why   string
	}{
		"scout":                        {RiskFacts{Task: "scout", Effect: "observe"}, R0, "effect observe"},
		"architecture":                 {RiskFacts{Task: "architecture", Effect: "observe", Importance: "high"}, R0, "effect observe"},
		"review that writes":           {RiskFacts{Task: "review", Effect: write}, R1, "effect scoped-write"},
		"test, design":                 {RiskFacts{Task: "test", Effect: "observe"}, R0, "effect observe"},
		"test, writing":                {RiskFacts{Task: "test", Effect: write}, R1, "effect scoped-write"},
		"docs beside a writer":         {RiskFacts{Task: "docs", Effect: write, BesideWriter: "b"}, R1, "effect scoped-write"},
		"implement":                    {RiskFacts{Task: "implement", Effect: write}, R1, "effect scoped-write; task implement"},
		"implement beside a writer":    {RiskFacts{Task: "implement", Effect: write, BesideWriter: "b"}, R2, "task implement beside another writer (b)"},
		"implement, high importance":   {RiskFacts{Task: "implement", Effect: write, Importance: "high"}, R2, "task implement of high importance"},
		"implement, high impact":       {RiskFacts{Task: "implement", Effect: "high-impact-write"}, R2, "effect high-impact-write"},
		"mechanical, observing":        {RiskFacts{Task: "mechanical", Effect: "observe"}, R1, "task mechanical"},
		"mechanical, scoped":           {RiskFacts{Task: "mechanical", Effect: write}, R1, "effect scoped-write; task mechanical"},
		"mechanical, broad":            {RiskFacts{Task: "mechanical", Effect: write, Broad: true}, R2, "task mechanical over the whole cwd"},
		"mechanical beside a writer":   {RiskFacts{Task: "mechanical", Effect: write, BesideWriter: "b"}, R2, "task mechanical beside another writer (b)"},
		"untrusted scout":              {RiskFacts{Task: "scout", Effect: "observe", Untrusted: true}, R2, "untrusted input"},
		"external":                     {RiskFacts{Task: "mechanical", Effect: "external-destructive"}, R3, "effect external-destructive"},
		"destructive":                  {RiskFacts{Task: "docs", Effect: write, Destructive: true}, R3, "destructive"},
		"credentialed observer":        {RiskFacts{Task: "scout", Effect: "observe", Credentialed: true}, R3, "credentialed"},
		"passes a secret":              {RiskFacts{Task: "scout", Effect: "observe", SensitiveEnv: []string{"A_KEY, which looks like a secret"}}, R3, "env_allow passes A_KEY, which looks like a secret"},
		"the highest wins, all named":  {RiskFacts{Task: "implement", Effect: write, Credentialed: true, Destructive: true}, R3, "credentialed; destructive"},
		"untrusted and beside writers": {RiskFacts{Task: "implement", Effect: write, Untrusted: true, BesideWriter: "b"}, R2, "task implement beside another writer (b); untrusted input"},
	} {
		if tier, why := RiskOf(c.facts); tier != c.tier || why != c.why {
			t.Errorf("%s: %s, %q", name, tier, why)
		}
	}
}

// TestNothingLowersRisk: adding a fact never gives a lower tier.
func TestNothingLowersRisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := RiskFacts{
			Task:   rapid.SampledFrom([]string{"scout", "implement", "mechanical", "docs", "review"}).Draw(t, "task"),
			Effect: rapid.SampledFrom([]string{"observe", "scoped-write", "high-impact-write", "external-destructive"}).Draw(t, "effect"),
			Broad:  rapid.Bool().Draw(t, "broad"), Credentialed: rapid.Bool().Draw(t, "credentialed"),
		}
		low, _ := RiskOf(f)
		f.Untrusted, f.BesideWriter, f.Importance = true, "b", "high"
		if high, _ := RiskOf(f); high.Less(low) || high.Less(R2) {
			t.Fatalf("%s became %s", low, high)
		}
	})
}

func TestOnlyATaskOfTheWorkerFormMayHaveItsWholeFolderAtR1(t *testing.T) {
	j := spec.Job{Task: "mechanical", Effect: "scoped-write"}
	if tier, why := RiskOf(RiskFactsOf(&j, "", func(string) string { return "" })); tier != R2 || !strings.Contains(why, "over the whole cwd") {
		t.Errorf("of a spec: %s, %s", tier, why)
	}
	j.Worker = &spec.Worker{AsIs: true}
	if tier, why := RiskOf(RiskFactsOf(&j, "", func(string) string { return "" })); tier != R1 {
		t.Errorf("of the worker form: %s, %s", tier, why)
	}
	if tier, _ := RiskOf(RiskFactsOf(&j, "b", func(string) string { return "" })); tier != R2 {
		t.Errorf("of the worker form, beside another writer: %s", tier)
	}
}

func TestTiersOfAJob(t *testing.T) {
	secret := func(name string) string {
		if strings.HasSuffix(name, "_KEY") {
			return "opens a door"
		}
		return ""
	}
	exec := &spec.Job{Task: "mechanical", Effect: "scoped-write", Command: []string{"true"}, EnvAllow: []string{"LANG"}, OwnedPaths: []string{"a"}}
	if got := TiersOf(exec, "", secret); got.Capability != NoCapability || got.Risk != R1 {
		t.Errorf("exec: %+v", got)
	}
	exec.Task = "review"
	if got := TiersOf(exec, "", secret); got.Capability != C3 {
		t.Errorf("a reviewing program: %+v", got)
	}
	scout := &spec.Job{Task: "scout", Effect: "observe", EnvAllow: []string{"LANG", "MY_KEY"}}
	if got := TiersOf(scout, "", secret); got.Risk != R3 || !strings.Contains(got.RiskWhy, "env_allow passes MY_KEY, which opens a door") {
		t.Errorf("scout with a key: %+v", got)
	}
}

func TestValidateByTier(t *testing.T) {
	checked := []spec.Check{{Shell: "true"}}
	for name, c := range map[string]struct {
		job  spec.Job
		risk Risk
		want string // rules
	}{
		"R1 needs nothing":         {spec.Job{Effect: "scoped-write", Isolation: "none"}, R1, ""},
		"R2 in the checkout":       {spec.Job{Effect: "scoped-write", Isolation: "none", Checks: checked}, R2, "isolation"},
		"R2 writer without check":  {spec.Job{Effect: "scoped-write"}, R2, "check-needed"},
		"R2 of the worker form":    {spec.Job{Effect: "scoped-write", Worker: &spec.Worker{}}, R2, ""},
		"the same in the checkout": {spec.Job{Effect: "scoped-write", Isolation: "none", Worker: &spec.Worker{}}, R2, "isolation"},
		"R3 of the worker form":    {spec.Job{Effect: "external-destructive", Worker: &spec.Worker{}}, R3, "preview-needed"},
		"R2 observer":              {spec.Job{Effect: "observe"}, R2, ""},
		"R2 complete":              {spec.Job{Effect: "scoped-write", Isolation: "worktree", Checks: checked}, R2, ""},
		"R3 without preview":       {spec.Job{Effect: "observe", Rollback: "x"}, R3, "preview-needed"},
		"R3 complete":              {spec.Job{Effect: "external-destructive", Preview: "x", Rollback: "y", Checks: checked}, R3, ""},
	} {
		var got []string
		for _, d := range Validate(3, &c.job, Tiers{Risk: c.risk}) {
			got = append(got, d.Rule)
			if !strings.HasPrefix(d.Field, "jobs[3].") {
				t.Errorf("%s: field %s", name, d.Field)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
