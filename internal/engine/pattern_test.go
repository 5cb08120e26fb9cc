package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// listPlan has jobs of one list, each a writer in the folder and with the path that are given.
func listPlan(t *testing.T, cwd, owned string, n int) *Plan {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "b", ".git"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"within": "a", "away": t.TempDir()} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := &Plan{Root: root, Spec: &spec.Spec{WorkspaceRoots: []string{root}}}
	for i := range n {
		p.Spec.Jobs = append(p.Spec.Jobs, spec.Job{
			ID: "m-" + string(rune('1'+i)), Effect: "scoped-write", Cwd: filepath.Join(root, cwd), OwnedPaths: []string{owned}, Prompt: "mend {{item}}",
			Item: &spec.Item{Of: "m", Number: i + 1, From: []string{"list"}, Path: "$", Max: n},
		})
	}
	return p
}

func TestItemsAreFilledInAndHeldAgainstTheWorkspace(t *testing.T) {
	for name, c := range map[string]struct{ cwd, owned, items, trouble string }{
		"fine":                 {"", "{{item}}/**", `["a", "b"]`, ""},
		"a folder each":        {"{{item}}", "x/**", `["a", "b"]`, ""},
		"glob characters":      {"", "{{item}}/**", `["a*", "ab"]`, ""},
		"fewer":                {"", "{{item}}/**", `["a"]`, ""},
		"none":                 {"", "{{item}}/**", `[]`, ""},
		"the same file":        {"", "{{item}}/**", `["a", "a/b"]`, "items 1 and 2 may write the same files"},
		"a folder with /":      {"", "{{item}}", `["a/", "b/"]`, ""},
		"below, with /":        {"", "{{item}}", `["a/", "a/b"]`, "items 1 and 2 may write the same files"},
		"all":                  {"", "{{item}}/**", `["."]`, "is its whole cwd"},
		"all, with /":          {"", "{{item}}", `["./"]`, "is its whole cwd"},
		"a part of all":        {"", "{{item}}/r.txt", `[".", "a"]`, ""},
		"away by a link":       {"", "{{item}}/**", `["a", "away"]`, "leads out of its folder"},
		"up":                   {"", "{{item}}/**", `["a", "../b"]`, "leads outside"},
		"into git":             {"", "{{item}}/**", `["a", ".GIT"]`, "reaches into a .git folder"},
		"a folder that is not": {"{{item}}", "x/**", `["a", "c"]`, "does not lead to a folder"},
		"a cwd by a link":      {"{{item}}", "x/**", `["within", "b"]`, ""},
		"a cwd that leads out": {"{{item}}", "x/**", `["a", "away"]`, "outside the workspace roots"},
		"a cwd in git":         {"{{item}}", "x/**", `["a", ".git"]`, "reaches into a .git folder"},
		"the cwd itself":       {"{{item}}", "x/**", `["."]`, ""},
		"too many":             {"", "{{item}}/**", `["a", "b", "c"]`, "the list at $ has 3 items, max is 2"},
		"too large":            {"", "{{item}}/**", `["` + strings.Repeat("x", mostOfItem+1) + `"]`, "at most 65536 are allowed"},
		"a NUL":                {"", "{{item}}/**", `["a\u0000"]`, "NUL"},
	} {
		p := listPlan(t, c.cwd, c.owned, 2)
		items, err := itemsIn([]string{c.items}, p.Spec.Jobs[0].Item)
		var jobs map[string]*spec.Job
		if err == nil {
			jobs, err = fillAll(p.Spec.Jobs, ledger.Expanded{Of: "m", Items: items}, mostFilled)
		}
		if err == nil {
			err = p.admit(jobs)
		}
		if (err == nil) != (c.trouble == "") || err != nil && !strings.Contains(err.Error(), c.trouble) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(jobs) != len(items) {
			t.Errorf("%s: %d jobs of %d items", name, len(jobs), len(items))
		}
	}
}

// TestAllTextsOfAListAreBoundedTogether: each of them may be large, and is kept.
func TestAllTextsOfAListAreBoundedTogether(t *testing.T) {
	p := listPlan(t, "", "{{item}}/**", 2)
	x := ledger.Expanded{Of: "m", Items: []json.RawMessage{[]byte(`"a"`), []byte(`"b"`)}}
	size := 2 * len("mend a")
	if jobs, err := fillAll(p.Spec.Jobs, x, size); err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	if _, err := fillAll(p.Spec.Jobs, x, size-1); err == nil || !strings.Contains(err.Error(), "with item 2 the prompts") {
		t.Errorf("a byte too many: %v", err)
	}
}

// TestAListOnRecordIsFilledInAsItWasFound: also where its folder is reached by a link. One that
// cannot be filled in any more leaves the others alone.
func TestAListOnRecordIsFilledInAsItWasFound(t *testing.T) {
	p := listPlan(t, "{{item}}", "x/**", 2)
	for i := range p.Spec.Jobs {
		p.Jobs = append(p.Jobs, Planned{Job: &p.Spec.Jobs[i]})
	}
	p.fillKnown(map[string]ledger.Expanded{
		"m":     {Of: "m", Items: []json.RawMessage{[]byte(`"within"`)}},
		"other": {Of: "other", Items: []json.RawMessage{[]byte(`"../out"`)}},
	})
	if got, want := p.Jobs[0].Job.Cwd, filepath.Join(p.Root, "a"); got != want || itemText(p.Jobs[0].Job) != "within" {
		t.Errorf("the first works in %s for %q, want %s", got, itemText(p.Jobs[0].Job), want)
	}
	if !p.Jobs[1].Job.Item.Unknown() || p.Spec.Jobs[0].Item.Value != nil {
		t.Errorf("an item is known that is not on record, or the spec has changed: %+v", p.Jobs[1].Job.Item)
	}
	p = listPlan(t, "{{item}}", "x/**", 1)
	p.Jobs = []Planned{{Job: &p.Spec.Jobs[0]}}
	p.fillKnown(map[string]ledger.Expanded{"m": {Of: "m", Items: []json.RawMessage{[]byte(`"../out"`)}}})
	if !p.Jobs[0].Job.Item.Unknown() {
		t.Errorf("what cannot be filled in was: %+v", p.Jobs[0].Job)
	}
}

// TestFillingInLeavesTheSpecAlone: it is shared, and jobs.yaml is made from it.
func TestFillingInLeavesTheSpecAlone(t *testing.T) {
	p := listPlan(t, "{{item}}", "{{item}}/**", 1)
	raw := p.Spec.Jobs[0]
	j, err := fillJob(&p.Spec.Jobs[0], json.RawMessage(`"a"`))
	if err != nil {
		t.Fatal(err)
	}
	if j.Prompt != "mend a" || j.OwnedPaths[0] != "a/**" || j.Cwd != filepath.Join(p.Root, "a") || string(j.Item.Value) != `"a"` {
		t.Errorf("filled in: %+v", j)
	}
	if diff := cmp.Diff(raw, p.Spec.Jobs[0]); diff != "" || raw.Item.Value != nil || raw.OwnedPaths[0] != "{{item}}/**" {
		t.Errorf("the spec has changed:\n%s", diff)
	}
}

// TestAPromptSaysWhatIsMissingAndTheFormOfTheAnswer: of one who failed it names no file.
func TestAPromptSaysWhatIsMissingAndTheFormOfTheAnswer(t *testing.T) {
	j := &spec.Job{ID: "sum", Prompt: "sum up", Verdict: &spec.Verdict{Field: "verdict", Accept: "pass"}}
	got := []handed{{From: "a", Label: "final answer", Path: "/r/a"}, {From: "b", Label: "nothing: it is failed (timeout)"}}
	text := assemble(j, got, nil, placing{})
	for _, want := range []string{"- final answer of job `a`: `/r/a`\n", "- of job `b` nothing: it is failed (timeout)\n", "## The form of your answer", "`verdict` is \"pass\""} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestAPromptOfManyAnswersStaysSmall: beyond a bound answers are only named.
func TestAPromptOfManyAnswersStaysSmall(t *testing.T) {
	all := make([]handed, 500)
	for i := range all {
		all[i] = handed{From: "m", Label: "final answer", Path: "/r/m", Text: untrusted.From(strings.Repeat("x", inlineLimit))}
	}
	text := assemble(&spec.Job{ID: "sum", Prompt: "sum up"}, inBounds(all), nil, placing{})
	if got := strings.Count(text, "`/r/m`"); got != len(all) {
		t.Errorf("%d of %d are named", got, len(all))
	}
	if limit := inlineTotal + len(all)*100; len(text) > limit || len(text) < inlineTotal {
		t.Errorf("the prompt has %d bytes, at most %d and some text are meant to be in it", len(text), limit)
	}
}
