package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// readsBack wants a run's jobs.yaml to say what the spec says.
func readsBack(t require, s *Spec, root string) {
	t.Helper()
	out := s.Resolved()
	again, ds := Parse(filepath.Join(root, "run", "jobs.yaml"), out, Options{Cwd: root, Dir: s.Dir, Resolved: true})
	if len(ds) > 0 {
		t.Fatalf("the resolved spec is refused:\n%s\n%s", Format(ds, out), out)
	}
	if diff := cmp.Diff(s, again, sameSpec); diff != "" {
		t.Fatalf("%s\n%s", diff, out)
	}
}

// require is what tests of both kinds have.
type require interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestExpandedSpecReadsBackEqual(t *testing.T) {
	root := workspace(t, map[string]string{"src/a/": "", "src/b/": "", "p.md": "Look at {{item}}, \\{{item}}.\n"})
	readsBack(t, valid(t, root, patterned(
		"{id: w, foreach: [src/a, src/b], task: docs, effect: scoped-write, cwd: '{{item}}', owned_paths: ['{{item}}/x'], overlap: accept, prompt_file: p.md, repair: {verifier: c, max: 1, field: $.v, accept: ok}, max_turns: 9}",
		"{id: c, task: review, depends_on: [w], prompt: 'See \\{{x}} {{item}}.'}",
		"{id: n, foreach: [{a: 1.50, b: [x]}, 7, yes, 'a: b'], prompt: '{{item}}'}",
		"{id: d, foreach: {from_job: list, path: '$.m[*]', max: 2}, cwd: '{{item.dir}}', owned_paths: ['{{item.dir}}/**'], task: docs, effect: scoped-write, prompt: '{{item.x}}', votes: null, until_dry: {rounds: 2, key: k}}",
		"{id: v, foreach: {from_job: d, max: 2}, prompt: '{{item}}', votes: {of: 3, field: x}}",
		"{id: j, task: null, join: {of: [w, n, d, v], require: 2}}",
		"{id: k, prompt: more, continue: j}",
		"{id: l, command: [cat], effect: observe, task: null, join: [n]}",
		"{id: o, prompt: p, inputs: [{from_job: w}], worktree: {setup: [make]}}",
		"{id: m, prompt: p, continue: o}",
	)), root)
}

func TestWorkerFormReadsBackEqual(t *testing.T) {
	root := workspace(t, map[string]string{"p.txt": "-- a log\x1b[0m\n"})
	text := "version: 1\ndefaults: {timeout: 1m, expected_output: e}\njobs:\n" +
		"  - {id: a, task: docs, effect: high-impact-write, prompt: '--- as it is', worker: {as_is: true, resumes: {session: s-1, runtime: claude, cwd: /x, writes: true, run: /r, job: b, attempt: 2}}}\n" +
		"  - {id: b, prompt_file: p.txt, effect: scoped-write, worker: {as_is: true, command: 'git push \"$WORKER_PROMPT\"'}}\n"
	s, ds := Parse(filepath.Join(root, "jobs.yaml"), []byte(text), Options{Cwd: root, Worker: true})
	if len(ds) > 0 {
		t.Fatal(Format(ds, []byte(text)))
	}
	b := jobOf(t, s, "b")
	if !s.Worker || s.Arbiter.Mode != "checks-only" || !b.Exec() || b.Runtime != "exec" || b.Prompt != "-- a log\x1b[0m\n" || b.Task != "mechanical" || len(s.Warning) > 0 {
		t.Errorf("%+v %+v", s, b)
	}
	if a := jobOf(t, s, "a"); a.Worker.Resumes.Session != "s-1" || a.Worker.Resumes.Attempt != 2 {
		t.Errorf("%+v", a.Worker)
	}
	must(t, os.WriteFile(filepath.Join(root, "p.txt"), []byte("a log\n"), 0o600)) // which any spec may name
	s, _ = Parse(filepath.Join(root, "jobs.yaml"), []byte(text), Options{Cwd: root, Worker: true})
	readsBack(t, s, root)
}

// drawJob is a job with a pattern and dependencies on those before it.
func drawJob(t *rapid.T, n int) string {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, fmt.Sprint(name, n)) }
	each := pick("each", "", "", ", foreach: [x, y, x-1]", ", foreach: [{a: 1}, 2]", ", foreach: {from_job: list, max: 3}")
	kind := pick("kind", "", "", ", votes: {of: 2}", ", until_dry: {rounds: 3, key: k}", ", repair: {verifier: c%d, max: 1}", ", join: [list]")
	if strings.Contains(kind, "join") {
		each = ""
	}
	on := ""
	for i := range n {
		if rapid.Bool().Draw(t, fmt.Sprint("on", n, i)) {
			on += fmt.Sprintf(", j%d", i)
		}
	}
	job := fmt.Sprintf("{id: j%d, prompt: '%s', depends_on: [list%s]%s", n, pick("prompt", "p", "{{number}}"), on, each)
	if strings.Contains(kind, "%d") {
		return job + fmt.Sprintf(kind, n) + "}\n  - " + fmt.Sprintf("{id: c%d, prompt: c, depends_on: [j%d]}", n, n)
	}
	return job + kind + "}"
}

func TestExpansionsAreWholeAndReadBack(t *testing.T) {
	root := workspace(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		var jobs []string
		for n := range rapid.IntRange(1, 5).Draw(t, "jobs") {
			jobs = append(jobs, drawJob(t, n))
		}
		text := patterned(jobs...)
		s, ds := Parse(filepath.Join(root, "jobs.yaml"), []byte(text), Options{Cwd: root})
		if len(ds) > 0 {
			t.Fatalf("%s", Format(ds, []byte(text)))
		}
		seen := map[string]bool{}
		for i := range s.Jobs {
			if low := strings.ToLower(s.Jobs[i].ID); seen[low] {
				t.Fatalf("%s is there twice\n%s", low, text)
			} else {
				seen[low] = true
			}
		}
		for i := range s.Jobs {
			j := &s.Jobs[i]
			for _, id := range mentions(j) {
				if !seen[strings.ToLower(id)] {
					t.Fatalf("%s knows of %s, which is not there\n%s", j.ID, id, text)
				}
				if !slices.Contains(j.DependsOn, id) {
					t.Fatalf("%s knows of %s and does not wait for it\n%s", j.ID, id, text)
				}
			}
		}
		readsBack(t, s, root)
	})
}

// mentions are the jobs whose results one needs.
func mentions(j *Job) []string {
	all := slices.Clone(j.DependsOn)
	if j.Continue != "" {
		all = append(all, j.Continue)
	}
	if j.Round != nil {
		all = append(all, j.Round.Of...)
	}
	if j.Gather != nil {
		all = append(all, j.Gather.Members...)
	}
	if j.Item != nil && !j.Gathers() && j.Continue == "" {
		all = append(all, j.Item.From...)
	}
	return all
}

func TestLongListsCostWhatTheyAre(t *testing.T) {
	items := make([]string, 500)
	for i := range items {
		items[i] = fmt.Sprintf("unit-%03d", i)
	}
	root := workspace(t, map[string]string{"p.md": "Look at {{item}}. " + strings.Repeat("Carefully. ", 1000)})
	text := patterned("{id: a, foreach: [" + strings.Join(items, ", ") + "], prompt_file: p.md}")
	searched := 0
	s, ds := Parse(filepath.Join(root, "jobs.yaml"), []byte(text), Options{Cwd: root, Secrets: func(text string) []Secret {
		searched += len(text)
		return nil
	}})
	if len(ds) > 0 {
		t.Fatal(Format(ds, nil))
	}
	if len(s.Jobs) != 502 || !strings.HasPrefix(s.Jobs[501].Prompt, "Look at unit-499. ") {
		t.Errorf("%d jobs", len(s.Jobs))
	}
	if most := 3*len(text) + 2*12_000; searched > most {
		t.Errorf("%d bytes were searched for secrets, of %d: the same text again and again", searched, most)
	}
	if out := len(s.Resolved()); out > 502*2000 {
		t.Errorf("jobs.yaml has %d bytes: the prompt is written 500 times", out)
	}
	readsBack(t, s, root)
}

func TestSecretsInItemsAreFound(t *testing.T) {
	text := patterned("{id: a, foreach: [x, PLANT-123456], prompt: '{{item}}'}")
	_, ds := Parse("jobs.yaml", []byte(text), Options{Cwd: workspace(t, nil), Secrets: planted})
	if len(ds) != 1 || ds[0].Rule != "secret" || ds[0].Field != "jobs[2].foreach[1]" {
		t.Errorf("%v", ds)
	}
}

// wholePatterns are jobs without a mistake, one set for each pattern.
var wholePatterns = [][]string{
	{"{id: a, foreach: [x, y], prompt: '{{item}} {{number}}', outputs: [{path: 'o/{{item}}'}]}", "{id: b, join: [a]}"},
	{"{id: a, foreach: {from_job: list, path: $.m, max: 2}, cwd: '{{item.d}}', prompt: '{{item.p}}', votes: {of: 2}}"},
	{"{id: a, prompt: p, foreach: [{v: 1}, 2], repair: {verifier: c}}", "{id: c, prompt: '{{item}}', depends_on: [a]}"},
	{"{id: a, prompt: p, until_dry: {rounds: 3, key: '$.f[*].id'}}", "{id: b, prompt: q, continue: list}", "{id: d, prompt: r, continue: b, max_turns: 3}"},
}

func TestWholePatternsAreQuiet(t *testing.T) {
	for _, jobs := range wholePatterns {
		if s := valid(t, workspace(t, nil), patterned(jobs...)); len(s.Warning)+len(s.Advice) > 0 {
			t.Errorf("%v: %v %v", jobs, s.Warning, s.Advice)
		}
	}
}
