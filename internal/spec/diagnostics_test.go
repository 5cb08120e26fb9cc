package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// two is a spec of two jobs with extra lines for each.
func two(a, b string) string {
	return job(a) + "  - id: b\n    task: scout\n    prompt: Look.\n    timeout: 1m\n    expected_output: A list.\n" + indent([]string{b})
}

// mistakes: a spec, and the one message that it must give: position, field and
// parts of the text.
var mistakes = []struct {
	name, spec string
	at         string // line:col
	field      string
	says       []string
}{
	{"empty", "", "1:1", "", []string{"empty", "orchestrate init"}},
	{"only a comment", "# hello\n", "1:1", "", []string{"empty"}},
	{"null document", "~\n", "1:1", "", []string{"found nothing", "a mapping"}},
	{"a list", "- a\n", "1:1", "", []string{"found a list", "a mapping"}},
	{"broken YAML", "version: 1\njobs: [a\n", "3:1", "", []string{"not valid YAML"}},
	{"tab indent", "version: 1\njobs:\n\t- id: a\n", "3:1", "", []string{"spaces, not tabs"}},
	{"two documents", job() + "---\nversion: 1\n", "8:1", "", []string{"second YAML document"}},
	{"not UTF-8", "version: 1\noutcome: \xff\n", "2:10", "", []string{"0xff", "UTF-8"}},
	{"UTF-16", "\xff\xfev\x00", "1:1", "", []string{"UTF-8"}},
	{"control character", "version: 1\noutcome: a\x00b\n", "2:11", "", []string{"control character 0x00"}},
	{"duplicate key", job("task: scout"), "8:5", "", []string{`"task"`, "twice", "line 4"}},
	{"unquoted date", job("serialize: 2024-01-31"), "8:16", "", []string{"date", "2024-01-31", "quotes"}},
	{"merge key", "version: 1\njobs:\n  - &x {id: a, task: scout, prompt: p, timeout: 1m, expected_output: e}\n  - {<<: *x, id: b, task: scout, prompt: p, timeout: 1m, expected_output: e}\n", "4:6", "", []string{"merge keys", "defaults"}},
	{"alias in itself", "version: 1\njobs: &a [*a]\n", "2:11", "", []string{"*a", "its own anchor"}},
	{"unknown tag", job("serialize: !secret x"), "8:16", "", []string{"!secret", "not supported"}},
	{"no number", "version: 1\nbudget: {usd: .inf}\njobs: [{id: a, task: scout, prompt: p, timeout: 1m, expected_output: e}]\n", "2:15", "", []string{".inf", "finite"}},

	{"no version", "jobs: [{id: a, task: scout, prompt: p, timeout: 1m, expected_output: e}]\n", "1:1", "version", []string{"version is missing"}},
	{"null version", "version:\njobs: [{id: a, task: scout, prompt: p, timeout: 1m, expected_output: e}]\n", "1:9", "version", []string{"found nothing", "allowed: 1"}},
	{"no jobs", "version: 1\n", "1:1", "jobs", []string{"jobs is missing"}},
	{"empty jobs", "version: 1\njobs: []\n", "2:7", "jobs", []string{"one or more jobs"}},
	{"job is text", "version: 1\njobs: [a]\n", "2:8", "jobs[0]", []string{`found "a"`, "a mapping with an id"}},
	{"unknown top key", "verion: 2\n" + job(), "1:1", "verion", []string{`unknown key "verion"`, `did you mean "version"?`, "allowed: acceptance"}},
	{"unknown null key", job("timeuot:"), "8:5", "jobs[0].timeuot", []string{"unknown key", `did you mean "timeout"?`}},
	{"id in defaults", "version: 1\ndefaults: {id: x}\njobs: [{id: a, task: scout, prompt: p, timeout: 1m, expected_output: e}]\n", "2:12", "defaults.id", []string{"cannot have a default"}},
	{"wrong type", job("depends_on: b"), "8:17", "jobs[0].depends_on", []string{`found "b"`, "a list of texts"}},
	{"not a flag", job("untrusted: yes"), "8:16", "jobs[0].untrusted", []string{`found "yes"`, "true or false"}},
	{"enum slip", job("effort: hihg"), "8:13", "jobs[0].effort", []string{`found "hihg"`, "minimal, low, medium, high, xhigh, max", `did you mean "high"?`}},
	{"reserved", job("network: 3"), "8:14", "jobs[0].network", []string{"network is not available yet"}},
	{"not votes", job("votes: 3"), "8:12", "jobs[0].votes", []string{"found the number 3", "a mapping with of, require, field and accept"}},
	{"a pattern in defaults", "version: 1\ndefaults: {votes: {of: 3}}\n" + job()[len("version: 1\n"):], "2:12", "defaults.votes", []string{"votes cannot have a default"}},
	{"clone", job("isolation: clone"), "8:16", "jobs[0].isolation", []string{"not available yet", "none, worktree"}},
	{"seconds as a number", strings.Replace(job(), "1m", "60", 1), "6:14", "jobs[0].timeout", []string{"the number 60", "90s, 10m or 1h30m, or 0"}},
	{"no unit", strings.Replace(job(), "1m", `"60"`, 1), "6:14", "jobs[0].timeout", []string{`found "60"`, "90s, 10m"}},
	{"too long", strings.Replace(job(), "1m", "24h1s", 1), "6:14", "jobs[0].timeout", []string{"24h1s", "at most 24h"}},
	{"overflow", strings.Replace(job(), "1m", "99999999999h", 1), "6:14", "jobs[0].timeout", []string{"99999999999h"}},
	{"no timeout", strings.Replace(job(), "    timeout: 1m\n", "", 1), "3:5", "jobs[0].timeout", []string{"timeout is missing", "defaults"}},
	{"null timeout", strings.Replace(job(), "timeout: 1m", "timeout: ~", 1), "6:14", "jobs[0].timeout", []string{"timeout is missing"}},
	{"late first output", job("first_output_timeout: 1m"), "8:27", "jobs[0].first_output_timeout", []string{"less than the job's timeout of 1m"}},
	{"long backoff", job("retry: {backoff: 2h}"), "8:22", "jobs[0].retry.backoff", []string{"2h", "at most 1h"}},
	{"retry on timeout", job("retry: {on: [timeout]}"), "8:18", "jobs[0].retry.on[0]", []string{"rate_limit, network, crash"}},
	{"small capture", job("max_output_bytes: 10"), "8:23", "jobs[0].max_output_bytes", []string{"from 4096"}},
	{"small evidence", "arbiter: {max_evidence_bytes: 10}\n" + job(), "1:31", "arbiter.max_evidence_bytes", []string{"from 32768"}},
	{"no expected output", strings.Replace(job(), "    expected_output: A list.\n", "", 1), "3:5", "jobs[0].expected_output", []string{"expected_output is missing"}},
	{"no task", strings.Replace(job(), "    task: scout\n", "", 1), "3:5", "jobs[0].task", []string{"task is missing", "pin a model"}},
	{"option as model", job("model: --yolo"), "8:12", "jobs[0].model", []string{"does not start with -"}},
	{"option as base", "base: --upload-pack=x\n" + job(), "1:7", "base", []string{"a git revision"}},
	{"environment value", job("env_allow: [A=b]"), "8:17", "jobs[0].env_allow[0]", []string{"the name of an environment variable"}},

	{"id with a slash", strings.Replace(job(), "id: a", "id: ../a", 1), "3:9", "jobs[0].id", []string{`found "../a"`, "letters, digits"}},
	{"id with two dots", strings.Replace(job(), "id: a", "id: a..b", 1), "3:9", "jobs[0].id", []string{"single dots"}},
	{"id too long", strings.Replace(job(), "id: a", "id: "+strings.Repeat("a", 65), 1), "3:9", "jobs[0].id", []string{"1 to 64"}},
	{"id is a number", strings.Replace(job(), "id: a", "id: 12", 1), "3:9", "jobs[0].id", []string{"the number 12"}},
	{"id of a folder", strings.Replace(job(), "id: a", "id: Arbiter", 1), "3:9", "jobs[0].id", []string{"folder of the run directory"}},
	{"id of a file", strings.Replace(job(), "id: a", "id: State.json", 1), "3:9", "jobs[0].id", []string{"file name of the run directory"}},
	{"id of a device", strings.Replace(job(), "id: a", "id: nul.txt", 1), "3:9", "jobs[0].id", []string{"device name on Windows"}},
	{"id of a lock", strings.Replace(job(), "id: a", "id: x.lock", 1), "3:9", "jobs[0].id", []string{".lock"}},
	{"id of an attempt", strings.Replace(job(), "id: a", "id: x.a2", 1), "3:9", "jobs[0].id", []string{".a<digits>"}},
	{"same id", strings.Replace(two("", ""), "id: b", "id: A", 1), "9:9", "jobs[1].id", []string{"jobs[0] on line 3", "ignoring case"}},
	{"unknown job", job("depends_on: [b]"), "8:18", "jobs[0].depends_on[0]", []string{`no job "b"`, "allowed: a"}},
	{"unknown input", job("inputs: [{from_job: b}]"), "8:25", "jobs[0].inputs[0].from_job", []string{`no job "b"`}},
	{"waits for itself", job("depends_on: [a]"), "8:18", "jobs[0].depends_on[0]", []string{"a -> a"}},
	{"cycle by inputs", two("depends_on: [b]", "inputs: [{from_job: a}]"), "14:25", "jobs[1].inputs[0].from_job", []string{"a -> b -> a"}},

	{"unknown base", job("worktree: {base: 'job:b'}"), "8:22", "jobs[0].worktree.base", []string{`no job "b"`, "allowed: a"}},
	{"base without job:", two("", "worktree: {base: a}"), "14:22", "jobs[1].worktree.base", []string{`found "a"`, "job:<id>"}},
	{"its own base", job("worktree: {base: 'job:a'}"), "8:22", "jobs[0].worktree.base", []string{"a -> a"}},
	{"cycle by base", two("depends_on: [b]", "worktree: {base: 'job:a'}"), "14:22", "jobs[1].worktree.base", []string{"a -> b -> a"}},
	{"base that observes", two("", "worktree: {base: 'job:a'}"), "14:22", "jobs[1].worktree.base", []string{`"a" only observes`, "a job that writes"}},
	{"base in the checkout", strings.Replace(two("effect: scoped-write\nowned_paths: [x]\nisolation: none", "worktree: {base: 'job:a'}"), "task: scout", "task: docs", 1), "16:22", "jobs[1].worktree.base", []string{`"a" works in the shared checkout`, "isolation"}},
	{"worktree and isolation none", job("isolation: none", "worktree: {copy: [.env]}"), "9:15", "jobs[0].worktree", []string{"isolation is none", "remove one"}},
	{"worktree is text", job("worktree: x"), "8:15", "jobs[0].worktree", []string{`found "x"`, "copy, setup and base"}},
	{"worktree slip", job("worktree: {set_up: [x]}"), "8:16", "jobs[0].worktree.set_up", []string{"unknown key", `did you mean "setup"?`}},
	{"absolute copy", job("worktree: {copy: [/etc/passwd]}"), "8:23", "jobs[0].worktree.copy[0]", []string{"is absolute"}},
	{"copy from above", job("worktree: {copy: [../.env]}"), "8:23", "jobs[0].worktree.copy[0]", []string{"has .. in it"}},
	{"copy of git", job("worktree: {copy: [.git/config]}"), "8:23", "jobs[0].worktree.copy[0]", []string{".git folder"}},
	{"copy of a bad glob", job("worktree: {copy: ['[a']}"), "8:23", "jobs[0].worktree.copy[0]", []string{"not a valid glob"}},
	{"set-up to judge", job("worktree: {setup: [{assert: x}]}"), "8:25", "jobs[0].worktree.setup[0].assert", []string{"unknown key", "allowed: name, run, timeout"}},
	{"set-up of nothing", job("worktree: {setup: [{name: x}]}"), "8:24", "jobs[0].worktree.setup[0].run", []string{"run is missing"}},
	{"set-up without a program", job("worktree: {setup: [{run: ['']}]}"), "8:31", "jobs[0].worktree.setup[0].run[0]", []string{"name is empty"}},
	{"long set-up", job("worktree: {setup: [{run: [x], timeout: 25h}]}"), "8:44", "jobs[0].worktree.setup[0].timeout", []string{"at most 24h"}},

	{"cwd that is not there", job("cwd: nowhere"), "8:10", "jobs[0].cwd", []string{"no such file"}},
	{"cwd is a file", job("cwd: file.md"), "8:10", "jobs[0].cwd", []string{"is not a folder"}},
	{"cwd outside", job("cwd: .."), "8:10", "jobs[0].cwd", []string{"outside the workspace roots"}},
	{"cwd by a link", job("cwd: way-out"), "8:10", "jobs[0].cwd", []string{"outside the workspace roots"}},
	{"root not there", "workspace_roots: [nowhere]\n" + job(), "1:19", "workspace_roots[0]", []string{"no such file"}},
	{"absolute output", job("outputs: [{path: /etc/x}]"), "8:22", "jobs[0].outputs[0].path", []string{"is absolute"}},
	{"drive output", job(`outputs: [{path: "C:\\x"}]`), "8:22", "jobs[0].outputs[0].path", []string{"is absolute"}},
	{"output above", job("outputs: [{path: a/../../x}]"), "8:22", "jobs[0].outputs[0].path", []string{"has .. in it"}},
	{"output is cwd", job("outputs: [{path: ./}]"), "8:22", "jobs[0].outputs[0].path", []string{"the folder itself"}},
	{"output twice", job("outputs: [{path: x}, {path: ./x}]"), "8:33", "jobs[0].outputs[1].path", []string{"listed twice"}},
	{"output by a link", writer("outputs: [{path: way-out/x}]"), "9:22", "jobs[0].outputs[0].path", []string{"symbolic link"}},
	{"input above", two("", "inputs: [{from_job: a, from_path: ../x}]"), "14:39", "jobs[1].inputs[0].from_path", []string{"has .. in it"}},
	{"owned above", writer(`owned_paths: ["../**"]`), "9:19", "jobs[0].owned_paths[0]", []string{"has .. in it"}},
	{"owned git", writer("owned_paths: [.git/hooks]"), "9:19", "jobs[0].owned_paths[0]", []string{".git folder"}},
	{"owned by a link", writer(`owned_paths: ["way-out/**"]`), "9:19", "jobs[0].owned_paths[0]", []string{"symbolic link"}},
	{"bad glob", writer(`owned_paths: ["src/[a"]`), "9:19", "jobs[0].owned_paths[0]", []string{"not a valid glob"}},
	{"bad digest", job("outputs: [{path: x, sha256: ABC}]"), "8:33", "jobs[0].outputs[0].sha256", []string{"64 lower-case"}},

	{"no prompt", strings.Replace(job(), "    prompt: Look.\n", "", 1), "3:5", "jobs[0].prompt", []string{"prompt is missing", "depends_on"}},
	{"blank prompt", strings.Replace(job(), "Look.", `" "`, 1), "5:13", "jobs[0].prompt", []string{"text that is not empty"}},
	{"two prompts", job("prompt_file: file.md"), "8:18", "jobs[0].prompt_file", []string{"both given"}},
	{"no prompt file", job("instructions: [nope.md]"), "8:20", "jobs[0].instructions[0]", []string{"no such file"}},
	{"prompt file by a link", job("instructions: [way-out/x.md]"), "8:20", "jobs[0].instructions[0]", []string{"outside the spec's folder"}},
	{"absolute file", job("instructions: [/etc/passwd]"), "8:20", "jobs[0].instructions[0]", []string{"is absolute"}},
	{"folder as file", job("instructions: [sub]"), "8:20", "jobs[0].instructions[0]", []string{"is a folder"}},
	{"binary file", job("instructions: [binary]"), "8:20", "jobs[0].instructions[0]", []string{"line 2", "0xff"}},
	{"empty prompt file", strings.Replace(job(), "prompt: Look.", "prompt_file: empty.md", 1), "5:18", "jobs[0].prompt_file", []string{"is empty"}},
	{"skill file", job("skill: skills/x.md"), "8:12", "jobs[0].skill", []string{"no such file"}},

	{"exec without command", strings.Replace(writer("runtime: exec"), "    prompt: Write.\n", "", 1), "3:5", "jobs[0].command", []string{"command is missing"}},
	{"command elsewhere", strings.Replace(job("runtime: x", "command: [x]"), "    prompt: Look.\n", "", 1), "8:14", "jobs[0].command", []string{"runtime exec"}},
	{"exec with prompt", writer("runtime: exec", "command: [x]"), "6:13", "jobs[0].prompt", []string{"prompt means nothing"}},
	{"exec with model", strings.Replace(writer("runtime: exec", "command: [x]", "model: m"), "    prompt: Write.\n", "", 1), "10:12", "jobs[0].model", []string{"model means nothing"}},
	{"exec without effect", "version: 1\njobs: [{id: a, runtime: exec, command: [x], timeout: 1m, expected_output: e}]\n", "2:8", "jobs[0].effect", []string{"effect is missing", "observe, scoped-write"}},
	{"exec as fallback", job("fallback_runtime: [exec]"), "8:24", "jobs[0].fallback_runtime[0]", []string{"cannot take over"}},
	{"model of a placeholder", job("fallback_runtime: [{runtime: <any>, model: m}]"), "8:48", "jobs[0].fallback_runtime[0].model", []string{"only its own runtime"}},
	{"exec as arbiter", "arbiter: {runtime: exec}\n" + job(), "1:20", "arbiter.runtime", []string{"cannot review"}},

	{"docs without effect", strings.Replace(writer(), "    effect: scoped-write\n", "", 1), "3:5", "jobs[0].effect", []string{"effect is missing", "docs"}},
	{"scout that writes", job("effect: scoped-write", "owned_paths: [x]"), "8:13", "jobs[0].effect", []string{"task scout", "do not agree"}},
	{"implement that observes", strings.Replace(job("effect: observe"), "scout", "implement", 1), "8:13", "jobs[0].effect", []string{"do not agree"}},
	{"destructive observer", job("destructive: true"), "8:18", "jobs[0].destructive", []string{"do not agree"}},
	{"R2 without check", strings.Replace(writer(), "scoped-write", "high-impact-write", 1), "3:5", "jobs[0].checks", []string{"at least one check", "high-impact-write"}},
	{"R2 with an assert only", writer("untrusted: true", "checks: [{assert: x}]"), "10:13", "jobs[0].checks", []string{"at least one check", "untrusted"}},
	{"R2 not isolated", writer("untrusted: true", "isolation: none", "owned_paths: [x]", "checks: [x]"), "10:16", "jobs[0].isolation", []string{"isolation: none is not allowed", "untrusted"}},
	{"whole cwd not isolated", writer("isolation: none"), "9:16", "jobs[0].isolation", []string{"whole cwd"}},
	{"check of both kinds", job("checks: [{run: [x], assert: y}]"), "8:14", "jobs[0].checks[0]", []string{"not both"}},
	{"check of no kind", job("checks: [{name: y}]"), "8:14", "jobs[0].checks[0]", []string{"needs run"}},
	{"assert with timeout", job("checks: [{assert: y, timeout: 1m}]"), "8:35", "jobs[0].checks[0].timeout", []string{"no timeout of its own"}},
	{"misspelt check", job("checks: [{rnu: [x], assert: y}]"), "8:15", "jobs[0].checks[0].rnu", []string{`did you mean "run"?`}},
}

// disk is the workspace that the mistakes are made in.
func disk(t *testing.T) string {
	t.Helper()
	outside := workspace(t, map[string]string{"x.md": "Outside.\n"})
	root := workspace(t, map[string]string{
		"file.md": "Text.\n", "sub/": "", "binary": "a\n\xff", "empty.md": " \n",
	})
	if err := os.Symlink(outside, filepath.Join(root, "way-out")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	return root
}

func TestEachMistakeIsSaidOnceWithItsPlace(t *testing.T) {
	root := disk(t)
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			s, ds := parse(t, root, m.spec)
			if s != nil {
				t.Error("a spec came back beside the error")
			}
			if len(ds) != 1 {
				t.Fatalf("%d diagnostics, want 1:\n%s", len(ds), Format(ds, []byte(m.spec)))
			}
			d := ds[0]
			if at := fmt.Sprintf("%d:%d", d.Pos.Line, d.Pos.Col); at != m.at || d.Field != m.field {
				t.Errorf("at %s %s, want %s %s: %s", at, d.Field, m.at, m.field, d.Message)
			}
			for _, part := range m.says {
				if !strings.Contains(d.Message, part) {
					t.Errorf("%q does not say %q", d.Message, part)
				}
			}
			if d.Rule == "" || d.Pos.File == "" {
				t.Errorf("no rule or file: %+v", d)
			}
		})
	}
}

func TestWarningsAndAdvice(t *testing.T) {
	root := disk(t)
	arbiter := "arbiter: {mode: required}\n"
	for name, c := range map[string]struct{ spec, field, says string }{
		"push in a check":    {arbiter + job("checks: [git push origin HEAD]"), "jobs[0].checks[0]", `"git push"`},
		"delete in a check":  {arbiter + job("checks: [{run: [rm, -rf, build]}]"), "jobs[0].checks[0]", `"rm -rf"`},
		"publish in command": {arbiter + "version: 1\njobs: [{id: a, command: [npm, publish], effect: scoped-write, timeout: 1m, expected_output: e}]\n", "jobs[0].command", `"npm publish"`},
		"deploy script":      {arbiter + job("checks: [./deploy.sh]"), "jobs[0].checks[0]", "deploy"},
		"no preview":         {arbiter + strings.Replace(writer(), "scoped-write", "external-destructive", 1), "jobs[0].id", "preview"},
		"undeclared output":  {two("outputs: [{path: report.md}]", "inputs: [{from_job: a, from_path: reprot.md}]"), "jobs[1].inputs[0].from_path", `did you mean "report.md"?`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(c.spec, arbiter+"version: 1\n", "version: 1\n"+arbiter, 1)
			s := valid(t, root, text)
			if len(s.Warning) != 1 || s.Warning[0].Field != c.field || !strings.Contains(s.Warning[0].Message, c.says) {
				t.Errorf("warnings: %v", s.Warning)
			}
			if len(s.Advice) != 0 {
				t.Errorf("advice: %v", s.Advice)
			}
		})
	}
	if s := valid(t, root, job()); len(s.Advice) != 1 || s.Advice[0].Rule != "gain" {
		t.Errorf("one job: %v", s.Advice)
	}
	if s := valid(t, root, strings.Replace(two("", ""), "1m", "0", 1)); len(s.Advice) != 1 || !strings.Contains(s.Advice[0].Message, "24h") {
		t.Errorf("timeout 0: %v", s.Advice)
	}
}

func TestHarmlessCommandsAreNotWarnedAbout(t *testing.T) {
	for _, text := range []string{"go test ./...", "git status --porcelain", "git diff", "npm run test", "rm file", "make build", "echo pushing", "grep -r publish .", "helm lint", "go test ./deploy/...", "kubectl get deploy", "rmdir x"} {
		if m := hazard.FindString(text); m != "" {
			t.Errorf("%q: %q", text, m)
		}
	}
	for _, text := range []string{"cd x && git -C y push", "sh -c 'rm -fr x'", "make deploy", "kubectl apply -f x", "terraform destroy", "/usr/bin/git push", "cd x; bin/deploy.sh prod"} {
		if hazard.FindString(text) == "" {
			t.Errorf("%q is not noticed", text)
		}
	}
}

func TestSetUpThatPublishesIsWarnedAbout(t *testing.T) {
	s := valid(t, workspace(t, nil), job(`worktree: {setup: [npm ci, {run: [git, push]}]}`))
	if len(s.Warning) != 1 || s.Warning[0].Field != "jobs[0].worktree.setup[1]" || !strings.Contains(s.Warning[0].Message, "this set-up command seems to push") {
		t.Errorf("%v", s.Warning)
	}
}

func TestUsableIDs(t *testing.T) {
	for _, id := range []string{"a", "A-b_c.d", "1", "checks", "con-text", "x.able", "a.a1b", "arbiter2", strings.Repeat("x", 64)} {
		valid(t, workspace(t, nil), strings.Replace(job(), "id: a", fmt.Sprintf("id: %q", id), 1))
	}
}

func TestLimitsOfSize(t *testing.T) {
	root := workspace(t, nil)
	long := job() + strings.Repeat("# comment\n", MaxBytes/10)
	if _, ds := parse(t, root, long); len(ds) != 1 || !strings.Contains(ds[0].Message, "4 MiB") {
		t.Errorf("too long: %v", ds)
	}
	must(t, os.WriteFile(filepath.Join(root, "jobs.yaml"), []byte(long), 0o600))
	if _, ds := Load(filepath.Join(root, "jobs.yaml"), Options{}); len(ds) != 1 || !strings.Contains(ds[0].Message, "4 MiB") {
		t.Errorf("too long from disk: %v", ds)
	}
	if _, ds := Load(filepath.Join(root, "none.yaml"), Options{}); len(ds) != 1 || ds[0].Message != "no such file" {
		t.Errorf("not there: %v", ds)
	}
}

func TestAliasBombIsRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/alias-bomb.yaml")
	must(t, err)
	if len(data) != 306 {
		t.Fatalf("the bomb has %d bytes", len(data))
	}
	_, ds := Parse("bomb.yaml", data, Options{Cwd: workspace(t, nil)})
	if len(ds) != 1 || ds[0].Rule != "alias" {
		t.Errorf("%v", ds)
	}
	// What it costs is counted, not timed: the document is never expanded.
	if n := testing.AllocsPerRun(1, func() { Parse("bomb.yaml", data, Options{}) }); n > 5000 {
		t.Errorf("%v allocations", n)
	}
}

func TestHostileDocumentsEndWithABoundedAnswer(t *testing.T) {
	unknown, keys := "version: 1\njobs:\n", "version: 1\n"
	for i := range 5000 {
		unknown += fmt.Sprintf(" - {id: j%d, depends_on: [x%d]}\n", i, i)
		keys += fmt.Sprintf("k%d: 1\n", i)
	}
	for name, text := range map[string]string{
		"unknown jobs": unknown,
		"unknown keys": keys,
		"empty jobs":   "version: 1\njobs: [" + strings.Repeat("{},", 5000) + "]",
		"same key":     "version: 1\n" + strings.Repeat("jobs: 1\n", 5000),
		"secrets":      "version: 1\noutcome: |\n" + strings.Repeat(" PLANT-123456\n", 5000),
		"deep":         strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"deeper":       strings.Repeat("[", 90000),
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := Parse("jobs.yaml", []byte(text), Options{Cwd: t.TempDir(), Secrets: planted})
			if len(ds) == 0 || len(ds) > maxErrors+1 {
				t.Fatalf("%d diagnostics", len(ds))
			}
			if len(ds) > maxErrors && !strings.Contains(Format(ds, nil), "more than 1000 mistakes") && name != "secrets" {
				t.Error("does not say that there are more")
			}
		})
	}
}

func TestAliasesShareValues(t *testing.T) {
	s := valid(t, workspace(t, nil), `
version: 1
jobs:
  - {id: a, task: scout, prompt: p, timeout: &t 1m, expected_output: e, outputs: &o [{path: x}]}
  - {id: b, task: scout, prompt: p, timeout: *t, expected_output: e, outputs: *o}
`)
	if s.Jobs[1].Timeout != s.Jobs[0].Timeout || s.Jobs[1].Outputs[0].Path != "x" {
		t.Errorf("%+v", s.Jobs[1])
	}
}

func TestJSONIsAccepted(t *testing.T) {
	s := valid(t, workspace(t, nil), "{\n\t\"version\": 1,\n\t\"jobs\": [\n\t\t{\"id\": \"a\", \"task\": \"scout\", \"prompt\": \"\\u00e9\\ttab\", \"timeout\": \"1m\", \"expected_output\": \"e\", \"model\": null}\n\t]\n}\n")
	if s.Jobs[0].Prompt != "é\ttab" {
		t.Errorf("%q", s.Jobs[0].Prompt)
	}
}

func TestFormatShowsTheLine(t *testing.T) {
	text := strings.Replace(job(), "task: scout", "task: scuot", 1)
	_, ds := Parse("jobs.yaml", []byte(text), Options{Cwd: workspace(t, nil)})
	golden(t, "format.txt", Format(ds, []byte(text)))
}

func TestWideGraph(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ndefaults: {task: scout, timeout: 1m, expected_output: e}\njobs:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  - {id: j%d, prompt: p", i)
		switch stage := i / 100; {
		case stage > 0 && i%100 == 0:
			fmt.Fprintf(&b, ", depends_on: &s%d [", stage)
			for d := (stage - 1) * 100; d < stage*100; d++ {
				fmt.Fprintf(&b, "j%d,", d)
			}
			b.WriteString("]")
		case stage > 0:
			fmt.Fprintf(&b, ", depends_on: *s%d", stage)
		}
		b.WriteString("}\n")
	}
	s := valid(t, workspace(t, nil), b.String())
	if len(s.Jobs) != 1000 || len(s.Jobs[999].DependsOn) != 100 {
		t.Errorf("%d jobs", len(s.Jobs))
	}
}
