package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// held are the controls with which R3 may be dispatched once it is approved.
var held = []string{"os-sandbox", "worktree", "patch", "owned-paths", "tool-limits"}

func deployment() (*spec.Job, ledger.Route) {
	r := routed("R3", "shell", held...)
	r.Runtime, r.Capability, r.Sandbox = "exec", "", "landlock"
	return &spec.Job{
		ID: "d", Effect: "external-destructive", Cwd: "/w", Command: []string{"deploy", "now"},
		Preview: "shows the diff", Rollback: "deploys the last one", Checks: []spec.Check{{Shell: "true"}},
	}, r
}

func TestApprovalIsNeeded(t *testing.T) {
	deploy, r := deployment()
	block := Decide(deploy, r, sandbox.Level{}, Word{})
	if block == nil || block.Reason != runtime.BlockedApproval || block.NextStep != AskUser {
		t.Fatalf("%+v", block)
	}
	for _, want := range []string{"ask the user", `["deploy" "now"]`, "external-destructive", "/w", "exec", "shows the diff", "deploys the last one"} {
		if !strings.Contains(block.Detail, want) {
			t.Errorf("%s is not in %q", want, block.Detail)
		}
	}
	asked := &spec.Job{ID: "a", Effect: "observe", Approval: "require", Cwd: "/w", Prompt: "look at it"}
	block = Decide(asked, routed("R0", "read", "read-only", "fingerprint"), sandbox.Level{}, Word{})
	if block == nil || block.Reason != runtime.BlockedApproval || !strings.Contains(block.Detail, `10 characters, which begins "look at it"`) {
		t.Errorf("%+v", block)
	}
	asked.Approval = "inherit"
	if block := Decide(asked, routed("R0", "read", "read-only", "fingerprint"), sandbox.Level{}, Word{}); block != nil {
		t.Errorf("%+v", block)
	}
}

// TestWhatAnItemSaysIsApprovedToo: of one that nobody knows yet nobody is asked.
func TestWhatAnItemSaysIsApprovedToo(t *testing.T) {
	deploy, r := deployment()
	deploy.Item = &spec.Item{Of: "d", Number: 1, From: []string{"list"}}
	if block := Decide(deploy, r, sandbox.Level{}, Word{}); block == nil || !strings.Contains(block.Detail, askLater) || block.NextStep == AskUser {
		t.Errorf("%+v", block)
	}
	unseen := ScopeOf(deploy, r, nil)
	known := *deploy.Item
	known.Value = []byte(`"prod-db"`)
	deploy.Item = &known
	block := Decide(deploy, r, sandbox.Level{}, Word{Given: unseen, Now: ScopeOf(deploy, r, nil)})
	if block == nil || !strings.Contains(block.Detail, `item has changed`) || !strings.Contains(block.Detail, `"prod-db"`) || block.NextStep != AskUser {
		t.Errorf("%+v", block)
	}
}

// TestWhatMayNotRunIsNotAskedAbout: an approval makes up for no control.
func TestWhatMayNotRunIsNotAskedAbout(t *testing.T) {
	deploy, r := deployment()
	scope := ScopeOf(deploy, r, nil)
	for _, control := range []string{"worktree", "patch", "owned-paths", "timeout"} {
		block := Decide(deploy, without(r, control), sandbox.Level{}, Word{Given: scope, Now: scope})
		if block == nil || block.Reason != runtime.BlockedRiskControls {
			t.Errorf("without %s: %+v", control, block)
		}
	}
}

func TestAWordCoversItsOwnScopeOnly(t *testing.T) {
	deploy, r := deployment()
	given := ScopeOf(deploy, r, []File{{"deploy.sh", "aa"}})
	if block := Decide(deploy, r, sandbox.Level{}, Word{Given: given, Now: ScopeOf(deploy, r, []File{{"deploy.sh", "aa"}})}); block != nil {
		t.Errorf("the very same: %+v", block)
	}
	for name, w := range map[string]struct {
		word Word
		says string
	}{
		"changed":    {Word{Given: given, Now: ScopeOf(deploy, r, []File{{"deploy.sh", "ab"}})}, `file deploy.sh was "aa" and is "ab"`},
		"one file":   {Word{Given: given, Now: ScopeOf(deploy, r, nil)}, "file deploy.sh is no part of it any more"},
		"a file":     {Word{Given: ScopeOf(deploy, r, nil), Now: given}, "file deploy.sh is new"},
		"unknown":    {Word{Given: given}, "so ask the user anew"},
		"not given":  {Word{Now: given}, "ask the user. They would be approving"},
		"no":         {Word{Now: given, Refused: true}, "asked and did not approve"},
		"both empty": {Word{Given: Scope{}}, "ask the user"},
	} {
		block := Decide(deploy, r, sandbox.Level{}, w.word)
		if block == nil || block.Reason != runtime.BlockedApproval || !strings.Contains(block.Detail, w.says) {
			t.Errorf("%s: %+v", name, block)
		}
	}
}

// TestEveryPartOfAScopeCounts changes each thing that an approval covers, by one
// character where it has any, and what must not matter.
func TestEveryPartOfAScopeCounts(t *testing.T) {
	for name, change := range map[string]func(*spec.Job, *ledger.Route){
		"id":              func(j *spec.Job, _ *ledger.Route) { j.ID = "e" },
		"effect":          func(j *spec.Job, _ *ledger.Route) { j.Effect = "scoped-write" },
		"destructive":     func(j *spec.Job, _ *ledger.Route) { j.Destructive = true },
		"credentialed":    func(j *spec.Job, _ *ledger.Route) { j.Credentialed = true },
		"command":         func(j *spec.Job, _ *ledger.Route) { j.Command = []string{"deploy", "noW"} },
		"command, cut":    func(j *spec.Job, _ *ledger.Route) { j.Command = []string{"deploynow"} },
		"command, longer": func(j *spec.Job, _ *ledger.Route) { j.Command = []string{"deploy", "now", ""} },
		"prompt":          func(j *spec.Job, _ *ledger.Route) { j.Prompt = "." },
		"expected output": func(j *spec.Job, _ *ledger.Route) { j.ExpectedOutput = "." },
		"skill by name":   func(j *spec.Job, _ *ledger.Route) { j.SkillName = "s" },
		"skill":           func(j *spec.Job, _ *ledger.Route) { j.Skill = &spec.File{Path: "s", Text: "t"} },
		"instructions":    func(j *spec.Job, _ *ledger.Route) { j.Instructions = []spec.File{{Path: "AGENTS.md", Text: "t"}} },
		"preview":         func(j *spec.Job, _ *ledger.Route) { j.Preview += "." },
		"rollback":        func(j *spec.Job, _ *ledger.Route) { j.Rollback += "." },
		"item": func(j *spec.Job, _ *ledger.Route) {
			j.Item = &spec.Item{Of: "d", Number: 1, Value: []byte(`"prod-db"`)}
		},
		"cwd":              func(j *spec.Job, _ *ledger.Route) { j.Cwd = "/v" },
		"runtime":          func(_ *spec.Job, r *ledger.Route) { r.Runtime = "two" },
		"model":            func(_ *spec.Job, r *ledger.Route) { r.Model = "m" },
		"agent":            func(_ *spec.Job, r *ledger.Route) { r.Agent = "a" },
		"access":           func(_ *spec.Job, r *ledger.Route) { r.Access = "edit" },
		"sandbox":          func(_ *spec.Job, r *ledger.Route) { r.Sandbox = "" },
		"no tools":         func(j *spec.Job, _ *ledger.Route) { j.AllowedTools = []string{} },
		"allowed tools":    func(j *spec.Job, _ *ledger.Route) { j.AllowedTools = []string{"Bash"} },
		"disallowed tools": func(j *spec.Job, _ *ledger.Route) { j.DisallowedTools = []string{"Bash"} },
		"env_allow":        func(j *spec.Job, _ *ledger.Route) { j.EnvAllow = []string{"TOKEN"} },
		"owned paths":      func(j *spec.Job, _ *ledger.Route) { j.OwnedPaths = []string{"src"} },
		"outputs":          func(j *spec.Job, _ *ledger.Route) { j.Outputs = []spec.Output{{Path: "o"}} },
		"checks":           func(j *spec.Job, _ *ledger.Route) { j.Checks[0].Shell = "true " },
		"checks, argv":     func(j *spec.Job, _ *ledger.Route) { j.Checks[0] = spec.Check{Run: []string{"true"}} },
		"isolation":        func(j *spec.Job, _ *ledger.Route) { j.Isolation = "worktree" },
		"inputs":           func(j *spec.Job, _ *ledger.Route) { j.Inputs = []spec.Input{{FromJob: "a"}} },
		"timeout":          func(j *spec.Job, _ *ledger.Route) { j.Timeout = time.Hour },
		"attempts":         func(j *spec.Job, _ *ledger.Route) { j.Retry.MaxAttempts = 3 },
		"what is retried":  func(j *spec.Job, _ *ledger.Route) { j.Retry.On = []string{"crash"} },
		"copied files":     func(j *spec.Job, _ *ledger.Route) { j.Worktree.Copy = []string{".env"} },
		"set-up":           func(j *spec.Job, _ *ledger.Route) { j.Worktree.Setup = []spec.Check{{Shell: "npm ci"}} },
		"base":             func(j *spec.Job, _ *ledger.Route) { j.Worktree.Base = "a" },
		"dependencies":     func(j *spec.Job, _ *ledger.Route) { j.DependsOn = []string{"a"} },
	} {
		j, r := deployment()
		was := ScopeOf(j, r, nil)
		j, r = deployment()
		change(j, &r)
		now := ScopeOf(j, r, nil)
		if was.Digest() == now.Digest() || len(was.Changes(now)) != 1 {
			t.Errorf("%s: %v", name, was.Changes(now))
		}
	}
	j, r := deployment()
	was := ScopeOf(j, r, nil).Digest()
	r.Isolation, r.IsolationWhy = "worktree", "a later attempt"
	if ScopeOf(j, r, nil).Digest() != was {
		t.Error("another attempt on the same route is another scope")
	}
}

func TestADigestIsTheSameEverywhere(t *testing.T) {
	s := Scope{{"a", []string{"b", ""}}, {"c", nil}}
	if got := s.Digest(); got != slices.Clone(s).Digest() || len(got) != 64 {
		t.Error(got)
	}
	for _, other := range []Scope{
		{{"a", []string{"b"}}, {"c", nil}},
		{{"a", []string{"b", ""}}, {"c", []string{""}}},
		{{"ab", []string{"", ""}}, {"c", nil}},
		{{"a", []string{"b", ""}}},
	} {
		if other.Digest() == s.Digest() {
			t.Errorf("%v is written like %v", other, s)
		}
	}
}

// TestAJobNamesByItsChecksToo: they run with what the job was approved for.
func TestAJobNamesByItsChecksToo(t *testing.T) {
	tree := spec.Worktree{Setup: []spec.Check{{Shell: "./prepare.sh"}}}
	got := NamedBy(&spec.Job{Command: []string{"sh", "deploy.sh"}, Worktree: tree, Checks: []spec.Check{
		{Run: []string{"sh", "verify.sh"}}, {Shell: "cat list && ./last.sh"}, {Assert: "all is well"},
	}})
	for _, want := range []string{"deploy.sh", "verify.sh", "list", "./last.sh", "./prepare.sh"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	if slices.Contains(got, "well") {
		t.Errorf("an assertion is run by nobody: %q", got)
	}
}

func TestNamesOfACommand(t *testing.T) {
	got := Names([]string{"sh", "-c", "sh ./deploy.sh && cat 'my list'>out", "--file=k8s/a.yaml", "-d", "@body.json", "sh", "two words.sh"})
	for _, want := range []string{"sh", "./deploy.sh", "k8s/a.yaml", "body.json", "two words.sh", "out"} {
		if n := strings.Count("\n"+strings.Join(got, "\n")+"\n", "\n"+want+"\n"); n != 1 {
			t.Errorf("%s is there %d times in %q", want, n, got)
		}
	}
}
