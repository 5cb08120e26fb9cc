package report

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// pageFiles is a run directory in memory.
type pageFiles map[string]string

func (f pageFiles) Size(rel string) (int64, bool) {
	text, ok := f[rel]
	return int64(len(text)), ok
}

func (f pageFiles) Read(rel string, most int) Excerpt {
	text := f[rel]
	if len(text) <= most {
		return Excerpt{Head: text}
	}
	head, tail := text[:most*2/3], text[len(text)-most/3:]
	return Excerpt{Head: strings.ToValidUTF8(head, ""), Tail: strings.ToValidUTF8(tail, ""), Left: int64(len(text) - len(head) - len(tail))}
}

// at is so many seconds after the run's start.
func at(seconds float64) *time.Time {
	return ptr(day.Add(time.Duration(seconds * float64(time.Second))))
}

// pageSample is sample with times, dependencies and all that only the page shows.
func pageSample() (Input, pageFiles) {
	in := sample()
	in.After = map[string][]string{"write": {"scout"}, "test": {"write"}, "review": {"test"}}
	in.Suggestions = []string{"for task review, codex m-1 succeeded 30 of 31 times"}
	scout, write, test := in.Jobs["scout"], in.Jobs["write"], in.Jobs["test"]
	in.Earlier["scout"][0].StartedAt, in.Earlier["scout"][0].EndedAt = at(0), at(1)
	scout.StartedAt, scout.EndedAt = at(2), at(6.2)
	write.StartedAt, write.EndedAt, write.Branch = at(6.5), at(67.5), ptr("orchestrate/20260730-120005/write")
	write.Route = &ledger.Route{
		Runtime: "claude", Model: "m-2", Capability: "C2", CapabilityFloor: "C2", CapabilitySource: "operator", Risk: "R1", RiskWhy: "it writes in its own tree", Family: "anthropic",
		Isolation: "worktree", Access: "write", Sandbox: "landlock", Controls: []string{"tools-limited", "no-network"}, Constrained: []string{"a limit of turns: the program has none"}, Why: "the first candidate that meets the floor",
		Candidates: []ledger.Candidate{{Runtime: "claude", Model: "m-2", Chosen: true}, {Runtime: "gemini", Reasons: []string{"not signed in"}}},
	}
	write.Artifacts = append(write.Artifacts, ledger.Artifact{Path: "notes/a b.md", Bytes: 12, SHA256: "cafe", Source: "artifacts"})
	write.Checks = append(write.Checks, ledger.Check{Name: "polite", Command: "the code is polite", Kind: "assert", Status: "for-arbiter"})
	test.StartedAt, test.EndedAt = at(67.6), at(70)
	in.Jobs["scout"], in.Jobs["write"], in.Jobs["test"] = scout, write, test
	in.Arbiter = []ledger.JobStatus{{ID: "arbiter", Status: ledger.Success, Attempts: 1, Runtime: "codex", Model: "m-1", CapabilityTier: "C3", RiskTier: "R0", DurationMs: 11000, StartedAt: at(71), EndedAt: at(82)}}
	j := in.Judgement
	j.Findings[0].Evidence = []string{"test/checks/1.json", "test/checks/1.out", "test/gone.txt"}
	j.ChangedJudges = []ledger.ChangedJudge{{Job: "write", Paths: []string{"src/new_test.go"}}}
	j.Jobs[0].Assertions = []ledger.Assertion{{Name: "polite", Holds: "no", Why: untrusted.From("it swears in line 3")}}
	j.Jobs[0].Citations = append(j.Jobs[0].Citations, ledger.Citation{Kind: "command", Ref: "write:go test", Found: true},
		ledger.Citation{Kind: "artifact", Ref: "write:output.md", Found: true}, ledger.Citation{Kind: "commit", Ref: "write:beef", Found: true})
	j.SafetyGaps = []untrusted.Text{untrusted.From("nobody looked at the licence")}
	return in, pageFiles{
		"report.md": "x", "spec.yaml": "x", "journal.jsonl": "x", "approvals.json": "x", "arbiter/verdict.json": "{}", "arbiter/output.md": "{\"overall\": \"pass\"}\n",
		"scout/prompt.md": "Find the fault.\n\nSay where it is.\n", "scout/output.md": "It is in `old.go`,\tline 3 <here>.\n", "scout/status.json": "{}",
		"scout/events.jsonl":         `{"seq":1,"at":"2026-07-30T12:00:07Z","kind":"session","model":"m-1"}` + "\n" + `{"seq":2,"at":"2026-07-30T12:00:09.5Z","kind":"tool","tool":"Read","text":"old.go\nand more"}` + "\n" + `{"seq":3,"at":"2026-07-30T12:00:11Z","kind":"usage","usage":{"inputTokens":900,"outputTokens":30,"costUsd":null}}` + "\n" + `{"seq":4,"at":"2026-`,
		"scout/attempt-1/stderr.txt": "connection reset\n",
		"write/prompt.md":            "Mend it.\n", "write/output.md": "Mended.\n", "write/changes.patch": patchText, "write/diffstat.txt": "M      +1      -1  src/new.go\n", "write/artifacts/notes/a b.md": "hello world\n",
		"write/checks/1.out": "ok  \tproject\t0.9s\n", "write/checks/1.err": "",
		"test/output.md": "", "test/checks/1.json": "{}", "test/checks/1.out": "main.go:3: unreachable code\n", "test/stderr.txt": "vet: exit status 1\n",
	}
}

const patchText = `diff --git a/src/new.go b/src/new.go
index 1..2 100644
--- a/src/new.go
+++ b/src/new.go
@@ -1,3 +1,3 @@ func main() {
 one
-two <b>
+two &amp; </pre>
 three
diff --git a/src/new_test.go b/src/new_test.go
deleted file mode 100644
--- a/src/new_test.go
+++ /dev/null
@@ -1 +0,0 @@
--- a list
\ No newline at end of file
diff --git "a/odd \"n\303\244me.txt" "b/odd \"n\303\244me.txt"
new file mode 100644
--- /dev/null
+++ "b/odd \"n\303\244me.txt"
@@ -0,0 +1 @@
+++ plus
`

// looks is what the golden page is without: its style, and the pictures, which have tests
// of their own.
var looks = regexp.MustCompile(`(?s)(<style>|<figure[^>]*>)(.*?)(</style>|</figure>)`)

func TestThePageOfARunWithEverything(t *testing.T) {
	in, files := pageSample()
	page, err := Build(in).HTML(files)
	if err != nil {
		t.Fatal(err)
	}
	got := looks.ReplaceAll(page, []byte("$1…$3"))
	golden := filepath.Join("testdata", "report.html")
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

func unescaped(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

func TestThePageIsOfOurOwnMarkup(t *testing.T) {
	in, files := pageSample()
	page, err := Build(in).HTML(files)
	if err != nil {
		t.Fatal(err)
	}
	if what := broken(page); what != "" {
		t.Error(what)
	}
	empty, err := Build(Input{}).HTML(pageFiles{})
	if err != nil {
		t.Fatal(err)
	}
	if what := broken(empty); what != "" {
		t.Errorf("of an empty run: %s", what)
	}
}

// What the arbiter cites is a step away.
func TestCitationsLeadToTheirPlace(t *testing.T) {
	in, files := pageSample()
	page, err := Build(in).HTML(files)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{
		`file <a href="#file1:write">write:src/new.go:3</a> <span class="ok">found</span>`,
		`file <s>write:src/old.go:9</s> <strong class="bad">not there</strong>`,
		`command <a href="#check1:write">write:go test</a>`,
		`artifact <a href="#answer:write">write:output.md</a>`,
		`commit <a href="#patch:write">write:beef</a>`,
		`<a href="./test/checks/1.json">test/checks/1.json</a>, <a href="#out1:test">test/checks/1.out</a>, test/gone.txt`,
		`Job <a href="#job-write">write</a>: <a href="#file2:write">src/new_test.go</a>`,
		`<a href="./write/artifacts/notes/a%20b.md">notes/a b.md</a>`,
		`<b>odd &#34;näme.txt</b>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// A run of 200 jobs that each left a lot is still one page that opens at once.
func TestTwoHundredJobsStayBelowFiveMegabytes(t *testing.T) {
	for name, text := range map[string]string{
		"prose":   strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 4000),
		"escapes": strings.Repeat("\x1b[31m<&>\u202e\n", 20000),
		"a line":  strings.Repeat("x", 10<<20),
		"a patch": "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n" + strings.Repeat("-a\n+b\n", 30000),
		"patches": strings.Repeat("diff --git a/f b/f\n", 10000),
	} {
		in, files := wide(200, text)
		page, err := Build(in).HTML(files)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > 5_000_000 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
		t.Logf("%s: %d bytes", name, len(page))
		for _, want := range []string{"left out; the whole is in", `href="./job-000/changes.patch"`, `id="job-job-199"`} {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
	}
}

// wide is a run of n jobs of which each left the same in every file.
func wide(n int, text string) (Input, pageFiles) {
	in := Input{RunDir: "r", SpecPath: "jobs.yaml", Jobs: map[string]ledger.JobStatus{}, After: map[string][]string{}}
	in.State.StartedAt = day
	files := pageFiles{}
	for i := range n {
		id := fmt.Sprintf("job-%03d", i)
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: id, Status: ledger.Success, Attempt: 1})
		in.Jobs[id] = ledger.JobStatus{
			ID: id, Status: ledger.Success, Attempts: 1, Runtime: "claude", Model: "m-1", StartedAt: at(float64(i)), EndedAt: at(float64(i + 3)), DurationMs: 3000,
			Checks: []ledger.Check{{Name: "go test", Command: "go test ./...", Kind: "run", Status: "passed", ExitCode: ptr(0), Output: id + "/checks/1.out"}},
		}
		if i > 2 {
			in.After[id] = []string{fmt.Sprintf("job-%03d", i/2)}
		}
		for _, name := range []string{"prompt.md", "output.md", "changes.patch", "diffstat.txt", "checks/1.out"} {
			files[id+"/"+name] = text
		}
		files[id+"/events.jsonl"] = strings.Repeat(`{"seq":2,"at":"2026-07-30T12:00:09.5Z","kind":"tool","tool":"Read","text":"old.go"}`+"\n", 300)
	}
	return in, files
}

func TestWhatOneLeavesOthersMayHave(t *testing.T) {
	for _, c := range []struct {
		needs  []int64
		budget int64
		want   int64
	}{
		{nil, 10, math.MaxInt64},
		{[]int64{3, 4}, 10, math.MaxInt64},
		{[]int64{100, 100}, 10, 5},
		{[]int64{100, 2, 100}, 10, 4},
	} {
		if got := level(c.needs, c.budget); got != c.want {
			t.Errorf("%v: %d, want %d", c.needs, got, c.want)
		}
	}
}

func TestAPageOfARunThatGoesOnSaysSo(t *testing.T) {
	in, files := pageSample()
	in.Standing, in.Now, in.Judgement, in.State.EndedAt, in.State.Verdict = Running, day.Add(time.Minute), nil, nil, ""
	page, err := Build(in).HTML(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Verdict: not ended", "Not ended: still running.", "No arbiter judged this run."} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func BenchmarkPageOfTwoHundredJobs(b *testing.B) {
	in, files := wide(200, strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 400))
	r := Build(in)
	for b.Loop() {
		if _, err := r.HTML(files); err != nil {
			b.Fatal(err)
		}
	}
}

// The graph is near however much there is to do.
func TestALongListOfNeedsIsFolded(t *testing.T) {
	in, files := pageSample()
	for i := range 20 {
		in.Checkout = append(in.Checkout, fmt.Sprintf("file %d changed", i))
		in.Judgement.Why = append(in.Judgement.Why, fmt.Sprintf("reason %d", i))
	}
	r := Build(in)
	page, err := r.HTML(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("<details><summary>And %d more</summary><ol class=\"needs\" start=\"11\">", len(r.NeedsPerson)-mostNeeds),
		`<li><a href="#verdict">and 16 more</a></li>`, "file 19 changed",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if what := broken(page); what != "" {
		t.Error(what)
	}
}
