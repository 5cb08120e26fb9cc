package arbiter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
)

// shelf is a Reader of a small fixed run.
type shelf struct{}

func (shelf) Line(job, path string, line int) (string, bool) {
	most := map[string]int{"src/x: y.go": 10, "/tree/x.go": 10, "output.md": 2, "orchestrate-review/a.b/output.md": 1}
	return "x", job == "a.b" && line <= most[path]
}

func (shelf) Laid(name string) (folder, job, file string) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(name, "/runs/r/worktrees/arbiter/"), "orchestrate-review/")
	if job, file, _ = strings.Cut(rest, "/"); !ok || file == "" {
		return "", "", ""
	}
	return "orchestrate-review", job, file
}
func (shelf) Artifact(job, path string) bool { return job == "a.b" && path == "report.md" }
func (shelf) Check(job, name string) bool    { return job == "a.b" && name == "unit: all" }
func (shelf) Commit(job, sha string) bool    { return job == "a.b" && sha == "abc1234" }

func TestCitationsAreLookedUp(t *testing.T) {
	for _, c := range []struct {
		kind, ref string
		found     bool
	}{
		{"file", "a.b:src/x: y.go:10", true},
		{"file", "a.b:src/x: y.go:2-10", true},
		{"file", "a.b:src/x: y.go:2-11", false},
		{"file", "a.b:src/x: y.go:10-2", false},
		{"file", "a.b:src/x: y.go:11", false},
		{"file", "a.b:src/x: y.go:0", false},
		{"file", "a.b:src/x: y.go:-1", false},
		{"file", "a.b:src/x: y.go", false},
		{"file", "a.b:src/x: y.go:", false},
		{"file", "other:src/x: y.go:1", false},
		{"file", "src/x: y.go:1", false},
		{"file", "", false},
		{"artifact", "a.b:report.md", true},
		{"artifact", "a.b:", false},
		{"artifact", "report.md", false},
		{"command", "a.b:unit: all", true},
		{"command", "a.b:unit", false},
		{"commit", "a.b:abc1234", true},
		{"commit", "abc1234", false},
		{"hearsay", "a.b:report.md", false},
		// Only the spelling is forgiven.
		{"file", "a.b:./src/x: y.go:10", true},
		{"file", "a.b:`src/x: y.go`:10", true},
		{"file", "`a.b:src/x: y.go:10`", true},
		{"file", "a.b:\"./src/x: y.go\":2-10", true},
		{"file", "a.b:src/sub/../x: y.go:L2-L10", true},
		{"file", "a.b:src/x: y.go:2–10", true},
		{"file", " a.b:src/x: y.go:3 ", true},
		{"file", "a.b:./src/x: y.go:11", false},
		{"file", "a.b:`src/other.go`:1", false},
		{"file", "a.b:../src/x: y.go:1", false},
		{"file", "a.b:/src/x: y.go:1", false},
		{"file", "a.b:/tree/x.go:1", true}, // the reader knows where that is
		{"file", "a.b:src/x: y.go:1-", false},
		{"file", "a.b:src/x: y.go:99999999999999999999", false},
		{"file", "a.b::1", false},
		{"file", ":src/x: y.go:1", false},
		{"file", "orchestrate-review/a.b/files/src/x: y.go:3", true},
		{"file", "a.b:orchestrate-review/a.b/files/src/x: y.go:3", true},
		{"file", "`/runs/r/worktrees/arbiter/orchestrate-review/a.b/files/src/x: y.go:3`", true},
		{"file", "/runs/r/worktrees/arbiter/orchestrate-review-2/a.b/files/src/x: y.go:3", false},
		{"file", "x/orchestrate-reviewFAKE/a.b/files/src/x: y.go:3", false},
		{"file", "orchestrate-review/a.b/output.md:1", true},
		{"file", "a.b:orchestrate-review/a.b/output.md:1", true},
		{"file", "orchestrate-review/a.b/output.md:2", false}, // the tree has a file of that name, with more lines
		{"file", "a.b:output.md:2", true},
		{"file", "other:orchestrate-review/a.b/files/src/x: y.go:3", false},
		{"file", "orchestrate-review/a.b/files/src/x: y.go:11", false},
		{"file", "orchestrate-review/other/files/src/x: y.go:3", false},
		{"artifact", "orchestrate-review/a.b/artifacts/report.md", true},
		{"artifact", "orchestrate-review/a.b/artifacts/gone.md", false},
		{"artifact", "a.b:./report.md", true},
		{"artifact", "a.b:`report.md`", true},
		{"artifact", "a.b:../report.md", false},
		{"artifact", "a.b:.", false},
		{"command", "a.b:`unit: all`", true},
		{"commit", "a.b:`abc1234`", true},
	} {
		v := Verdict{Jobs: []JobVerdict{{Job: "a.b", Verdict: "pass", Citations: []Citation{{c.kind, c.ref}}}}}
		if got := Verify(v, shelf{}); got[0].Citations[0].Found != c.found {
			t.Errorf("%s %q: found = %v", c.kind, c.ref, !c.found)
		}
	}
}

func TestWhatIsFoundIsRecordedPlainly(t *testing.T) {
	v := Verdict{Jobs: []JobVerdict{{
		Job: "a.b", Verdict: "pass", Assertions: []Assertion{{Name: "reads well", Holds: "yes"}},
		Citations: []Citation{
			{"file", "a.b:`./src/x: y.go`:L2-L10"},
			{"artifact", "a.b:./gone.md"},
			{"file", "a.b:orchestrate-review/a.b/files/src/x: y.go:3"},
			{"file", "/runs/r/worktrees/arbiter/orchestrate-review/a.b/output.md:1"},
		},
	}}}
	got := Verify(v, shelf{})
	want := []ledger.Citation{{Kind: "file", Ref: "a.b:src/x: y.go:2-10", Found: true}, {Kind: "artifact", Ref: "a.b:./gone.md"}, {Kind: "file", Ref: "a.b:src/x: y.go:3", Found: true}, {Kind: "file", Ref: "a.b:orchestrate-review/a.b/output.md:1", Found: true}}
	if diff := cmp.Diff(want, got[0].Citations); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]ledger.Assertion{{Name: "reads well", Holds: "yes"}}, got[0].Assertions); diff != "" {
		t.Error(diff)
	}
}
