package report

import (
	"os"
	"path/filepath"
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

func TestThePageOfARunWithEverything(t *testing.T) {
	in, files := pageSample()
	got, err := Build(in).HTML(files)
	if err != nil {
		t.Fatal(err)
	}
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
