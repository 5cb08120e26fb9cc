package report

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite testdata")

var day = time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// sample is a run with something for every section.
func sample() Input {
	end := day.Add(83 * time.Second)
	return Input{
		RunDir: "plans/reports/orchestrate-20260730-120005", SpecPath: "jobs.yaml",
		State: ledger.State{
			SchemaVersion: 1, Seq: 20, RunID: "20260730-120005", SpecPath: "jobs.yaml", SpecDigest: "ab", Base: "c0ffee",
			Phase: ledger.PhaseEnded, StartedAt: day, EndedAt: &end, Verdict: "fail", ExitStatus: ptr(1),
			Jobs: []ledger.JobState{
				{ID: "scout", Status: ledger.Success, Attempt: 2},
				{ID: "write", Status: ledger.Success, Attempt: 1},
				{ID: "test", Status: ledger.Failed, Attempt: 1},
				{ID: "review", Status: ledger.Blocked, Reason: runtime.BlockedDependency, Evidence: untrusted.From("test failed: check_failed")},
				{ID: "audit", Status: ledger.Blocked, Reason: runtime.BlockedNoRoute, Evidence: untrusted.From("no candidate")},
			},
		},
		Jobs: map[string]ledger.JobStatus{
			"scout": {
				ID: "scout", Status: ledger.Success, Attempts: 2, Runtime: "codex", Model: "m-1", CapabilityTier: "C1", RiskTier: "R0",
				DurationMs: 4200, FallbackReason: "network on claude", Usage: &runtime.Usage{InputTokens: ptr(int64(900)), OutputTokens: ptr(int64(30))},
			},
			"write": {
				ID: "write", Status: ledger.Success, Worktree: ptr("worktrees/write"), Attempts: 1, Runtime: "claude", Model: "m-2", CapabilityTier: "C2", RiskTier: "R1", DurationMs: 61000,
				Usage:     &runtime.Usage{InputTokens: ptr(int64(100)), OutputTokens: ptr(int64(20)), CostUSD: ptr(0.0125)},
				Artifacts: []ledger.Artifact{{Path: "src/new.go", Bytes: 77, Source: "tree"}},
				Checks:    []ledger.Check{{Name: "go test", Command: "go test ./...", Kind: "run", Status: "passed", ExitCode: ptr(0), DurationMs: 900, Output: "write/checks/1.out"}},
			},
			"test": {
				ID: "test", Status: ledger.Failed, Reason: runtime.ReasonCheckFailed, ReasonEvidence: untrusted.From("go vet: exit status 1"), Attempts: 1, Runtime: "exec", RiskTier: "R1",
				Checks: []ledger.Check{{Name: "vet", Command: "go vet", Kind: "run", Status: "failed", ExitCode: ptr(1), Output: "test/checks/1.out"}},
			},
			"audit": {
				ID: "audit", Status: ledger.Blocked, Reason: runtime.BlockedNoRoute, ReasonEvidence: untrusted.From("no candidate"),
				Route: &ledger.Route{Candidates: []ledger.Candidate{{Runtime: "claude", Reasons: []string{"not signed in"}}}},
			},
		},
		Earlier: map[string][]ledger.JobStatus{
			"scout": {{ID: "scout", Status: ledger.Failed, Reason: runtime.ReasonNetwork, ReasonEvidence: untrusted.From("connection reset"), Attempts: 1, Runtime: "claude", Model: "m-2"}},
		},
		Judgement: &ledger.Judgement{
			Verdict: "fail", Mode: "required", Runtime: "codex", Model: "m-1", Independence: "independent", Overall: "pass", Why: []string{"a rule of the engine is broken"},
			Findings: []ledger.Finding{
				{Rule: "check-failed", Job: "test", Detail: "vet failed", Evidence: []string{"test/checks/1.json", "test/checks/1.out"}},
				{Rule: "run-settled", Detail: "one job is open"},
			},
			RequireIndependent: true,
			ChangedJudges:      []ledger.ChangedJudge{{Job: "write", Paths: []string{"src/new_test.go", ".github/workflows/ci.yml"}}},
			Jobs: []ledger.JobVerdict{{Job: "write", Verdict: "pass", Why: untrusted.From("does what was asked"), Assertions: []ledger.Assertion{
				{Name: "no API breaks", Holds: "yes", Why: untrusted.From("nothing exported changed")},
				{Name: "the README says so", Holds: "unsure", Why: untrusted.From("it was not shown")},
			}, Citations: []ledger.Citation{
				{Kind: "file", Ref: "write:src/new.go:3", Found: true},
				{Kind: "file", Ref: "write:src/old.go:9"},
			}}},
			Questions:           []ledger.Answer{{N: 1, Question: "every required artifact produced?", Answer: "yes", Why: untrusted.From("hashes match"), Passes: true}, {N: 4, Question: "all checks run and passed?", Answer: "no", Why: untrusted.From("vet failed")}},
			Contradictions:      []untrusted.Text{untrusted.From("scout says 3 files, write touched 4")},
			UnresolvedQuestions: []untrusted.Text{untrusted.From("Is old.go still needed?")},
		},
		Approvals:   []ledger.Approval{{Job: "write", Effect: "scoped-write", Digest: "dd", By: "flag", At: day}},
		Patches:     []Patch{{Job: "write", Path: "write/changes.patch", Files: 2, Bytes: 512, Added: 3, Deleted: 1, Diffstat: "write/diffstat.txt", Stat: "M +3 -1 a.txt\nM +0 -0 `b`.txt\n", Base: "c0ffee", Commit: "beef", Branch: "orchestrate/20260730-120005/write"}},
		KeptTrees:   []Tree{{Job: "test", Attempt: 1, Path: "plans/reports/orchestrate-20260730-120005/worktrees/test", Branch: "orchestrate/20260730-120005/test"}},
		Notes:       []string{"README.md changed during the run, not by a job"},
		Dirs:        map[string]string{"write": "worktrees/write"},
		NextSteps:   map[string]string{"audit": "claude auth login", "test": "orchestrate output RUN test"},
		Suggestions: []string{"for task review, codex m-1 succeeded 30 of 31 times"},
		Commands:    map[string]string{"test": "cd 'a b' && go test ./..."},
	}
}

func TestReportOfARunWithEverything(t *testing.T) {
	got := Build(sample()).Markdown()
	golden := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run with -update if this is meant:\n%s", diff)
	}
}

func TestCompletionBlock(t *testing.T) {
	want := `**Orchestrate Result**
- Spec: jobs.yaml
- Report: plans/reports/orchestrate-20260730-120005/report.md
- Jobs: 2/5/3
- Arbiter: fail
- Checks: 1 passed, 1 failed

Unresolved questions:
- Is old.go still needed?
`
	r := Build(sample())
	if diff := cmp.Diff(want, r.Completion()); diff != "" {
		t.Error(diff)
	}
	fields := Block{
		Spec: "jobs.yaml", Report: "plans/reports/orchestrate-20260730-120005/report.md", Jobs: "2/5/3", Arbiter: "fail",
		Checks: "1 passed, 1 failed", Unresolved: []string{"Is old.go still needed?"},
	}
	if diff := cmp.Diff(fields, r.Block); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(string(r.Markdown()), want) {
		t.Error("report.md does not end with the block")
	}
	empty := Build(Input{State: ledger.State{Verdict: "pass"}})
	if got := empty.Completion(); !strings.Contains(got, "- Jobs: 0/0/0\n- Arbiter: pass\n- Checks: none declared\n\nUnresolved questions:\n- None\n") {
		t.Errorf("%s", got)
	}
}

func TestWhatNeedsAPersonComesFirstAndApprovalsByFlagBeforeAll(t *testing.T) {
	needs := Build(sample()).NeedsPerson
	want := []string{"approved by a flag", "verdict is fail", "job test is failed: check_failed; next:", "job audit is blocked: no_route; next: claude auth login", "patch of job write"}
	if len(needs) != len(want) {
		t.Fatalf("%q", needs)
	}
	for i := range want {
		if !strings.Contains(needs[i], want[i]) {
			t.Errorf("%d: %q does not say %q", i, needs[i], want[i])
		}
	}
	text := string(Build(sample()).Markdown())
	if strings.Index(text, "What needs a person") > strings.Index(text, "## Jobs") {
		t.Error("jobs come before what needs a person")
	}
}

func TestARehearsalIsMarkedEverywhere(t *testing.T) {
	in := sample()
	s := in.Jobs["scout"]
	s.Rehearsal = true
	in.Jobs["scout"] = s
	in.State.Verdict = "rehearsal"
	r := Build(in)
	text := string(r.Markdown())
	for _, heading := range regexp.MustCompile(`(?m)^#.*(report:|Jobs|Verdict|Checks|Patches|Attempts).*$`).FindAllString(text, -1) {
		if !strings.Contains(heading, "REHEARSAL") {
			t.Errorf("unmarked: %s", heading)
		}
	}
	for _, want := range []string{"| `scout` | success (REHEARSAL) |", "- Arbiter: rehearsal\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if !r.Rehearsal || !strings.Contains(r.Completion(), "REHEARSAL") {
		t.Error("completion block or JSON is not marked")
	}
	if strings.Contains(string(Build(sample()).Markdown()), "REHEARSAL") {
		t.Error("a real run is marked as a rehearsal")
	}
}

func TestOnlyPathsThatExistAreNamed(t *testing.T) {
	in := sample()
	in.Exists = func(rel string) bool { return false }
	r := Build(in)
	text := string(r.Markdown())
	if strings.Contains(text, "output.md") || strings.Contains(text, "changes.patch") || len(r.Patches) != 0 {
		t.Errorf("a missing file is named:\n%s", text)
	}
}

func TestUnknownCostIsSaidAndNeverZero(t *testing.T) {
	u := Build(sample()).Usage
	if *u.Known.InputTokens != 1000 || *u.Known.OutputTokens != 50 || *u.Known.CostUSD != 0.0125 || u.UnknownJobs != 1 {
		t.Errorf("%+v", u)
	}
	if got := (Usage{UnknownJobs: 2}).String(); got != "unknown (2 attempts did not say)" {
		t.Errorf("%q", got)
	}
}

func TestTheArbiterIsARowAndCosts(t *testing.T) {
	in := sample()
	tokens := int64(7)
	attempt := ledger.JobStatus{ID: "arbiter", Status: ledger.Failed, Reason: runtime.BlockedNoAnswer, Attempts: 1, Runtime: "codex", Usage: &runtime.Usage{InputTokens: &tokens}}
	second := attempt
	second.Status, second.Reason, second.Attempts, second.Usage = ledger.Success, "", 2, nil
	in.Arbiter = []ledger.JobStatus{attempt, second}
	r := Build(in)
	if *r.Usage.Known.InputTokens != 1007 || r.Usage.UnknownJobs != 2 || r.Totals.Total != 5 {
		t.Errorf("usage %+v, totals %+v", r.Usage, r.Totals)
	}
	text := string(r.Markdown())
	for _, want := range []string{"| `arbiter` | success |", "| `arbiter` | 1 | `codex` |", "| `arbiter` | 2 | `codex` |"} {
		if !strings.Contains(text, want) {
			t.Errorf("report lacks %q:\n%s", want, text)
		}
	}
	if Build(sample()).Arbiter != nil {
		t.Error("an arbiter that was never asked has a row")
	}
}

func TestARehearsalIsReproducedAsOne(t *testing.T) {
	in := sample()
	for _, c := range []struct {
		rehearse bool
		script   string
		want     string
	}{
		{false, "", "orchestrate run jobs.yaml"},
		{true, "", "orchestrate rehearse jobs.yaml"},
		{true, "my script.yaml", "orchestrate rehearse jobs.yaml --script 'my script.yaml'"},
	} {
		in.Rehearse, in.Script = c.rehearse, c.script
		if got := Build(in).Reproduce[0].Command; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestWorkInTheCheckoutDoesNotWait(t *testing.T) {
	in := sample()
	in.Patches[0].Applied = true
	r := Build(in)
	if p := r.Patches[0]; p.Apply != "" || p.Undo != "git apply -R plans/reports/orchestrate-20260730-120005/write/changes.patch" {
		t.Errorf("apply %q, undo %q", p.Apply, p.Undo)
	}
	text := string(r.Markdown())
	if strings.Contains(text, "awaiting integration") || strings.Contains(text, "waits to be integrated") || !strings.Contains(text, "already in your checkout") {
		t.Errorf("%s", text)
	}
}

func TestNextStepsAreToldToTheirEnd(t *testing.T) {
	in := sample()
	long := strings.Repeat("word ", 300) + "END"
	in.State.Verdict, in.Judgement.Verdict, in.VerdictStep = "blocked", "blocked", long+"1"
	in.NextSteps["audit"], in.Notes = long+"2", []string{long + "3"}
	text := string(Build(in).Markdown())
	for _, want := range []string{"END1", "END2", "END3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is cut off", want)
		}
	}
}

func TestJSONHasNoNullList(t *testing.T) {
	data, err := Build(Input{}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"needsPerson", "approvals", "patches", "keptTrees", "notes", "reproduce", "unresolvedQuestions", "jobs"} {
		if _, ok := all[key].([]any); !ok {
			t.Errorf("%s is %v", key, all[key])
		}
	}
}

func TestApplyCommandWorksAsPasted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a 'workspace'")
	run := filepath.Join(dir, "sub dir", "runs $x")
	if err := os.MkdirAll(run, 0o755); err != nil {
		t.Fatal(err)
	}
	patch := "diff --git a/new.txt b/new.txt\nnew file mode 100644\nindex 0000000..ce01362\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n"
	if err := os.WriteFile(filepath.Join(run, "c.patch"), []byte(patch), 0o644); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "git init -q")
	for _, c := range []struct{ root, runDir, top string }{
		{dir, "sub dir/runs $x", "."},
		{filepath.Join(dir, "sub dir"), "runs $x", ".."},
	} {
		r := Build(Input{RunDir: c.runDir, GitTop: c.top, Patches: []Patch{{Job: "w", Path: "c.patch"}}})
		shell(t, c.root, r.Patches[0].Apply)
		if err := os.Remove(filepath.Join(dir, "new.txt")); err != nil {
			t.Errorf("%s: %v", r.Patches[0].Apply, err)
		}
	}
}

func shell(t *testing.T, dir, command string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// What passed is taken over by a command that looks first; what did not, only by hand.
func TestPatchesThatPassedAreIntegrated(t *testing.T) {
	const command = "orchestrate integrate 20260730-120005"
	for verdict, offered := range map[string]bool{"pass": true, "unreviewed": true, "fail": false, "blocked": false, "rehearsal": false} {
		in := sample()
		in.State.Verdict = verdict
		r := Build(in)
		text := string(r.Markdown())
		if got := strings.Count(text, command+"\n"); (got == 2) != offered || (r.Integrate() == command) != offered {
			t.Errorf("%s: %q is there %d times:\n%s", verdict, command, got, text)
		}
		if !strings.Contains(text, "\ngit apply plans/reports/") {
			t.Errorf("%s: no way by hand", verdict)
		}
		in.Patches[0].Applied = true
		if got := Build(in).Integrate(); got != "" {
			t.Errorf("%s: nothing waits, but %q", verdict, got)
		}
	}
}

// hostile is text that tries to be more than text.
var hostile = []string{
	"# Verdict: pass", "\n\n# Verdict: pass\n", "a | b | c", "`code` and ``more``", "`", "<script>alert(1)</script>", "<!-- ", "&lt;",
	"\x1b[2J\x1b]0;x\x07", "\u202egnp.exe", "\u2066x\u2069", "a\u200bb", "- None", "1. one", "* x", "> quote", "    code", "![x](http://x)",
	"https://example.org", "www.example.org", "***", "---", "===", "~~~", "```\nx\n```", "\\", "\\|", "$x$", "\xff\xfe", "\U000e0041", "\r\n# x", "\u2028# x", "\x85# x",
}

func TestForeignTextIsInert(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()), 1, 4).Draw(rt, "text"), rapid.SampledFrom([]string{"", " ", "\n"}).Draw(rt, "joint"))
		if strings.TrimSpace(text) == "" {
			text += "x" // without any text, sections are rightly left out
		}
		plain, attacked := reportWith("x"), reportWith(text)
		if a, b := shape(plain), shape(attacked); !cmp.Equal(a, b) {
			rt.Fatalf("the document's shape changed:\n%s\n%s", cmp.Diff(a, b), attacked)
		}
		for _, c := range attacked {
			if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf)) {
				rt.Fatalf("U+%04X got through", c)
			}
		}
	})
}

// reportWith puts text wherever an agent, a tool or a file could.
func reportWith(text string) string {
	in := sample()
	in.Notes, in.Checkout = []string{text}, []string{text}
	for id, s := range in.Jobs {
		s.Model, s.Agent, s.ReasonEvidence, s.FallbackReason, s.Runtime = text, text, untrusted.From(text), text, text
		for i := range s.Checks {
			s.Checks[i].Name, s.Checks[i].Command = text, text
		}
		in.Jobs[id] = s
	}
	in.NextSteps["audit"], in.Commands["test"] = text, "echo "+text
	j := *in.Judgement
	j.Why, j.Contradictions, j.SafetyGaps, j.UnsupportedClaims = []string{text}, []untrusted.Text{untrusted.From(text)}, []untrusted.Text{untrusted.From(text)}, []untrusted.Text{untrusted.From(text)}
	j.UnresolvedQuestions = []untrusted.Text{untrusted.From(text)}
	j.Jobs = []ledger.JobVerdict{{Job: text, Verdict: "pass", Why: untrusted.From(text), Citations: []ledger.Citation{{Kind: "file", Ref: text}}}}
	j.Questions = []ledger.Answer{{N: 1, Question: text, Answer: text, Why: untrusted.From(text)}}
	j.Findings = []ledger.Finding{{Rule: "r", Job: text, Detail: text}}
	in.Judgement = &j
	return string(Build(in).Markdown())
}

var (
	fenceLine = regexp.MustCompile("^(`{3,})sh$")
	escapes   = regexp.MustCompile(`\\[[:punct:]]`)
	lead      = regexp.MustCompile(`^ *([#>*+=|~-]+|\d+[.)])?`)
	spans     = regexp.MustCompile("(^|[^`])(`+)([^`].*?[^`]|[^`])(`+)")
)

// shape is what a Markdown reader sees of each line's structure: its first
// marker, and in tables the number of cells. Fenced blocks count as one line.
func shape(doc string) []string {
	var all []string
	fence := ""
	for line := range strings.Lines(doc) {
		line = strings.TrimRight(line, "\n")
		if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			fence = m[1]
			all = append(all, "block")
			continue
		}
		all = append(all, lineShape(line))
	}
	return append(all, "open:"+strings.Trim(fence, "`"))
}

func lineShape(line string) string {
	visible := escapes.ReplaceAllString(line, "")
	marker := lead.FindString(visible)
	if strings.HasPrefix(line, "|") {
		marker += strings.Repeat("|", strings.Count(visible, "|"))
	}
	rest := spans.ReplaceAllString(visible, "$1")
	if strings.HasPrefix(line, "**") || strings.HasPrefix(line, "|") {
		rest = strings.ReplaceAll(rest, "*", "")
	}
	if i := strings.IndexAny(strings.TrimLeft(rest, "-#|* "), "<[*~"); i >= 0 && !strings.Contains(line, "`") {
		marker += " active"
	}
	return marker
}

func TestARedactedPatchIsAppliedFromItsCommit(t *testing.T) {
	for _, c := range []struct {
		top           string
		applied       bool
		apply, revert string
	}{
		{".", false, "git diff --binary c0ffee beef | git apply", ""},
		{"..", false, "git -C .. diff --binary c0ffee beef | git -C .. apply", ""},
		{".", true, "", "git diff --binary c0ffee beef | git apply -R"},
	} {
		r := Build(Input{RunDir: "run", GitTop: c.top, Patches: []Patch{{
			Job: "w", Path: "w/changes.patch", Base: "c0ffee", Commit: "beef", Applied: c.applied, DisplayOnly: true,
		}}})
		if p := r.Patches[0]; p.Apply != c.apply || p.Undo != c.revert {
			t.Errorf("apply %q, undo %q", p.Apply, p.Undo)
		}
		if text := string(r.Markdown()); !strings.Contains(text, "cannot be applied") {
			t.Errorf("the report does not say that the file is a copy:\n%s", text)
		}
	}
}

func TestAPatchThatBuildsOnAnotherSaysSo(t *testing.T) {
	r := Build(Input{Patches: []Patch{{Job: "w", Path: "w/changes.patch"}, {Job: "q", Path: "q/changes.patch", After: "w"}}})
	text := string(r.Markdown())
	if !strings.Contains(text, "- job `w`: ") || !strings.Contains(text, "- job `q`, after the patch of `w`: ") {
		t.Errorf("%s", text)
	}
}

func TestChangesOfTheCheckoutNeedAPerson(t *testing.T) {
	in := sample()
	in.Checkout = []string{"README.md changed between 12:00:05 and 12:01:00 UTC"}
	needs := Build(in).NeedsPerson
	if got := needs[len(needs)-2]; got != in.Checkout[0] {
		t.Errorf("%q", needs)
	}
}

func TestWhyNoArbiterWasAskedIsSaid(t *testing.T) {
	for _, c := range []struct {
		verdict, why, want string
	}{
		{"blocked", "no arbiter: no_route: claude: not signed in", "No arbiter was asked: no_route: claude: not signed in."},
		{"blocked", "nothing to judge: no job succeeded", "No arbiter was asked: nothing to judge: no job succeeded."},
		{"fail", "check-failed: job a: vet failed", "No arbiter was asked (mode `required`)."},
	} {
		r := Build(Input{Judgement: &ledger.Judgement{Mode: "required", Verdict: c.verdict, Why: []string{c.why}}})
		if text := string(r.Markdown()); !strings.Contains(text, c.want) {
			t.Errorf("%q is not in:\n%s", c.want, text)
		}
	}
}

// A reader of the job table sees of whom a judge was not independent.
func TestAJudgesRowSaysHowIndependentItWas(t *testing.T) {
	for want, s := range map[string]ledger.JobStatus{
		"codex": {Runtime: "codex", Route: &ledger.Route{}},
		"codex (not-independent: the same family)": {Runtime: "codex", Route: &ledger.Route{Independence: "not-independent: the same family"}},
		"standin": {Runtime: "standin", Rehearsal: true, Route: &ledger.Route{Independence: "not-independent: unknown"}},
	} {
		if got := jobRow(Job{Status: s})[3]; got != "`"+want+"`" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
