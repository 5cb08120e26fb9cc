//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/modelsim"
)

// skillGraph is one whose jobs need no agent of the session.
const skillGraph = `
version: 1
outcome: the notes are counted
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {runtime: claude}
jobs:
  - {id: count, runtime: exec, effect: observe, command: [wc, -l, one.txt]}
`

// follows is a model that takes the skill and does what it says, by the shell and by the
// server that comes with the plugin.
const follows = `
rules:` + hostedOthers + `
  - {name: host takes the skill, contains: Be thorough, turn: 0, do: [{tool: {names: [Skill], input: {skill: "orchestrate:orchestrate", args: jobs.yaml}}}]}
  - {name: host checks the program, contains: Be thorough, turn: 1, do: [{shell: orchestrate version --json}]}
  - {name: host plans, contains: Be thorough, turn: 2, do: [{tool: {names: [mcp__plugin_orchestrate_orchestrate__plan], input: {spec: jobs.yaml}}}]}
  - {name: host runs, contains: Be thorough, turn: 3, do: [{shell: orchestrate run jobs.yaml --detach --json}]}
  - {name: host waits, contains: Be thorough, turn: 4, do: [{shell: 'orchestrate wait {{find runId\\*":\s*\\*"([^"\\]+)}}'}]}
  - {name: host tells, contains: Be thorough, do: [{text: '{{find (?s)\*\*Orchestrate Result\*\*.*}}'}]}
`

// dispatches is a model that takes the skill and does its step 6: a job comes to the
// session, which has a subagent do it and hands in what that one said.
const dispatches = `
rules:` + hostedOthers + `
  - {name: agent, contains: Compare the two notes., do: [{text: "the notes differ in one word"}]}
  - {name: host runs, contains: /orchestrate, turn: 0, do: [{shell: orchestrate run jobs.yaml --agents agents.json --detach --json}]}
  - {name: host waits, contains: /orchestrate, turn: 1, do: [{shell: 'orchestrate wait --brief RUN'}]}
  - {name: host takes a job, contains: /orchestrate, turn: 2, do: [{shell: 'orchestrate next RUN --wait 50s --json'}]}
  - {name: host gives it on, contains: /orchestrate, turn: 3, do: [{tool: {names: [Agent], input: {subagent_type: general-purpose, description: compare, prompt: 'PROMPT'}}}]}
  - {name: host keeps the answer, contains: /orchestrate, turn: 4, do: [{write: {path: answer.txt, content: 'SAID'}}]}
  - {name: host hands it in, contains: /orchestrate, turn: 5, do: [{shell: 'orchestrate submit RUN compare --attempt ATTEMPT --result answer.txt'}]}
  - {name: host waits again, contains: /orchestrate, turn: 6, do: [{shell: 'orchestrate wait RUN'}]}
  - {name: host tells, contains: /orchestrate, do: [{text: '{{find (?s)\*\*Orchestrate Result\*\*.*}}'}]}
`

// stops is a model that takes the skill, looks for the program, and tells what the skill
// says of what it sees.
const stops = `
rules:` + hostedOthers + `
  - {name: host looks, contains: /orchestrate, turn: 0, do: [{shell: orchestrate version --json}]}
  - {name: host stops, contains: /orchestrate, do: [{text: 'Step 1: {{find \| SEES \| ([^|]+) \|}} It says: {{tool_result}}'}]}
`

// marketplace and pluginDir are the folders that claude installs from.
func marketplace(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	ok(t, err)
	return root
}

func pluginDir(t *testing.T) string { return filepath.Join(marketplace(t), "plugins", "orchestrate") }

func skillLab(t *testing.T, scenario string) *lab {
	t.Helper()
	t.Parallel()
	l := newAgentLab(t, scenario, nil, claude())
	l.vouch()
	l.repository("jobs.yaml", skillGraph, "one.txt", "first\n")
	return l
}

// claudeWith is the command line of a claude that has the plugin and may call the program.
func (l *lab) claudeWith(prompt string) []string {
	l.t.Helper()
	return []string{
		filepath.Join(l.bin, "claude"), "-p", prompt, "--plugin-dir", pluginDir(l.t), "--output-format", "stream-json", "--verbose", "--allowedTools", "Skill,Agent,Bash(orchestrate *),mcp__plugin_orchestrate_orchestrate__*", "--permission-mode", "acceptEdits",
	}
}

func TestClaudeValidatesAndInstallsThePlugin(t *testing.T) {
	l := skillLab(t, idle)
	claude := filepath.Join(l.bin, "claude")
	for _, args := range [][]string{
		{"plugin", "validate", "--strict", marketplace(t)},
		{"plugin", "validate", "--strict", pluginDir(t)},
		{"plugin", "marketplace", "add", marketplace(t)},
		{"plugin", "install", "orchestrate@orchestrate"},
	} {
		l.command("", append([]string{claude}, args...)...)
	}
	if details := l.command("", claude, "plugin", "details", "orchestrate"); !strings.Contains(details, "Skills (1)  orchestrate") {
		t.Errorf("what is installed:\n%s", details)
	}
}

// The real claude loads the skill from the plugin, and a model that does what it says
// ends with the completion block of the program.
func TestTheSkillLeadsToTheCompletionBlock(t *testing.T) {
	l := skillLab(t, follows)
	l.installProgram()
	e := l.hosts(l.claudeWith("Be thorough and do jobs.yaml in parallel.")...).wants(0).sound()
	l.sentTheSkill(filepath.Join(pluginDir(t), "skills", "orchestrate"))
	if j := e.verdict(); j.Verdict != "pass" {
		t.Errorf("verdict %q: %q", j.Verdict, j.Why)
	}
	last := e.lastWords()
	for _, text := range []string{"**Orchestrate Result**", "- Arbiter: pass", "- Jobs: 1/1/0"} {
		if !strings.Contains(last, text) {
			t.Errorf("%q is not in the session's last words:\n%s\n%s", text, last, e.asks())
		}
	}
	e.keepTranscript("claude-skill")
}

// The same with a job that a subagent of the session does.
func TestTheSkillLeadsASubagent(t *testing.T) {
	t.Parallel()
	l := newAgentLab(t, hostWords(dispatches), nil, claude())
	l.installProgram()
	l.vouch()
	l.repository(
		"jobs.yaml", strings.Replace(hostedGraph, "ARBITER", "claude", 1), "agents.json", shellAgents,
		"one.txt", "first\n", "two.txt", "second\n", ".gitignore", "answer.txt\n",
	)
	e := l.hosts(l.claudeWith("/orchestrate jobs.yaml")...).wants(0).sound()
	l.sentTheSkill(filepath.Join(pluginDir(t), "skills", "orchestrate"))
	e.handedIn("compare", "me", "the notes differ in one word")
	if waited := e.asks(); !strings.Contains(waited, "Exit code 4") || !strings.Contains(waited, "job compare awaiting") {
		t.Errorf("the session did not see that a job awaits it:\n%s", waited)
	}
	if last := e.lastWords(); !strings.HasPrefix(last, "**Orchestrate Result**") || !strings.Contains(last, "- Jobs: 2/2/0") {
		t.Errorf("the session's last words:\n%s\n%s", last, e.asks())
	}
}

// sentTheSkill: the model was sent the text of the skill and where its references are.
func (l *lab) sentTheSkill(dir string) {
	l.t.Helper()
	_, body, _ := strings.Cut(strings.TrimPrefix(skillText(l.t), "---\n"), "\n---\n")
	if !slices.ContainsFunc(l.sim.Requests(), func(r modelsim.Request) bool {
		user := strings.Join(r.User, "\n")
		return strings.Contains(user, strings.TrimSpace(body)) && strings.Contains(user, dir)
	}) {
		l.t.Errorf("the skill was not sent:\n%s", l.asks())
	}
}

func skillText(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(pluginDir(t), "skills", "orchestrate", "SKILL.md"))
	ok(t, err)
	return string(data)
}

// The session of a model that does what step 1 of the skill says ends with what the user
// is to do when the program is not there or is not the one of the skill. A server of the
// plugin's that cannot start is in nobody's way.
func TestTheFirstStepOfTheSkill(t *testing.T) {
	for _, c := range []struct{ name, prints, sees, says, then string }{
		{"no program", "", "no such command", "stop. Tell the user that the program is not installed.", "make install"},
		{"an older program", `{"schemaVersion":1,"version":"0.0.1"}`, "a lower version", "stop. The program is older than this skill", "make install"},
		{"a newer program", `{"schemaVersion":1,"version":"9.0.0"}`, "a higher version", "go on, but this skill is the older one", "orchestrate skill install"},
		{"another program", "hello", "anything else than JSON with a `version`", "stop. Another program has that name", "command -v orchestrate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := skillLab(t, strings.Replace(stops, "SEES", c.sees, 1))
			shows := "not found"
			if c.prints != "" {
				shows = c.prints
				l.file("bin/orchestrate", "#!/bin/sh\necho '"+c.prints+"'\n")
				ok(t, os.Chmod(filepath.Join(l.bin, "orchestrate"), 0o700))
			}
			e, left := l.watched(l.claudeWith("/orchestrate jobs.yaml"))
			if e.wants(0); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			l.sentTheSkill(filepath.Join(pluginDir(t), "skills", "orchestrate"))
			last := e.lastWords()
			for _, text := range []string{"Step 1: " + c.says, c.then, shows} {
				if !strings.Contains(last, text) {
					t.Errorf("%q is not in the session's last words:\n%s\n%s", text, last, e.asks())
				}
			}
		})
	}
}

// lastWords is how claude ended.
func (e *ended) lastWords() string {
	e.t.Helper()
	for line := range strings.Lines(e.stdout) {
		var event struct{ Type, Result string }
		if ok(e.t, json.Unmarshal([]byte(line), &event)); event.Type == "result" {
			return event.Result
		}
	}
	e.t.Fatalf("the session has no result:\n%s%s", e.stdout, e.stderr)
	return ""
}

var namedCommand = regexp.MustCompile("(?m)(?:`|^ *)orchestrate ([a-z]+)(?: (install|uninstall))?")

// The commands that the skill names are there.
func TestTheSkillNamesCommandsThatAreThere(t *testing.T) {
	l := skillLab(t, idle)
	files, err := filepath.Glob(filepath.Join(pluginDir(t), "skills", "orchestrate", "references", "*.md"))
	ok(t, err)
	seen := map[string]bool{}
	for _, path := range append(files, filepath.Join(pluginDir(t), "skills", "orchestrate", "SKILL.md")) {
		data, err := os.ReadFile(path)
		ok(t, err)
		for _, m := range namedCommand.FindAllStringSubmatch(string(data), -1) {
			if line := strings.TrimSpace(m[1] + " " + m[2]); !seen[line] {
				seen[line] = true
				l.orchestrate(append(strings.Fields(line), "--help")...).wants(0)
			}
		}
	}
	for _, name := range []string{"version", "plan", "run", "wait", "next", "submit", "report"} {
		if !seen[name] {
			t.Errorf("the skill does not name orchestrate %s", name)
		}
	}
}

// The real claude has the skill where the program installs it, and where its folder is
// copied to.
func TestClaudeHasTheInstalledSkill(t *testing.T) {
	for _, c := range []struct{ name, dir string }{{"installed", "home/.claude/skills/orchestrate"}, {"copied", "work/.claude/skills/orchestrate"}} {
		t.Run(c.name, func(t *testing.T) {
			l := skillLab(t, "rules: [{do: [{text: seen}]}]")
			dir := filepath.Join(l.base, c.dir)
			if c.name == "installed" {
				l.orchestrate("skill", "install", "--claude").wants(0)
			} else {
				ok(t, os.CopyFS(dir, os.DirFS(filepath.Join(pluginDir(t), "skills", "orchestrate"))))
			}
			e, left := l.watched([]string{filepath.Join(l.bin, "claude"), "-p", "/orchestrate jobs.yaml", "--output-format", "stream-json", "--verbose"})
			if e.wants(0); len(left) > 0 || e.lastWords() != "seen" {
				t.Errorf("left: %q, says %q", left, e.lastWords())
			}
			l.sentTheSkill(dir)
		})
	}
}

// The real codex lists the skill that the program installed for it, sends all of it when
// it is named, and is rid of it afterwards.
func TestCodexListsTheInstalledSkill(t *testing.T) {
	t.Parallel()
	about := regexp.MustCompile(`(?m)^description: *(.*)$`).FindStringSubmatch(skillText(t))
	if about == nil {
		t.Fatal("the skill has no description in one line")
	}
	l := newAgentLab(t, "rules: [{do: [{text: seen}]}]", map[string]string{"ABOUT": strings.Trim(about[1], `"'`)[:60]}, codex())
	l.repository("one.txt", "first\n")
	l.orchestrate("skill", "install", "--codex").wants(0)
	e, left := l.watched([]string{filepath.Join(l.bin, "codex"), "exec", "--json", "-c", "analytics.enabled=false", "Use $orchestrate for this."})
	if e.wants(0); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if !slices.ContainsFunc(l.sim.Requests(), func(r modelsim.Request) bool {
		return slices.Contains(r.Nonces, "ABOUT") && strings.Contains(strings.Join(r.User, "\n"), "<name>orchestrate</name>")
	}) {
		t.Errorf("the skill is not in what codex asks:\n%s", l.asks())
	}
	l.orchestrate("skill", "uninstall", "--codex").wants(0)
	if _, err := os.Lstat(filepath.Join(l.base, "codex", "skills", "orchestrate")); !os.IsNotExist(err) {
		t.Errorf("the skill is still there: %v", err)
	}
}
