package spec

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// propertyPaths walks the schema: "budget.usd", "jobs[].checks[].run", …
func propertyPaths(t *testing.T) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	var walk func(node map[string]any, path string)
	walk = func(node map[string]any, path string) {
		if ref, ok := node["$ref"].(string); ok {
			walk(schemaNode(ref), path)
		}
		props, _ := node["properties"].(map[string]any)
		for name, p := range props {
			at := strings.TrimPrefix(path+"."+name, ".")
			out[at] = p.(map[string]any)
			walk(p.(map[string]any), at)
		}
		if items, ok := node["items"].(map[string]any); ok {
			walk(items, path+"[]")
		}
	}
	walk(loadSchema().Raw(), "")
	return out
}

// base is a valid spec with a place for one more field of each kind.
type base struct {
	id   string // of the first job, "" = a
	top  string // lines at the top level
	task string // lines of job a instead of the usual ones
	more string // further lines of job a
	next string // lines of job z instead of the usual ones
}

func (b base) text() string {
	task := b.task
	if task == "" {
		task = "task: scout, prompt: Look., timeout: 1m, expected_output: A list."
	}
	id, more := b.id, ""
	if id == "" {
		id = "a"
	}
	if b.more != "" {
		more = ", " + b.more
	}
	next := b.next
	if next == "" {
		next = "task: scout, prompt: Look., timeout: 1m, expected_output: A list., outputs: [{path: o.md}]"
	}
	return "version: 1\n" + b.top + "\njobs:\n  - {id: " + id + ", " + task + more + "}\n  - {id: z, " + next + "}\n"
}

const (
	writes   = "task: docs, effect: scoped-write, prompt: Write., timeout: 1m, expected_output: A text."
	verifies = "task: review, prompt: Look., timeout: 1m, expected_output: A list., depends_on: [a]"
	plain    = "runtime: exec, effect: observe, timeout: 1m, expected_output: A text., command: ['true']"
)

// propertyEffects shows, for every property of the schema, two specs that differ in it
// alone and must not mean the same.
var propertyEffects = map[string][2]base{
	"outcome":                     {{}, {top: "outcome: x"}},
	"constraints":                 {{}, {top: "constraints: [x]"}},
	"non_goals":                   {{}, {top: "non_goals: [x]"}},
	"acceptance":                  {{}, {top: "acceptance: [x]"}},
	"concurrency":                 {{}, {top: "concurrency: 7"}},
	"workspace_roots":             {{}, {top: "workspace_roots: [sub]"}},
	"base":                        {{}, {top: "base: main"}},
	"budget":                      {{}, {top: "budget: {usd: 1}"}},
	"budget.usd":                  {{}, {top: "budget: {usd: 1.5}"}},
	"budget.tokens":               {{}, {top: "budget: {tokens: 5}"}},
	"budget.wall":                 {{}, {top: "budget: {wall: 1h}"}},
	"arbiter":                     {{}, {top: "arbiter: {mode: checks-only}"}},
	"arbiter.runtime":             {{}, {top: "arbiter: {runtime: x}"}},
	"arbiter.model":               {{}, {top: "arbiter: {model: x}"}},
	"arbiter.timeout":             {{}, {top: "arbiter: {timeout: 3m}"}},
	"arbiter.mode":                {{}, {top: "arbiter: {mode: checks-only}"}},
	"arbiter.require_independent": {{}, {top: "arbiter: {require_independent: true}"}},
	"arbiter.max_evidence_bytes":  {{}, {top: "arbiter: {max_evidence_bytes: 65536}"}},
	"defaults":                    {{}, {top: "defaults: {effort: low}"}},
	"jobs":                        {{}, {more: "effort: low"}},
	"jobs[].id":                   {{}, {id: "b"}},
	"jobs[].prompt":               {{}, {task: "task: scout, prompt: Other., timeout: 1m, expected_output: A list."}},
	"jobs[].depends_on":           {{}, {more: "depends_on: [z]"}},
	"jobs[].runtime":              {{}, {more: "runtime: x"}},
	"jobs[].fallback_runtime":     {{}, {more: "fallback_runtime: [x]"}},
	"jobs[].fallback_runtime[].runtime": {
		{more: "fallback_runtime: [{runtime: x}]"},
		{more: "fallback_runtime: [{runtime: y}]"},
	},
	"jobs[].fallback_runtime[].model": {
		{more: "fallback_runtime: [{runtime: x}]"},
		{more: "fallback_runtime: [{runtime: x, model: y}]"},
	},
	"jobs[].agent":                {{}, {more: "agent: x"}},
	"jobs[].model":                {{}, {more: "model: x"}},
	"jobs[].effort":               {{}, {more: "effort: max"}},
	"jobs[].task":                 {{}, {task: "task: review, prompt: Look., timeout: 1m, expected_output: A list."}},
	"jobs[].importance":           {{}, {more: "importance: high"}},
	"jobs[].prompt_file":          {{}, {task: "task: scout, prompt_file: p.md, timeout: 1m, expected_output: A list."}},
	"jobs[].command":              {{task: plain}, {task: strings.Replace(plain, "'true'", "'false'", 1)}},
	"jobs[].skill":                {{}, {more: "skill: review-well"}},
	"jobs[].instructions":         {{}, {more: "instructions: [p.md]"}},
	"jobs[].cwd":                  {{}, {more: "cwd: sub"}},
	"jobs[].allowed_tools":        {{}, {more: "allowed_tools: []"}},
	"jobs[].disallowed_tools":     {{}, {more: "disallowed_tools: [x]"}},
	"jobs[].effect":               {{task: writes}, {task: strings.Replace(writes, "scoped-write", "observe", 1)}},
	"jobs[].untrusted":            {{}, {more: "untrusted: true"}},
	"jobs[].credentialed":         {{}, {more: "credentialed: true"}},
	"jobs[].approval":             {{}, {more: "approval: require"}},
	"jobs[].isolation":            {{}, {more: "isolation: worktree"}},
	"jobs[].owned_paths":          {{task: writes}, {task: writes, more: "owned_paths: [sub]"}},
	"jobs[].serialize":            {{}, {more: "serialize: x"}},
	"jobs[].overlap":              {{}, {more: "overlap: accept"}},
	"jobs[].inputs":               {{}, {more: "inputs: [{from_job: z}]"}},
	"jobs[].inputs[].from_job":    {{}, {more: "inputs: [{from_job: z}]"}},
	"jobs[].inputs[].from_path":   {{more: "inputs: [{from_job: z}]"}, {more: "inputs: [{from_job: z, from_path: o.md}]"}},
	"jobs[].inputs[].sha256":      {{more: "inputs: [{from_job: z}]"}, {more: "inputs: [{from_job: z, sha256: " + digest + "}]"}},
	"jobs[].outputs":              {{}, {more: "outputs: [{path: x}]"}},
	"jobs[].outputs[].path":       {{more: "outputs: [{path: x}]"}, {more: "outputs: [{path: y}]"}},
	"jobs[].outputs[].sha256":     {{more: "outputs: [{path: x}]"}, {more: "outputs: [{path: x, sha256: " + digest + "}]"}},
	"jobs[].timeout":              {{}, {task: "task: scout, prompt: Look., timeout: 2m, expected_output: A list."}},
	"jobs[].first_output_timeout": {{}, {more: "first_output_timeout: 5s"}},
	"jobs[].expected_output":      {{}, {task: "task: scout, prompt: Look., timeout: 1m, expected_output: Other."}},
	"jobs[].destructive":          {{task: writes}, {task: writes, more: "destructive: true"}},
	"jobs[].preview":              {{}, {more: "preview: x"}},
	"jobs[].rollback":             {{}, {more: "rollback: x"}},
	"jobs[].checks":               {{}, {more: "checks: [x]"}},
	"jobs[].checks[].name":        {{more: "checks: [{run: [x]}]"}, {more: "checks: [{run: [x], name: y}]"}},
	"jobs[].checks[].run":         {{more: "checks: [{run: [x]}]"}, {more: "checks: [{run: [y]}]"}},
	"jobs[].checks[].timeout":     {{more: "checks: [{run: [x]}]"}, {more: "checks: [{run: [x], timeout: 5s}]"}},
	"jobs[].checks[].assert":      {{more: "checks: [{assert: x}]"}, {more: "checks: [{assert: y}]"}},
	"jobs[].retry":                {{}, {more: "retry: {max_attempts: 2}"}},
	"jobs[].retry.max_attempts":   {{}, {more: "retry: {max_attempts: 2}"}},
	"jobs[].retry.backoff":        {{}, {more: "retry: {backoff: 1s}"}},
	"jobs[].retry.on":             {{}, {more: "retry: {on: [crash]}"}},
	"jobs[].max_output_bytes":     {{}, {more: "max_output_bytes: 5000"}},
	"jobs[].env_allow":            {{}, {more: "env_allow: [X]"}},
	"jobs[].worktree":             {{}, {more: "worktree: {copy: [.env]}"}},
	"jobs[].worktree.copy":        {{more: "worktree: {copy: [.env]}"}, {more: "worktree: {copy: [.env.local]}"}},
	"jobs[].worktree.setup":       {{}, {more: "worktree: {setup: [npm ci]}"}},
	"jobs[].worktree.setup[].name": {
		{more: "worktree: {setup: [{run: [x]}]}"},
		{more: "worktree: {setup: [{run: [x], name: y}]}"},
	},
	"jobs[].worktree.setup[].run": {
		{more: "worktree: {setup: [{run: [x]}]}"},
		{more: "worktree: {setup: [{run: [y]}]}"},
	},
	"jobs[].worktree.setup[].timeout": {
		{more: "worktree: {setup: [{run: [x]}]}"},
		{more: "worktree: {setup: [{run: [x], timeout: 5s}]}"},
	},
	"jobs[].max_turns":        {{}, {more: "max_turns: 7"}},
	"jobs[].continue":         {{}, {more: "continue: z"}},
	"jobs[].foreach":          {{}, {more: "foreach: [x]"}},
	"jobs[].foreach.from_job": {{more: "foreach: {from_job: z, max: 2}"}, {id: "b", more: "foreach: {from_job: z, max: 2}"}},
	"jobs[].foreach.path":     {{more: "foreach: {from_job: z, max: 2}"}, {more: "foreach: {from_job: z, max: 2, path: $.x}"}},
	"jobs[].foreach.max":      {{more: "foreach: {from_job: z, max: 2}"}, {more: "foreach: {from_job: z, max: 3}"}},
	"jobs[].votes":            {{}, {more: "votes: {of: 3}"}},
	"jobs[].votes.of":         {{more: "votes: {of: 3, require: 2}"}, {more: "votes: {of: 4, require: 2}"}},
	"jobs[].votes.require":    {{more: "votes: {of: 3}"}, {more: "votes: {of: 3, require: 3}"}},
	"jobs[].votes.field":      {{more: "votes: {of: 3}"}, {more: "votes: {of: 3, field: x}"}},
	"jobs[].votes.accept":     {{more: "votes: {of: 3}"}, {more: "votes: {of: 3, accept: x}"}},
	"jobs[].until_dry":        {{}, {more: "until_dry: {rounds: 3, key: x}"}},
	"jobs[].until_dry.rounds": {{more: "until_dry: {rounds: 3, key: x}"}, {more: "until_dry: {rounds: 4, key: x}"}},
	"jobs[].until_dry.key":    {{more: "until_dry: {rounds: 3, key: x}"}, {more: "until_dry: {rounds: 3, key: y}"}},
	"jobs[].until_dry.stop_after": {
		{more: "until_dry: {rounds: 3, key: x}"},
		{more: "until_dry: {rounds: 3, key: x, stop_after: 1}"},
	},
	"jobs[].repair": {{next: verifies}, {next: verifies, more: "repair: {verifier: z}"}},
	"jobs[].repair.verifier": {
		{next: verifies + "}\n  - {id: y, " + verifies, more: "repair: {verifier: z}"},
		{next: verifies + "}\n  - {id: y, " + verifies, more: "repair: {verifier: y}"},
	},
	"jobs[].repair.max":    {{next: verifies, more: "repair: {verifier: z}"}, {next: verifies, more: "repair: {verifier: z, max: 1}"}},
	"jobs[].repair.field":  {{next: verifies, more: "repair: {verifier: z}"}, {next: verifies, more: "repair: {verifier: z, field: x}"}},
	"jobs[].repair.accept": {{next: verifies, more: "repair: {verifier: z}"}, {next: verifies, more: "repair: {verifier: z, accept: x}"}},
	"jobs[].join":          {{}, {more: "join: [z]"}},
	"jobs[].join.of":       {{more: "join: {of: [z]}"}, {more: "join: {of: [z, y]}", next: verifies[:len(verifies)-len(", depends_on: [a]")] + "}\n  - {id: y, " + plain}},
	"jobs[].join.require":  {{more: "join: {of: [z]}"}, {more: "join: {of: [z], require: 1}"}},
	"jobs[].worktree.base": {
		{more: "depends_on: [z]", next: writes},
		{more: "worktree: {base: 'job:z'}", next: writes},
	},
}

const digest = "'0123456789012345678901234567890123456789012345678901234567890123'"

func TestEveryPropertyHasAnEffectOrIsRefused(t *testing.T) {
	root := workspace(t, map[string]string{"sub/": "", "p.md": "From a file.\n"})
	for path, node := range propertyPaths(t) {
		name, inDefaults := strings.CutPrefix(path, "defaults.")
		switch {
		case strings.HasPrefix(path, "jobs[].worker"), path == "jobs[].pattern": // nobody says these; see below
		case node["$ref"] == "#/$defs/reserved":
			field := path[strings.LastIndex(path, ".")+1:]
			if inDefaults {
				refused(t, root, base{top: "defaults: {" + field + ": {x: 1}}"}, path)
			} else {
				refused(t, root, base{more: field + ": [x]"}, path)
			}
		case path == "version":
			_, ds := parse(t, root, strings.Replace(base{}.text(), "version: 1", "version: 2", 1))
			if len(ds) != 1 || ds[0].Field != "version" {
				t.Errorf("version 2: %v", ds)
			}
		case inDefaults:
			defaultReaches(t, root, name)
		default:
			pair, ok := propertyEffects[path]
			if !ok {
				t.Errorf("%s: show what this property does in propertyEffects", path)
				continue
			}
			if before, after := resolved(t, root, pair[0].text()), resolved(t, root, pair[1].text()); before == after {
				t.Errorf("%s: accepted and ignored", path)
			}
		}
	}
}

// refused wants exactly the error "not available yet" at the field.
func refused(t *testing.T, root string, b base, path string) {
	t.Helper()
	_, ds := parse(t, root, b.text())
	want := strings.Replace(path, "jobs[]", "jobs[0]", 1)
	if len(ds) != 1 || ds[0].Field != want || !strings.Contains(ds[0].Message, "not available yet") {
		t.Errorf("%s: %v", path, ds)
	}
}

// defaultReaches wants a field in defaults to mean what it means in the job.
func defaultReaches(t *testing.T, root, name string) {
	t.Helper()
	pair, ok := propertyEffects["jobs[]."+name]
	if !ok || pair[1].more == "" {
		return // a field of the job's own line, shown below
	}
	second := "{id: z, task: scout, prompt: Look., timeout: 1m, expected_output: A list., outputs: [{path: o.md}]}"
	without := func(text string) string { return strings.Replace(text, "  - "+second+"\n", "", 1) }
	if strings.Contains(pair[1].more, "from_job") || strings.Contains(pair[1].more, "job:z") {
		return // a default input or base would be that of its own job: a cycle
	}
	own := resolved(t, root, without(pair[1].text()))
	inherited := base{top: "defaults: {" + pair[1].more + "}", task: pair[1].task}
	if diff := cmp.Diff(own, resolved(t, root, without(inherited.text()))); diff != "" {
		t.Errorf("defaults.%s: %s", name, diff)
	}
}

func resolved(t *testing.T, root, text string) string {
	t.Helper()
	out := valid(t, root, text).Resolved()
	return string(out)
}

func TestDefaultsOfTheJobsOwnLine(t *testing.T) {
	root := workspace(t, map[string]string{"p.md": "From a file.\n"})
	s := valid(t, root, `
version: 1
defaults: {task: review, timeout: 3m, expected_output: x, prompt_file: p.md, runtime: r, command: null, effect: observe}
jobs:
  - {id: a}
  - {id: b, task: scout, timeout: 1m, expected_output: y, prompt: own, runtime: null}
  - {id: c, runtime: exec, command: ["true"]}
`)
	a, b, c := s.Jobs[0], s.Jobs[1], s.Jobs[2]
	if a.Task != "review" || a.Timeout.String() != "3m0s" || a.ExpectedOutput != "x" || a.Prompt != "From a file.\n" || a.Runtime != "r" {
		t.Errorf("a does not take the defaults: %+v", a)
	}
	if b.Task != "scout" || b.Timeout.String() != "1m0s" || b.ExpectedOutput != "y" || b.Prompt != "own" || b.Runtime != "r" || b.PromptFile != nil {
		t.Errorf("b does not keep its own: %+v", b)
	}
	if !c.Exec() || c.PromptFile != nil {
		t.Errorf("c: %+v", c)
	}
}

// fieldNames are the schema's names of a resolved job or spec.
func fieldNames(paths map[string]map[string]any, prefix string) []string {
	var out []string
	for p, node := range paths {
		rest, ok := strings.CutPrefix(p, prefix)
		patterned := slices.Contains(append(kinds[:], "pattern", "worker"), rest) // expanded, or only where there is one
		if ok && !strings.ContainsAny(rest, ".[") && node["$ref"] != "#/$defs/reserved" && (prefix != "jobs[]." || !patterned) {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}

func TestSchemaAndResolvedNameTheSameFields(t *testing.T) {
	paths := propertyPaths(t)
	root := workspace(t, nil)
	spec := valid(t, root, job("inputs: [{from_job: b}]", "outputs: [{path: o}]", "fallback_runtime: [x]", "checks: [{run: [x]}]")+
		"  - {id: b, model: x, prompt: p, timeout: 1m, expected_output: x}\n")
	out := spec.Resolved()
	top := (&reader{}).document(out)
	first := func(m *tree, key string) *tree { return m.fields[key].items[0] }
	j := first(top, "jobs")
	for prefix, m := range map[string]*tree{
		"":                           top,
		"budget.":                    top.fields["budget"],
		"arbiter.":                   top.fields["arbiter"],
		"jobs[].":                    j,
		"jobs[].retry.":              j.fields["retry"],
		"jobs[].inputs[].":           first(j, "inputs"),
		"jobs[].outputs[].":          first(j, "outputs"),
		"jobs[].fallback_runtime[].": first(j, "fallback_runtime"),
	} {
		got := slices.Sorted(slices.Values(m.keys))
		want := slices.DeleteFunc(fieldNames(paths, prefix), func(s string) bool { return prefix == "" && s == "defaults" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", prefix, diff)
		}
	}
}

func TestSchemaIsJSONWithDescriptions(t *testing.T) {
	if !json.Valid(Schema()) {
		t.Fatal("not JSON")
	}
	for path, node := range propertyPaths(t) {
		if node["description"] == nil && node["title"] == nil && node["$ref"] == nil {
			t.Errorf("%s says nothing about itself", path)
		}
	}
}
