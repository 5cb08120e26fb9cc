//go:build e2e && linux

package e2e

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
)

// What a project can put into its folder for the agents that work there: programs that
// these would start, and texts that they would take for instructions. Each program
// leaves a mark, each text holds a nonce.
const (
	hook      = `{"hooks": [{"type": "command", "command": "touch %MARKS%/%NAME%"}]}`
	server    = `{"command": "sh", "args": ["-c", "touch %MARKS%/%NAME%"]}`
	modHook   = `{"hooks": {"SessionStart": [` + hook + `]}, "tools": {"enableHooks": true}, "mcpServers": {"mark": ` + server + `}}`
	plugin    = "import fs from 'node:fs'\nfs.writeFileSync('%MARKS%/%NAME%', '')\nexport const Mark = async () => ({})\nexport default function () {}\n"
	openTable = `{"mcp": {"mark": {"type": "local", "command": ["sh", "-c", "touch %MARKS%/%NAME%"], "enabled": true}}, "instructions": ["EXTRA.md"]}`
)

// project maps the files to what they hold; "" is a text with a nonce of its own.
func project() map[string]string {
	return map[string]string{
		"CLAUDE.md": "", "AGENTS.md": "", "GEMINI.md": "", "QWEN.md": "", "EXTRA.md": "", ".github/copilot-instructions.md": "",
		".clinerules/rule.md": "", ".kilocode/rules/rule.md": "",
		".claude/settings.json":         `{"hooks": {"SessionStart": [` + hook + `]}}`,
		".gemini/settings.json":         modHook,
		".qwen/settings.json":           modHook,
		"opencode.json":                 openTable,
		"kilo.json":                     openTable,
		".opencode/plugin/mark.js":      plugin,
		".kilo/plugin/mark.js":          plugin,
		".codex/config.toml":            "[mcp_servers.mark]\ncommand = \"sh\"\nargs = [\"-c\", \"touch %MARKS%/%NAME%\"]\n",
		".codex/hooks.json":             `{"hooks": {"SessionStart": [` + hook + `]}}`,
		".github/hooks/mark.json":       `{"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "touch %MARKS%/%NAME%"}]}}`,
		".github/copilot/settings.json": `{"hooks": {"sessionStart": [{"type": "command", "bash": "touch %MARKS%/%NAME%"}]}}`,
		".pi/extensions/mark.ts":        plugin,
		".clinerules/hooks/TaskStart":   "#!/bin/sh\ntouch %MARKS%/%NAME%\n",
	}
}

// brings writes the project's files below a folder of the lab.
func (l *lab) brings(dir string, nonces map[string]string) {
	l.t.Helper()
	for name, content := range project() {
		if content == "" {
			content = "The word of this text is " + nonces[filepath.Join(dir, name)] + ".\n"
		}
		mark := strings.ReplaceAll(filepath.Join(dir, name), "/", "_")
		l.file(filepath.Join(dir, name), strings.NewReplacer("%MARKS%", filepath.Join(l.base, "marks"), "%NAME%", mark).Replace(content))
	}
}

// texts makes up a nonce for each text of the folders.
func texts(dirs ...string) map[string]string {
	nonces := map[string]string{}
	for _, dir := range dirs {
		for name, content := range project() {
			if content == "" {
				nonces[filepath.Join(dir, name)] = "nonce-" + strings.ToLower(rand.Text())
			}
		}
	}
	return nonces
}

// reached is what got through: the marks of programs that were started, and the texts
// that a model was shown.
func (l *lab) reached() []string {
	l.t.Helper()
	var all []string
	entries, err := os.ReadDir(filepath.Join(l.base, "marks"))
	ok(l.t, err)
	for _, e := range entries {
		all = append(all, "ran "+e.Name())
	}
	for _, r := range l.sim.Requests() {
		for _, name := range r.Nonces {
			all = append(all, "read "+name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const wordOfTheDay = `
models: [made-up-model]
rules:
  - {name: which model, json: true, do: [{text: '{"reasoning": "it is simple", "model_choice": "flash", "complexity_reasoning": "it is simple", "complexity_score": 10}'}]}
  - {name: beside, tools: false, do: [{text: a few words}]}
  - {name: answer, do: [{text: all is done}]}
`

// observed runs one observer of the agent in a checkout that brings all there is, below
// a folder that does so too.
func (a agent) observed(t *testing.T, config string) (*ended, []string) {
	t.Helper()
	nonces := texts("work", ".")
	l := newAgentLab(t, wordOfTheDay, nonces, a)
	ok(t, os.Mkdir(filepath.Join(l.base, "marks"), 0o700))
	l.brings("work", nonces)
	l.brings(".", nonces)
	l.file("home/.config/orchestrate/config.yaml", config)
	l.repository()
	e := l.spec("version: 1\narbiter: {mode: checks-only}\ndefaults: {runtime: " + a.name + ", timeout: 5m, expected_output: a word" + model(a) + "}\njobs:\n  - id: look\n    task: scout\n    prompt: Say the word of the day.\n")
	return e, e.reached()
}

// gotThrough is what each agent takes from a project, as a rule and where the operator
// lets it in. What is not here takes nothing.
func gotThrough() map[string]struct{ always, allowed []string } {
	return map[string]struct{ always, allowed []string }{
		"claude":       {allowed: []string{"ran work_.claude_settings.json", "read CLAUDE.md", "read work/CLAUDE.md"}},
		"codex":        {},
		"gemini":       {always: []string{"read work/GEMINI.md"}, allowed: []string{"ran work_.gemini_settings.json", "read work/GEMINI.md"}},
		"copilot":      {allowed: []string{"read work/.github/copilot-instructions.md", "read work/AGENTS.md", "read work/CLAUDE.md", "read work/GEMINI.md"}},
		"pi":           {allowed: []string{"read AGENTS.md", "read work/AGENTS.md"}},
		"command-code": {always: []string{"read work/AGENTS.md"}, allowed: []string{"read work/AGENTS.md"}},
		"cline": {
			always:  []string{"ran work_.clinerules_hooks_TaskStart", "read work/.clinerules/rule.md", "read work/AGENTS.md"},
			allowed: []string{"ran work_.clinerules_hooks_TaskStart", "read work/.clinerules/rule.md", "read work/AGENTS.md"},
		},
	}
}

// unheld: no sandbox of ours is around, so that what keeps the project out is the
// agent's own.
const unheld = "sandbox: {off: true}\n"

func TestWhatAProjectBrings(t *testing.T) {
	for _, a := range agents() {
		want, known := gotThrough()[a.name]
		if !known {
			continue
		}
		for config, want := range map[string][]string{"": want.always, "runtimes: {" + a.name + ": {project: true}}\n": want.allowed} {
			t.Run(a.name+" "+config, func(t *testing.T) {
				e, got := a.observed(t, unheld+config)
				if s := e.status("look"); s.Status != ledger.Success {
					t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
				}
				if !slices.Equal(got, want) {
					t.Errorf("got through:\n%q\nwant\n%q", got, want)
				}
			})
		}
	}
}

// opencode loads a project's plugins whatever it is told, so that it works in no such
// folder unless the operator lets the project in.
func TestOpencodeAndAProjectWithCode(t *testing.T) {
	e, got := opencode().observed(t, unheld)
	if s := e.status("look"); s.Status != ledger.Blocked || !strings.Contains(s.ReasonEvidence.Unshown(), "project: true") || len(got) > 0 {
		t.Errorf("%s: %s; got through: %q", s.Status, s.ReasonEvidence, got)
	}
}

func TestOpencodeAndAProjectThatIsLetIn(t *testing.T) {
	e, got := opencode().observed(t, unheld+"runtimes: {opencode: {project: true}}\n")
	if s := e.status("look"); s.Status != ledger.Success || !slices.Equal(got, []string{"ran work_.opencode_plugin_mark.js"}) {
		t.Errorf("%s: %s; got through: %q", s.Status, s.ReasonEvidence, got)
	}
}

// qwen brings settings of an older form up to date in whatever project it looks at. In
// the sandbox it does without, and so the checkout is as it was.
func TestQwenInAProjectThatItWouldChange(t *testing.T) {
	e, got := qwen().observed(t, "")
	if s := e.status("look"); s.Status != ledger.Success || len(got) > 0 {
		t.Errorf("%s: %s; got through: %q", s.Status, s.ReasonEvidence, got)
	}
}

// Configuration of a folder above is none of a job's, which works in a tree of its own in
// the checkout.
func TestOpencodeReadsNoConfigurationOfParentFolders(t *testing.T) {
	a, nonces := opencode(), texts(".")
	l := newAgentLab(t, strings.Replace(wordOfTheDay, "rules:\n", "rules:\n  - {name: write, contains: Make the file made.txt., turn: 0, do: [{write: {path: made.txt, content: x}}]}\n", 1), nonces, a)
	ok(t, os.Mkdir(filepath.Join(l.base, "marks"), 0o700))
	l.repository("README.md", "x")
	l.brings(".", nonces)
	e := l.spec("version: 1\narbiter: {mode: checks-only}\ndefaults: {runtime: opencode, timeout: 5m, expected_output: a file}\njobs:\n" +
		"  - {id: write, task: docs, effect: scoped-write, isolation: worktree, owned_paths: [made.txt], prompt: Make the file made.txt.}\n")
	if s := e.status("write"); s.Status != ledger.Success {
		t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
	}
	if got := l.reached(); len(got) > 0 {
		t.Errorf("got through: %q", got)
	}
}
