package arbiter

import (
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// clean is a case that passes.
func clean() Case {
	v := good("a", "b")
	return Case{
		Mode: ModeRequired, Runtime: "r", Model: "m", Independence: "independent",
		Judged: asked("a", "b"), Answer: &v, Jobs: Verify(v, everything{}), Own: notBase,
	}
}

// notBase takes all but a commit named base for the job's own.
func notBase(_ string, c Citation) bool { return c != Citation{"commit", "base"} }

// everything finds whatever is cited.
type everything struct{}

func (everything) Line(string, string, int) (string, bool) { return "", true }
func (everything) Artifact(string, string) bool            { return true }
func (everything) Check(string, string) bool               { return true }
func (everything) Commit(string, string) bool              { return true }
func (everything) Laid(string) (folder, job, file string)  { return "", "", "" }

// TestTruthTable: from the one case that passes, each row breaks one thing.
func TestTruthTable(t *testing.T) {
	type row struct {
		name    string
		change  func(*Case)
		verdict string
		says    string
	}
	rows := []row{
		{"nothing broken", func(*Case) {}, Pass, ""},
		{"not independent", func(c *Case) { c.Independence = "not-independent: one runtime" }, Pass, ""},
		{"layer 1", func(c *Case) {
			c.Findings = []ledger.Finding{{Rule: RuleCheckFailed, Job: "a", Detail: "unit"}}
		}, Fail, "check-failed: job a: unit"},
		{"layer 1 beats checks-only", func(c *Case) {
			c.Mode, c.Findings = ModeChecksOnly, []ledger.Finding{{Rule: RuleOwnership, Detail: "x"}}
		}, Fail, "ownership: x"},
		{"layer 1 beats a rehearsal", func(c *Case) {
			c.Rehearsal, c.Findings = true, []ledger.Finding{{Rule: RuleOwnership, Detail: "x"}}
		}, Fail, "ownership"},
		{"checks-only", func(c *Case) { c.Mode, c.Answer, c.Jobs = ModeChecksOnly, nil, nil }, Unreviewed, "nobody reviewed"},
		{"the worker form", func(c *Case) { c.Mode, c.WorkerForm, c.Answer, c.Jobs = ModeChecksOnly, true, nil, nil }, Unreviewed, "worker form: nobody reviewed these results"},
		{"layer 1 beats the worker form", func(c *Case) {
			c.Mode, c.WorkerForm = ModeChecksOnly, true
			c.Findings = []ledger.Finding{{Rule: RuleJobFailed, Job: "a"}, {Rule: RuleInjectedSecret, Job: "b", Detail: "a key"}}
		}, Fail, InWorkerForm},
		{"a task of the worker form failed", func(c *Case) {
			c.Mode, c.WorkerForm, c.Findings = ModeChecksOnly, true, []ledger.Finding{{Rule: RuleJobFailed, Job: "a", Detail: "it ended failed"}}
		}, Unreviewed, "job-failed: job a: it ended failed"},
		{"nothing to judge", func(c *Case) {
			c.Early, c.Answer = "no job succeeded", nil
			c.Findings = []ledger.Finding{{Rule: RuleJobFailed, Job: "a", Detail: "it ended failed"}}
		}, Blocked, "no job succeeded"},
		{"no route", func(c *Case) { c.Obstacle, c.Answer = "no route of C3", nil }, Blocked, "no route of C3"},
		{"unusable answer", func(c *Case) { c.Unusable, c.Answer = "not JSON", nil }, Blocked, "not JSON"},
		{"no answer", func(c *Case) { c.Answer = nil }, Blocked, "no answer"},
		{"rehearsal", func(c *Case) { c.Rehearsal = true }, Rehearsal, "stand-in"},
		{"rehearsal of checks-only", func(c *Case) { c.Rehearsal, c.Mode = true, ModeChecksOnly }, Rehearsal, "stand-in"},
		{"rehearsal without a route", func(c *Case) { c.Rehearsal, c.Obstacle = true, "no route" }, Blocked, "no route"},
		{"rehearsal that fails", func(c *Case) { c.Rehearsal, c.Answer.Overall = true, Fail }, Fail, "says fail"},
		{"overall fail", func(c *Case) { c.Answer.Overall = Fail }, Fail, "says fail"},
		{"overall blocked", func(c *Case) { c.Answer.Overall = Blocked }, Blocked, "says blocked"},
		{"overall anything else", func(c *Case) { c.Answer.Overall = "" }, Blocked, "says blocked"},
		{"a job fails", func(c *Case) { c.Jobs[1].Verdict = "fail" }, Fail, "job b fails"},
		{"a job unsure", func(c *Case) { c.Jobs[1].Verdict = "unsure" }, Blocked, "job b is left open"},
		{"a job left out", func(c *Case) { c.Jobs = c.Jobs[:1] }, Blocked, "job b has no verdict"},
		{"nobody judged", func(c *Case) { c.Judged, c.Jobs = nil, nil }, Blocked, "no job was judged"},
		{"no job at all", func(c *Case) { c.Jobs = nil }, Blocked, "job a has no verdict"},
		{"a job without citation", func(c *Case) { c.Jobs[0].Citations = nil }, Blocked, "without evidence"},
		{"a job with nothing but what it started from", func(c *Case) {
			c.Jobs[0].Citations = []ledger.Citation{{Kind: "commit", Ref: "a:base", Found: true}}
		}, Blocked, "job a passes without evidence of its own"},
		{"what it started from beside its own", func(c *Case) {
			c.Jobs[0].Citations = append(c.Jobs[0].Citations, ledger.Citation{Kind: "commit", Ref: "a:base", Found: true})
		}, Pass, ""},
		{"nothing but another job's", func(c *Case) { c.Jobs[0].Citations[0].Ref = "b:output.md" }, Blocked, "job a passes without evidence of its own"},
		{"nobody knows whose it is", func(c *Case) { c.Own = nil }, Blocked, "without evidence of its own"},
		{"one false citation", func(c *Case) { c.Jobs[0].Citations[0].Found = false }, Blocked, "is not there"},
		{"a false one beside a true one", func(c *Case) {
			c.Jobs[0].Citations = append(c.Jobs[0].Citations, ledger.Citation{Kind: "file", Ref: "a:x:1"})
		}, Blocked, `"a:x:1" is not there`},
		{"an assertion that does not hold", func(c *Case) {
			c.Judged[0].Asserts = []string{"x"}
			c.Jobs[0].Assertions = []ledger.Assertion{{Name: "x", Holds: "no", Why: untrusted.From("it is false")}}
		}, Fail, `job a: the assertion "x" does not hold: it is false`},
		{"an assertion left open", func(c *Case) {
			c.Jobs[0].Assertions = []ledger.Assertion{{Name: "x", Holds: "unsure"}}
		}, Blocked, `the assertion "x" is left open`},
		{"an assertion left out", func(c *Case) { c.Judged[0].Asserts = []string{"x"} }, Blocked, `nothing is said of the assertion "x"`},
		{"an assertion that holds", func(c *Case) {
			c.Judged[0].Asserts = []string{"x"}
			c.Jobs[0].Assertions = []ledger.Assertion{{Name: "x", Holds: "yes"}}
		}, Pass, ""},
		{"independence required and proven", func(c *Case) { c.RequireIndependent = true }, Pass, ""},
		{"independence required and not there", func(c *Case) {
			c.RequireIndependent, c.Independence = true, "not-independent: one family"
		}, Blocked, "not-independent: one family"},
		{"independence required and unknown", func(c *Case) { c.RequireIndependent, c.Independence = true, "" }, Blocked, "not known"},
		{"a contradiction", func(c *Case) { c.Answer.Contradictions = []untrusted.Text{untrusted.From("a and b")} }, Fail, "contradiction: a and b"},
		{"an unsupported claim", func(c *Case) { c.Answer.UnsupportedClaims = []untrusted.Text{untrusted.From("fast")} }, Fail, "unsupported claim: fast"},
		{"a safety gap", func(c *Case) { c.Answer.SafetyGaps = []untrusted.Text{untrusted.From("no lock")} }, Fail, "safety gap: no lock"},
		{"an unresolved question", func(c *Case) { c.Answer.UnresolvedQuestions = []untrusted.Text{untrusted.From("why")} }, Blocked, "unresolved question: why"},
		{"a question left out", func(c *Case) { c.Answer.Questions = c.Answer.Questions[:8] }, Blocked, "question 9"},
	}
	for _, q := range Questions() {
		opposite := map[string]string{"yes": "no", "no": "yes"}[q.Passes]
		says := fmt.Sprintf("question %d ", q.N)
		rows = append(rows,
			row{says + opposite, func(c *Case) { c.Answer.Questions[q.N-1].Answer = opposite }, Fail, says},
			row{says + "unsure", func(c *Case) { c.Answer.Questions[q.N-1].Answer = "unsure" }, Blocked, says})
	}
	for _, r := range rows {
		c := clean()
		r.change(&c)
		j := Judge(c)
		why := strings.Join(j.Why, "\n")
		if j.Verdict != r.verdict || !strings.Contains(why, r.says) {
			t.Errorf("%s: %s because %q, want %s because %q", r.name, j.Verdict, why, r.verdict, r.says)
		}
		if (j.Verdict == Pass) != (len(j.Why) == 0) {
			t.Errorf("%s: %s with reasons %q", r.name, j.Verdict, why)
		}
	}
}

func TestJudgementIsComplete(t *testing.T) {
	c := clean()
	c.Answer.Questions[1].Answer = "yes"
	j := Judge(c)
	if len(j.Questions) != 9 || j.Questions[0].Passes != true || j.Questions[1].Passes != false || j.Questions[1].Question == "" {
		t.Errorf("questions: %+v", j.Questions)
	}
	if j.Overall != Pass || j.Independence != "independent" || j.Runtime != "r" || j.Model != "m" || len(j.Jobs) != 2 {
		t.Errorf("got %+v", j)
	}
	if empty := Judge(Case{Mode: ModeRequired, Obstacle: "x"}); strings.Contains(encode(t, empty), "null") {
		t.Errorf("null in a judgement without an answer: %s", encode(t, empty))
	}
}

func TestMayCheckOnly(t *testing.T) {
	for _, c := range []struct {
		exec  bool
		risks []string
		ok    bool
	}{
		{false, []string{"R0", "R1"}, true},
		{false, []string{"R0", "R2"}, false},
		{true, []string{"R2", "R3"}, true},
		{false, nil, true},
	} {
		if got := MayCheckOnly(c.exec, c.risks); got != c.ok {
			t.Errorf("MayCheckOnly(%v, %v) = %v", c.exec, c.risks, got)
		}
	}
}

// TestAFalseCitationIsAnUnsupportedClaim: it is listed as one, whatever the arbiter said.
func TestAFalseCitationIsAnUnsupportedClaim(t *testing.T) {
	c := clean()
	c.Jobs[0].Citations = append(c.Jobs[0].Citations, ledger.Citation{Kind: "file", Ref: "a:x.go:3"})
	c.Answer.UnsupportedClaims = make([]untrusted.Text, 0, 4)
	j := Judge(c)
	if len(j.UnsupportedClaims) != 1 || !j.UnsupportedClaims[0].Equal(untrusted.From("job a: cited file a:x.go:3, which is not there")) || j.Verdict != Blocked {
		t.Errorf("%s, unsupported claims %q", j.Verdict, j.UnsupportedClaims)
	}
	if len(c.Answer.UnsupportedClaims) != 0 {
		t.Error("the answer itself was changed")
	}
}

func TestWhatJudgesAndWasChangedIsRecorded(t *testing.T) {
	c := clean()
	c.ChangedJudges, c.RequireIndependent = []ledger.ChangedJudge{{Job: "a", Paths: []string{"a_test.go"}}}, true
	if j := Judge(c); len(j.ChangedJudges) != 1 || j.ChangedJudges[0].Job != "a" || !j.RequireIndependent || j.Verdict != Pass {
		t.Errorf("%+v", j)
	}
}
