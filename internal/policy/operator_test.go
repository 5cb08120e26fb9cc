package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseOperator(t *testing.T) {
	got := operator(t, `
enabled: [one, two]
runtimes:
  one: {model: big, capability: C3, family: maker}
  two: {project: true}
secrets: {allow: ["rule:0123456789abcdef"]}
sandbox: {writable: [~/scratch, /srv/cache], readable: [~/.ssh]}
worktree_root: ~/trees
`)
	want := Operator{
		File:     "config.yaml",
		Enabled:  []string{"one", "two"},
		Runtimes: map[string]RuntimeRule{"one": {Model: "big", Capability: C3, Family: "maker"}, "two": {Project: true}},
		Sandbox:  SandboxRule{Writable: []string{"~/scratch", "/srv/cache"}, Readable: []string{"~/.ssh"}},
		Secrets:  SecretRule{Allow: []string{"rule:0123456789abcdef"}}, WorktreeRoot: "~/trees",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Allows("three") || !got.Allows("one") || !(Operator{}).Allows("three") {
		t.Error("enabled is not kept")
	}
	for _, empty := range []string{"", "# nothing\n", string(OperatorStarter())} {
		if diff := cmp.Diff(Operator{}, operator(t, empty)); diff != "" {
			t.Errorf("%q: %s", empty, diff)
		}
	}
}

func TestParseOperatorRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"enable: [x]":                                        "enable",
		"runtimes: {one: {tier: C3}}":                        "tier",
		"runtimes: {one: {capability: C4}}":                  `config.yaml:1: runtimes.one.capability: found "C4"; allowed are C1, C2 and C3`,
		"runtimes: {one: {models: {m: {capability: high}}}}": "runtimes.one.models.m.capability",
		"worktree_root: trees":                               "worktree_root",
		"enabled: [a]\nenabled: [b]":                         "enabled",
		"enabled: [a]\n---\nenabled: [b]":                    "one document",
		"enabled: {a: b}":                                    "config.yaml:1: ",
		"enabled: [a":                                        "config.yaml:",
		"#" + strings.Repeat("x", maxOperator):               "at most",
	} {
		if _, err := ParseOperator("config.yaml", []byte(text), nil, "/home/me"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// A runtime that the operator describes is beside the rest that is said of it.
func TestDescribedRuntimes(t *testing.T) {
	op := operator(t, `
runtimes:
  claude: {capability: C2}
  mine:
    capability: C3
    custom: {argv: [mine, -p], output: text}
`)
	described := op.Described()
	if len(described) != 1 || described["mine"].Argv[1] != "-p" || op.Runtimes["mine"].Capability != C3 {
		t.Errorf("described %+v", described)
	}
}

// Every mistake is said, with its line.
func TestMistakesComeAllTogether(t *testing.T) {
	for text, want := range map[string][]string{
		`runtimes:
  claude:
    custom: {argv: [x], output: text}
  internal:
    custom: {argv: [x], output: text}
  a b:
    custom:
      argv: [x]
      output: xml
      sign_in:
        ok: "("
  fine:
    capability: C9
    custom: {argv: [x], output: text, state: [~/.fine, ~/.ssh]}
worktree_root: here
sandbox:
  writable:
    - scratch
    - /home/me/.config
  readable: [~/.ssh, /home]
`: {
			"config.yaml:2: runtimes.claude: claude is a runtime that orchestrate knows by itself",
			"config.yaml:4: runtimes.internal: internal means something else",
			"config.yaml:6: runtimes.a b: the name of a runtime",
			"config.yaml:9: runtimes.a b.custom.output: found \"xml\"; allowed: text, json-last-line, stream-json, acp",
			"config.yaml:11: runtimes.a b.custom.sign_in.ok: is no regular expression",
			"config.yaml:10: runtimes.a b.custom.sign_in.args: is missing",
			"config.yaml:13: runtimes.fine.capability: found \"C9\"",
			"config.yaml:14: runtimes.fine.custom.state.1: found \"~/.ssh\", and with it jobs could change ~/.ssh",
			"config.yaml:15: worktree_root: found \"here\"",
			"config.yaml:18: sandbox.writable.0: found \"scratch\"; write an absolute path",
			"config.yaml:19: sandbox.writable.1: found \"/home/me/.config\", and with it jobs could change ~/.config/gh",
			"config.yaml:20: sandbox.readable.1: found \"/home\", which takes in the whole home folder",
		},
		"runtimes:\n  x:\n    custom:\n      argv: [x]\n      outptu: text\n      modl: [a]\n      stop: [b]\n": {
			"config.yaml:5: unknown key outptu", "config.yaml:6: unknown key modl", "config.yaml:7: ",
		},
	} {
		_, err := ParseOperator("config.yaml", []byte(text), []string{"claude"}, "/home/me")
		if err == nil {
			t.Fatalf("accepted\n%s", text)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q is not in\n%s", w, err)
			}
		}
		if got := strings.Count(err.Error(), "\n") + 1; got != len(want) {
			t.Errorf("%d mistakes are told, want %d:\n%s", got, len(want), err)
		}
	}
}

// What the operator opens is a folder of work, never the keys of a person or all there is.
func TestWhatTheSandboxMayOpen(t *testing.T) {
	for path, want := range map[string]string{
		"~/scratch": "", "/srv/cache": "", "~/.cache": "", "~/.ssh2": "", "/tmp": "",
		"~/.ssh": "~/.ssh", "~/.ssh/config.d": "~/.ssh", "/home/me/.aws": "~/.aws", "~/.config": "~/.config/gh",
		"~/.docker": "~/.docker/config.json", "~/x/../.gnupg": "~/.gnupg", "~/.local/share": "keyrings",
		"~/": "whole home", "/": "whole home", "/home": "whole home", "/home/me/": "whole home", "~/..": "whole home",
		"~": "begins with ~/", "scratch": "begins with ~/", "": "begins with ~/", "~other/x": "begins with ~/",
	} {
		for _, home := range []string{"/home/me", ""} {
			if home == "" && strings.HasPrefix(path, "/home") {
				continue // nobody knows whose that is
			}
			got := SandboxRule{Writable: []string{path}}.mistakes(home)
			if (len(got) > 0) != (want != "") || want != "" && !strings.Contains(got[0].text, want) {
				t.Errorf("writable %q of %q: %+v, want %q", path, home, got, want)
			}
		}
	}
	if got := (SandboxRule{Readable: []string{"~/.ssh", "~/.config/gh", "/home/other"}}).mistakes("/home/me"); len(got) > 0 {
		t.Errorf("readable: %+v", got)
	}
}

func FuzzParseOperator(f *testing.F) {
	f.Add([]byte("enabled: [one]\nruntimes: {one: {capability: C3}}"))
	f.Add(OperatorStarter())
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		op, err := ParseOperator("config.yaml", data, nil, "/home/me")
		if err == nil && op.mistakes(nil, "/home/me") != nil {
			t.Error("an invalid configuration was accepted")
		}
	})
}
