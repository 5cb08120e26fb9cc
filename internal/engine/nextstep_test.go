package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

func troubled(reason runtime.Reason) trouble {
	return trouble{
		job: &spec.Job{ID: "build", Timeout: time.Minute, FirstOutputTimeout: time.Second},
		run: "1",
		status: ledger.JobStatus{
			ID: "build", Runtime: "codex", Status: ledger.Failed, Reason: reason, ReasonEvidence: untrusted.From("what it said"),
			ObservedModel: "big-2", Proof: &ledger.Proof{Gone: true},
			Checks: []ledger.Check{
				{Name: "a", Kind: "run", Status: "passed", Output: "build/checks/1.out"},
				{Name: "b", Kind: "run", Status: "failed", Output: "build/checks/2.out"},
			},
		},
	}
}

// TestEveryReasonHasANextStep reads the reasons from their source, so that a new
// one cannot be forgotten here.
func TestEveryReasonHasANextStep(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../runtime/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		reason, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		step := troubled(runtime.Reason(reason)).nextStep()
		if strings.HasPrefix(step, "see build/status.json") || seen[step] != "" && seen[step] != reason && !strings.Contains(step, "doctor") {
			t.Errorf("%s has no next step of its own: %q", reason, step)
		}
		seen[step] = reason
		return true
	})
	if len(seen) < 20 {
		t.Fatalf("only %d reasons found", len(seen))
	}
}

func TestANextStepNamesWhatToLookAt(t *testing.T) {
	for reason, want := range map[runtime.Reason]string{
		runtime.ReasonTimeout:       "now 1m0s",
		runtime.ReasonFirstOutput:   "now 1s",
		runtime.ReasonCheckFailed:   "see build/checks/2.out",
		runtime.ReasonPermission:    "what it said",
		runtime.ReasonQuota:         "codex is back (what it said)",
		runtime.ReasonModelMismatch: "big-2",
		runtime.ReasonAuth:          "sign in to codex",
		"":                          "did not begin: `orchestrate resume 1 --retry-failed` goes on",
	} {
		if got := troubled(reason).nextStep(); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", reason, got, want)
		}
	}
	signedOut := troubled(runtime.ReasonAuth)
	signedOut.signIn = "type `codex login`"
	if got := signedOut.nextStep(); got != signedOut.signIn {
		t.Errorf("the profile knows better than %q", got)
	}
	unproven := troubled(runtime.ReasonCrash)
	unproven.status.Proof.Gone = false
	if got := unproven.nextStep(); !strings.Contains(got, "build/exit.json") {
		t.Errorf("what is left is not named: %q", got)
	}
}

func TestAStepAsksForNothingThatIsThere(t *testing.T) {
	quota := troubled(runtime.ReasonQuota)
	quota.job.Fallbacks = []spec.Fallback{{Runtime: "other"}}
	if got := quota.nextStep(); strings.Contains(got, "fallback_runtime") || !strings.Contains(got, "or name another runtime") {
		t.Errorf("it has a fallback: %q", got)
	}
	quota.status.ID = ledger.ArbiterJob
	if got := quota.nextStep(); !strings.Contains(got, "another runtime under arbiter") {
		t.Errorf("the arbiter takes no fallback: %q", got)
	}
	busy := troubled(runtime.ReasonRateLimit)
	if got := busy.nextStep(); !strings.Contains(got, "`retry: ") || !strings.Contains(got, "in fallback_runtime") {
		t.Errorf("nothing is declared: %q", got)
	}
	busy.job.Retry = spec.Retry{MaxAttempts: 2, On: []string{"rate_limit"}}
	busy.job.Fallbacks = quota.job.Fallbacks
	if got := busy.nextStep(); strings.Contains(got, "retry: ") || strings.Contains(got, "fallback_runtime") {
		t.Errorf("both are declared: %q", got)
	}
	busy = troubled(runtime.ReasonRateLimit)
	busy.status.ID = ledger.ArbiterJob
	if got := busy.nextStep(); strings.Contains(got, "retry: ") || !strings.Contains(got, "another runtime under arbiter") {
		t.Errorf("the arbiter has no retry: %q", got)
	}
	stopped := troubled(runtime.ReasonBudget)
	stopped.status.ID = ledger.ArbiterJob
	if got := stopped.nextStep(); strings.Contains(got, "--retry-failed") || !strings.Contains(got, "`orchestrate resume 1`") {
		t.Errorf("any resumed run asks the arbiter again: %q", got)
	}
	missing := troubled(runtime.ReasonMissingOutput)
	missing.job.Runtime, missing.job.Command = runtimeExec, []string{"make"}
	if got := missing.nextStep(); strings.Contains(got, "prompt") || !strings.Contains(got, "build/stderr.txt") {
		t.Errorf("a plain program has no prompt: %q", got)
	}
}

func TestManyJobsWithOneStepShareALine(t *testing.T) {
	ids := strings.Split(strings.Repeat("j ", 30), " ")[:30]
	if got := some(ids); strings.Count(got, "j") != 20 || !strings.HasSuffix(got, "and 10 more") {
		t.Errorf("%q", got)
	}
}
