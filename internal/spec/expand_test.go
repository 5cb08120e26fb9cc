package spec

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// patterned is a spec with defaults that leave each job to say its pattern.
func patterned(jobs ...string) string {
	return "version: 1\ndefaults: {timeout: 1m, expected_output: A list., task: scout}\njobs:\n" +
		"  - {id: list, prompt: List.}\n  - {id: prog, command: ['true'], effect: observe, task: mechanical}\n" +
		"  - " + strings.Join(jobs, "\n  - ") + "\n"
}

// wrongPatterns: jobs from line 6 on, and the one message that they must give.
var wrongPatterns = []struct {
	name  string
	jobs  []string
	at    string
	field string
	says  []string
}{
	{"unknown variable", []string{"{id: a, foreach: [x, y], prompt: 'See {{itme}}.'}"}, "6:43", "jobs[2].prompt", []string{"did you mean {{item}}?"}},
	{"no such field", []string{"{id: a, foreach: [{name: x}, {name: y}], prompt: '{{item.nam}}'}"}, "6:55", "jobs[2].prompt", []string{"item 1", `did you mean "name"?`}},
	{"field of a text", []string{"{id: a, foreach: [x, y], prompt: '{{item.name}}'}"}, "6:39", "jobs[2].prompt", []string{"is no mapping"}},
	{"a path that leads out", []string{"{id: a, foreach: [x, ../y], prompt: p, outputs: [{path: '{{item}}/o'}]}"}, "6:26", "jobs[2].foreach[1]", []string{"in outputs[0].path", "leads outside"}},
	{"an absolute path", []string{"{id: a, foreach: [/x], prompt: p, owned_paths: ['{{item}}/o']}"}, "6:23", "jobs[2].foreach[0]", []string{"in owned_paths[0]", "absolute"}},
	{"an item that is no folder", []string{"{id: a, foreach: [sub, nix], prompt: p, cwd: '{{item}}'}"}, "6:50", "jobs[2].cwd", []string{`for item 2, cwd "nix"`, "existing folder"}},
	{"a variable in a command", []string{"{id: a, foreach: [x], command: [echo, '{{item}}'], effect: observe, task: mechanical}"}, "6:44", "jobs[2].command[1]", []string{"$ORCHESTRATE_ITEM"}},
	{"a variable in a check", []string{"{id: a, foreach: [x], prompt: p, checks: ['test -f {{ item }}']}"}, "6:56", "jobs[2].checks[0]", []string{"$ORCHESTRATE_ITEM"}},
	{"a variable elsewhere", []string{"{id: a, foreach: [x], prompt: p, serialize: 'k{{number}}'}"}, "6:51", "jobs[2].serialize", []string{"{{number}} is not filled in here", "owned_paths"}},
	{"a variable in a prompt file", []string{"{id: a, foreach: [x], prompt_file: p.md}"}, "6:40", "jobs[2].prompt_file", []string{`"p.md", line 2, column 5`, "is no variable"}},
	{"dynamic: unknown variable", []string{"{id: a, foreach: {from_job: list, max: 2}, prompt: '{{nr}}'}"}, "6:57", "jobs[2].prompt", []string{"is no variable"}},
	{"no maximum", []string{"{id: a, foreach: {from_job: list}, prompt: p}"}, "6:22", "jobs[2].foreach.max", []string{"max is missing"}},
	{"too many items", []string{"{id: a, foreach: {from_job: list, max: 1001}, prompt: p}"}, "6:44", "jobs[2].foreach.max", []string{"from 1 to 1000"}},
	{"no items", []string{"{id: a, foreach: [], prompt: p}"}, "6:22", "jobs[2].foreach", []string{"1 to 1000 items"}},
	{"a null item", []string{"{id: a, foreach: [x, ~], prompt: p}"}, "6:26", "jobs[2].foreach[1]", []string{"found nothing", "a mapping"}},
	{"unknown list", []string{"{id: a, foreach: {from_job: lsit, max: 2}, prompt: p}"}, "6:33", "jobs[2].foreach.from_job", []string{`no job "lsit"`, `did you mean "list"?`}},
	{"its own list", []string{"{id: a, foreach: {from_job: a, max: 2}, prompt: p}"}, "6:33", "jobs[2].foreach.from_job", []string{"cannot come from itself"}},
	{"a bad path of the list", []string{"{id: a, foreach: {from_job: list, path: '$[', max: 2}, prompt: p}"}, "6:45", "jobs[2].foreach.path", []string{"no JSONPath"}},

	{"an output without a path", []string{"{id: a, foreach: [x, y], prompt: p, outputs: [{}]}"}, "6:51", "jobs[2].outputs[0].path", []string{"path is missing"}},
	{"outputs that are no list", []string{"{id: a, foreach: [x, y], prompt: p, outputs: {o: 1}}"}, "6:50", "jobs[2].outputs", []string{"a list"}},
	{"a prompt that is no text", []string{"{id: a, foreach: [x, y], prompt: {z: 1}}"}, "6:38", "jobs[2].prompt", []string{"a mapping"}},

	{"two patterns", []string{"{id: a, votes: {of: 3}, until_dry: {rounds: 2, key: k}, prompt: p}"}, "6:40", "jobs[2].until_dry", []string{"votes and until_dry do not go together"}},
	{"foreach and join", []string{"{id: a, foreach: [x], join: [list]}"}, "6:33", "jobs[2].join", []string{"foreach and join"}},
	{"more votes than there are", []string{"{id: a, votes: {of: 3, require: 4}, prompt: p}"}, "6:37", "jobs[2].votes.require", []string{"found 4", "at most of, which is 3"}},
	{"votes that write", []string{"{id: a, votes: {of: 3}, task: docs, effect: scoped-write, owned_paths: [x], overlap: accept, prompt: p}"}, "6:49", "jobs[2].effect", []string{"only judges"}},
	{"never dry", []string{"{id: a, until_dry: {rounds: 2, stop_after: 3, key: k}, prompt: p}"}, "6:48", "jobs[2].until_dry.stop_after", []string{"at most rounds"}},
	{"a bad key", []string{"{id: a, until_dry: {rounds: 2, key: '$.a['}, prompt: p}"}, "6:41", "jobs[2].until_dry.key", []string{"no JSONPath"}},
	{"join of more", []string{"{id: a, join: {of: [list, prog], require: 3}}"}, "6:47", "jobs[2].join.require", []string{"at most 2"}},
	{"join of nobody", []string{"{id: a, join: [lits]}"}, "6:20", "jobs[2].join[0]", []string{`no job "lits"`, `did you mean "list"?`}},

	{"join of itself", []string{"{id: a, join: [list, a]}"}, "6:26", "jobs[2].join[1]", []string{"a -> a"}},
	{"join that is no list", []string{"{id: a, join: list}"}, "6:19", "jobs[2].join", []string{"a list"}},
	{"a list of who waits for it", []string{"{id: b, prompt: p, depends_on: [a]}", "{id: a, foreach: {from_job: b, max: 2}, prompt: p}"}, "7:33", "jobs[3].foreach.from_job", []string{"wait for each other"}},

	{"no verifier", []string{"{id: a, prompt: p, repair: {verifier: chek}}", "{id: check, prompt: p, depends_on: [a]}"}, "6:43", "jobs[2].repair.verifier", []string{`no job "chek"`, `did you mean "check"?`}},
	{"verifies itself", []string{"{id: a, prompt: p, repair: {verifier: a}}"}, "6:43", "jobs[2].repair.verifier", []string{"cannot verify itself"}},
	{"verifies without seeing", []string{"{id: a, prompt: p, repair: {verifier: list}}"}, "6:43", "jobs[2].repair.verifier", []string{"does not depend on", "depends_on: [a]"}},
	{"a program verifies", []string{"{id: a, prompt: p, repair: {verifier: c}}", "{id: c, command: [x], effect: observe, task: mechanical, depends_on: [a]}"}, "6:43", "jobs[2].repair.verifier", []string{"plain program", "checks"}},
	{"a verifier that writes", []string{"{id: a, prompt: p, repair: {verifier: c}}", "{id: c, prompt: p, task: docs, effect: scoped-write, owned_paths: [x], depends_on: [a]}"}, "7:44", "jobs[3].effect", []string{"a verifier only judges"}},
	{"a verifier with votes", []string{"{id: a, prompt: p, repair: {verifier: c}}", "{id: c, prompt: p, votes: {of: 3}, depends_on: [a]}"}, "6:43", "jobs[2].repair.verifier", []string{"has votes of its own"}},
	{"a verifier that goes on", []string{"{id: a, prompt: p, repair: {verifier: c}}", "{id: c, prompt: p, continue: list, depends_on: [a]}"}, "6:43", "jobs[2].repair.verifier", []string{"has continue of its own"}},
	{"verifier of two", []string{"{id: a, prompt: p, repair: {verifier: c}}", "{id: b, prompt: p, repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [a, b]}"}, "7:43", "jobs[3].repair.verifier", []string{`the verifier of "a" already`}},
	{"repair of a program", []string{"{id: a, command: [x], effect: observe, task: mechanical, repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [a]}"}, "6:70", "jobs[2].repair", []string{"runs a plain program"}},
	{"repair of a judge", []string{"{id: a, prompt: p, task: review, repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [a]}"}, "6:46", "jobs[2].repair", []string{"a judge begins a fresh session"}},
	{"a knot around a repair", []string{"{id: a, prompt: p, repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [a, b]}", "{id: b, prompt: p, depends_on: [a]}"}, "8:37", "jobs[4].depends_on[0]", []string{"wait for each other", "b -> a"}},

	{"goes on with nobody", []string{"{id: a, prompt: p, continue: lits}"}, "6:34", "jobs[2].continue", []string{`no job "lits"`, `did you mean "list"?`}},
	{"goes on with itself", []string{"{id: a, prompt: p, continue: a}"}, "6:34", "jobs[2].continue", []string{"a -> a"}},
	{"goes on with a program", []string{"{id: a, prompt: p, continue: prog}"}, "6:34", "jobs[2].continue", []string{"plain program"}},
	{"a program goes on", []string{"{id: a, command: [x], effect: observe, task: mechanical, continue: list}"}, "6:72", "jobs[2].continue", []string{"plain program goes on with no session"}},
	{"goes on with votes", []string{"{id: v, prompt: p, votes: {of: 2}}", "{id: a, prompt: p, continue: v}"}, "7:34", "jobs[3].continue", []string{"holds no session", "v-1, v-2"}},
	{"goes on with a list", []string{"{id: v, prompt: p, foreach: [x, y]}", "{id: a, prompt: p, continue: v}"}, "7:34", "jobs[3].continue", []string{"name one of those jobs: v-x, v-y"}},
	{"two go on", []string{"{id: a, prompt: p, continue: list}", "{id: b, prompt: p, continue: list}"}, "7:34", "jobs[3].continue", []string{`the job "a" goes on with the session of "list" already`}},
	{"a judge goes on", []string{"{id: a, prompt: p, continue: list, task: audit}"}, "6:34", "jobs[2].continue", []string{"a judge begins a fresh session", "depends_on: [list]"}},
	{"votes go on", []string{"{id: a, prompt: p, continue: list, votes: {of: 2}}"}, "6:34", "jobs[2].continue", []string{"so does each vote"}},
	{"each goes on", []string{"{id: a, prompt: p, continue: list, foreach: [x]}"}, "6:34", "jobs[2].continue", []string{"by one job only"}},
	{"goes on elsewhere", []string{"{id: a, prompt: p, continue: list, cwd: sub}"}, "6:45", "jobs[2].cwd", []string{`cwd follows from "list"`}},
	{"goes on with a model", []string{"{id: a, prompt: p, continue: list, model: m}"}, "6:47", "jobs[2].model", []string{`model follows from "list"`}},
	{"goes on with a runtime", []string{"{id: a, prompt: p, continue: list, runtime: r}"}, "6:49", "jobs[2].runtime", []string{`runtime follows from "list"`}},
	{"goes on or falls back", []string{"{id: a, prompt: p, continue: list, fallback_runtime: [r]}"}, "6:58", "jobs[2].fallback_runtime", []string{`fallback_runtime follows from "list"`}},

	{"an id that a pattern makes", []string{"{id: a, prompt: p, votes: {of: 2}}", "{id: a-2, prompt: p}"}, "7:10", "jobs[3].id", []string{`"a-2" is already that of jobs[2] on line 6`}},
	{"an id that a round of work has", []string{"{id: x-1, prompt: p}", "{id: x, prompt: p, outputs: [{path: a.md}], repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [x]}", "{id: d, prompt: p, inputs: [{from_job: x, from_path: a.md}]}"}, "7:10", "jobs[3].id", []string{`"x-1" is already that of jobs[2] on line 6`}},
	{"an id that the last round of work has", []string{"{id: x-3, prompt: p}", "{id: x, prompt: p, task: docs, effect: scoped-write, owned_paths: [a.md], repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [x]}", "{id: d, prompt: p, task: docs, effect: scoped-write, owned_paths: [a.md], depends_on: [x], worktree: {base: 'job:x'}}"}, "7:10", "jobs[3].id", []string{`"x-3" is already that of jobs[2] on line 6`}},
	{"an id that a verification has", []string{"{id: c-3, prompt: p}", "{id: x, prompt: p, outputs: [{path: a.md}], repair: {verifier: c}}", "{id: c, prompt: p, depends_on: [x]}", "{id: d, prompt: p, inputs: [{from_job: c, from_path: a.md}]}"}, "8:10", "jobs[4].id", []string{`"c-3" is already that of jobs[2] on line 6`}},
	{"an id that gets too long", []string{"{id: " + strings.Repeat("a", 63) + ", prompt: p, votes: {of: 2}}"}, "6:10", "jobs[2].id", []string{"65 characters", "shorten"}},
	{"a mistake in each of a list", []string{"{id: a, foreach: [x, y, z], prompt: p, outputs: [{path: ../o}]}"}, "6:61", "jobs[2].outputs[0].path", []string{"has .. in it"}},
	{"what orchestrate writes", []string{"{id: a, prompt: p, pattern: {require: 2}}"}, "6:33", "jobs[2].pattern", []string{"jobs.yaml", "say foreach"}},
	{"what the worker form writes", []string{"{id: a, prompt: p, worker: {as_is: true}}"}, "6:32", "jobs[2].worker", []string{"only the worker form"}},
	{"a program's turns", []string{"{id: a, command: [x], effect: observe, task: mechanical, max_turns: 3}"}, "6:73", "jobs[2].max_turns", []string{"means nothing to runtime exec"}},
	{"too many jobs", []string{"{id: a, prompt: p, until_dry: {rounds: 50, key: k}, foreach: {from_job: list, max: 1000}}"}, "3:1", "jobs", []string{"come to 51002 jobs", "at most 10000"}},
	{"too many dependencies", []string{"{id: a, prompt: p, foreach: {from_job: list, max: 1000}}", "{id: b, prompt: p, depends_on: [a], foreach: {from_job: list, max: 1000}}"}, "3:1", "jobs", []string{"dependencies", "join"}},
}

func TestEachMistakeInAPatternIsSaidOnceWithItsPlace(t *testing.T) {
	for _, c := range wrongPatterns {
		t.Run(c.name, func(t *testing.T) {
			root := workspace(t, map[string]string{"sub/": "", "p.md": "One\n of {{nothing}}.\n"})
			text := patterned(c.jobs...)
			_, ds := parse(t, root, text)
			if len(ds) != 1 {
				t.Fatalf("%d diagnostics:\n%s", len(ds), Format(ds, []byte(text)))
			}
			d := ds[0]
			if at := fmt.Sprintf("%d:%d", d.Pos.Line, d.Pos.Col); c.field != "jobs" && at != c.at || d.Field != c.field {
				t.Errorf("at %s %s, want %s %s: %s", at, d.Field, c.at, c.field, d.Message)
			}
			for _, s := range c.says {
				if !strings.Contains(d.Message, s) {
					t.Errorf("%q does not say %q", d.Message, s)
				}
			}
		})
	}
}

// ids of all jobs of a spec.
func ids(s *Spec) (all []string) {
	for i := range s.Jobs {
		all = append(all, s.Jobs[i].ID)
	}
	return all
}

// jobOf is one job of a spec.
func jobOf(t *testing.T, s *Spec, id string) *Job {
	t.Helper()
	i := slices.IndexFunc(s.Jobs, func(j Job) bool { return j.ID == id })
	if i < 0 {
		t.Fatalf("there is no job %s in %v", id, ids(s))
	}
	return &s.Jobs[i]
}

func TestForeachNamesItsJobs(t *testing.T) {
	for list, want := range map[string]string{
		"[internal/spec, main.go]":          "a-internal-spec a-main.go",
		"[x, X]":                            "a-1 a-2", // not unique
		"[größe]":                           "a-1",     // letters would be lost
		"[x, 2]":                            "a-1 a-2",
		"[{name: x}, y]":                    "a-1 a-2",
		"[x, y, x.lock]":                    "a-1 a-2 a-3", // no id
		"[" + strings.Repeat("x", 63) + "]": "a-1",
		"{from_job: list, max: 3}":          "a-1 a-2 a-3",
	} {
		s := valid(t, workspace(t, nil), patterned("{id: a, prompt: p, foreach: "+list+"}"))
		if got := strings.Join(ids(s)[2:], " "); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
	s := valid(t, workspace(t, nil), patterned("{id: a, prompt: p, foreach: [x, x-1], votes: {of: 2}}"))
	if got := strings.Join(ids(s)[2:], " "); got != "a-1-1 a-1-2 a-1 a-2-1 a-2-2 a-2" {
		t.Errorf("an item that reads like a vote of another: %s", got)
	}
}

func TestForeachFillsIn(t *testing.T) {
	root := workspace(t, map[string]string{"src/a/": "", "src/b/": "", "p.md": "Look at {{item.dir}}, number {{number}}.\n"})
	s := valid(t, root, patterned(
		"{id: a, foreach: [{dir: src/a, n: 1.50}, {dir: 'src/b', n: '[x]'}], task: docs, effect: scoped-write, overlap: accept, cwd: '{{item.dir}}',"+
			" owned_paths: ['{{item.n}}/**'], outputs: [{path: 'o-{{number}}.md'}], expected_output: 'A text on {{item.dir}}.', prompt_file: p.md}",
		"{id: b, prompt: 'as it stands: {{item}}', depends_on: [a], inputs: [{from_job: a, from_path: o-1.md}]}",
	))
	a := jobOf(t, s, "a-2")
	if a.Prompt != "Look at src/b, number 2.\n" || a.Cwd != filepath.Join(root, "src", "b") || a.OwnedPaths[0] != `\[x\]/**` ||
		a.Outputs[0].Path != "o-2.md" || a.ExpectedOutput != "A text on src/b." {
		t.Errorf("%+v", a)
	}
	if got := string(jobOf(t, s, "a-1").Item.Value); got != `{"dir":"src/a","n":1.50}` {
		t.Errorf("the item is %s", got)
	}
	b := jobOf(t, s, "b")
	if b.Prompt != "as it stands: {{item}}" || cmp.Diff([]string{"a-1", "a-2"}, b.DependsOn) != "" || len(b.Inputs) != 2 {
		t.Errorf("%+v", b)
	}
}

func TestListOfAJobIsFilledInLater(t *testing.T) {
	root := workspace(t, nil)
	s := valid(t, root, patterned("{id: a, foreach: {from_job: list, path: $.m, max: 2}, task: docs, effect: scoped-write, cwd: '{{item.dir}}', owned_paths: ['x/{{item.dir}}/**'], prompt: 'See {{item.name}}.'}"))
	a := jobOf(t, s, "a-2")
	want := &Item{Of: "a", Number: 2, From: []string{"list"}, Path: "$.m", Max: 2}
	if diff := cmp.Diff(want, a.Item); diff != "" {
		t.Error(diff)
	}
	if a.Prompt != "See {{item.name}}." || a.Cwd != filepath.Join(root, "{{item.dir}}") || a.OwnedPaths[0] != "x/{{item.dir}}/**" || a.DependsOn[0] != "list" {
		t.Errorf("%+v", a)
	}
}

func TestRepairIsRoundsOfWorkAndFreshVerifications(t *testing.T) {
	s := valid(t, workspace(t, map[string]string{"p.md": "By default.\n"}), strings.Replace(patterned(
		"{id: x, prompt: p, runtime: r, model: m, fallback_runtime: [q], task: docs, effect: scoped-write, owned_paths: [x], outputs: [{path: x/o}], depends_on: [list], repair: {verifier: c, max: 1}}",
		"{id: c, prompt: c, task: review, depends_on: [x, list]}",
		"{id: next, prompt: n, inputs: [{from_job: x, from_path: x/o}], worktree: {base: 'job:x'}}",
	), "{timeout", "{prompt_file: p.md, timeout", 1))
	if got := strings.Join(ids(s)[2:], " "); got != "x-1 x-2 x c-1 c-2 c next" {
		t.Error(got)
	}
	x2 := jobOf(t, s, "x-2")
	if x2.Prompt != "" || x2.PromptFile != nil || x2.Continue != "x-1" || x2.Runtime != "r" || x2.Model != "m" || x2.Fallbacks != nil ||
		cmp.Diff([]string{"x-1", "c-1"}, x2.DependsOn) != "" || cmp.Diff(&Round{Rule: RuleFailed, Of: []string{"c-1"}}, x2.Round) != "" || len(x2.OwnedPaths) != 1 {
		t.Errorf("%+v", x2)
	}
	c2 := jobOf(t, s, "c-2")
	if c2.Continue != "" || c2.Prompt != "c" || !c2.Fresh() || cmp.Diff([]string{"x-2", "list"}, c2.DependsOn) != "" || c2.Round.Rule != RuleMended || *c2.Verdict != (Verdict{"verdict", "pass"}) {
		t.Errorf("%+v", c2)
	}
	x := jobOf(t, s, "x")
	if !x.Gathers() || !x.AfterAll || x.Exec() || x.Writes() || x.Runtime != "" || x.Prompt != "" || cmp.Diff([]string{"x-1", "c-1", "x-2", "c-2"}, x.DependsOn) != "" || cmp.Diff([]string{"x-1", "x-2"}, x.Gather.Work) != "" {
		t.Errorf("%+v", x)
	}
	if len(s.Warning) > 0 {
		t.Errorf("%v", s.Warning)
	}
}

func TestOnlyTheFirstRoundOfARepairBeginsWithAnEarlierSession(t *testing.T) {
	root := workspace(t, nil)
	s, ds := Parse(filepath.Join(root, "jobs.yaml"), []byte(patterned(
		"{id: x, prompt: p, runtime: claude, repair: {verifier: c}, worker: {as_is: true, resumes: {session: s-1, runtime: claude, cwd: /x, writes: false}}}",
		"{id: c, prompt: c, depends_on: [x]}",
	)), Options{Cwd: root, Worker: true})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if first := jobOf(t, s, "x-1").Worker; first == nil || first.Resumes == nil || first.Resumes.Session != "s-1" {
		t.Errorf("the first round: %+v", first)
	}
	for _, id := range []string{"x-2", "x-3"} {
		if j := jobOf(t, s, id); j.Worker == nil || !j.Worker.AsIs || j.Worker.Resumes != nil || j.Continue == "" {
			t.Errorf("%s goes on with %q and %+v", id, j.Continue, j.Worker)
		}
	}
}

func TestVotesRoundsAndJoin(t *testing.T) {
	s := valid(t, workspace(t, nil), patterned(
		"{id: v, prompt: p, votes: {of: 4}}",
		"{id: d, prompt: p, depends_on: [v], until_dry: {rounds: 3, key: k}}",
		"{id: f, prompt: p, foreach: [x, y]}",
		"{id: j, task: null, join: {of: [v, d, f], require: 3}}",
		"{id: k, command: [cat], effect: observe, task: mechanical, join: [f, list]}",
	))
	v := jobOf(t, s, "v")
	if v.Gather.Votes.Require != 3 || len(v.DependsOn) != 4 || jobOf(t, s, "v-4").Verdict == nil {
		t.Errorf("%+v", v)
	}
	d3 := jobOf(t, s, "d-3")
	if cmp.Diff([]string{"v", "d-1", "d-2"}, d3.DependsOn) != "" || cmp.Diff(&Round{Rule: RuleNotDry, Of: []string{"d-1", "d-2"}, Dry: &Dry{2, "k"}}, d3.Round) != "" {
		t.Errorf("%+v", d3)
	}
	j := jobOf(t, s, "j")
	if cmp.Diff([]string{"v", "d", "f-x", "f-y"}, j.DependsOn) != "" || !j.AfterAll || j.Require != 3 || j.Prompt == "" || j.Gathers() {
		t.Errorf("%+v", j)
	}
	if k := jobOf(t, s, "k"); len(k.Inputs) != 3 || k.AfterAll || k.Prompt != "" {
		t.Errorf("%+v", k)
	}
}

func TestContinueFollowsTheJobBefore(t *testing.T) {
	root := workspace(t, map[string]string{"sub/": ""})
	s := valid(t, root, "version: 1\ndefaults: {timeout: 1m, expected_output: e, runtime: d, model: dm, fallback_runtime: [q]}\njobs:\n"+
		"  - {id: c, prompt: p, continue: b, effect: observe, task: analysis}\n"+
		"  - {id: b, prompt: p, continue: a}\n"+
		"  - {id: a, prompt: p, runtime: r, agent: g, task: docs, effect: scoped-write, cwd: sub, owned_paths: [x], isolation: worktree, worktree: {setup: [make]}}\n")
	for _, id := range []string{"b", "c"} {
		j := jobOf(t, s, id)
		if j.Runtime != "r" || j.Agent != "g" || j.Model != "dm" || j.Cwd != filepath.Join(root, "sub") || j.Isolation != "worktree" || j.Fallbacks != nil || len(j.OwnedPaths) != 1 || len(j.Worktree.Setup) != 1 {
			t.Errorf("%+v", j)
		}
	}
	if b, c := jobOf(t, s, "b"), jobOf(t, s, "c"); b.Effect != "scoped-write" || b.Task != "docs" || c.Effect != "observe" || c.DependsOn[0] != "b" {
		t.Errorf("%+v\n%+v", b, c)
	}
}

func TestHostileListsEndWithABoundedAnswer(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct{ jobs, says string }{
		"a text over and over": {"{id: a, foreach: [" + long + "], prompt: '" + strings.Repeat("{{item}}", 10_000) + "'}", "more than 4194304 bytes"},
		"a long text each":     {"{id: a, foreach: [" + strings.Repeat("x, ", 999) + "x], prompt: '{{item}} " + long + "'}", "more than 33554432 bytes"},
		"a list over and over": {"{id: a, foreach: {from_job: list, max: 1000}, prompt: p}\n  - {id: b, prompt: p, depends_on: [" + strings.Repeat("a,", 100_000) + "]}", "dependencies or more"},
		"lists of lists":       {"{id: a, foreach: {from_job: list, max: 1000}, prompt: p}\n  - {id: b, foreach: {from_job: a, max: 1000}, prompt: p}", "dependencies or more"},
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := parse(t, workspace(t, nil), patterned(c.jobs))
			if len(ds) != 1 || !strings.Contains(ds[0].Message, c.says) {
				t.Errorf("%d: %.300v", len(ds), ds)
			}
		})
	}
}
