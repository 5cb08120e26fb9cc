// Package fakecli impersonates the claude and codex command lines well enough for
// the real adapters, for tests that must not depend on an installed CLI. Put first
// on PATH under a runtime's name it answers the adapter's questions and plays jobs
// from a scenario file, in that CLI's own wire format.
//
// The scenario is the file that $FAKECLI_SCENARIO names, else fakecli.yaml beside
// the executable as it was called, else .fakecli.yaml in $HOME, else an empty one
// (signed in, one model, every job answered). YAML or JSON:
//
//	signed_out: false
//	hide_flags: [--effort]         # left out of help, and refused
//	open_sandbox: false            # codex's sandbox lets every write through
//	hang: [auth]                   # questions that get no answer
//	answers: {auth: "?!"}          # questions that get this answer instead
//	models:
//	  - {id: big, resolved: maker-big-1, efforts: [low, high], default: true}
//	agents: [reviewer]
//	sessions: true                 # each job has a session of its own, which can be resumed from its folder
//	renews: true                   # in the place of a session that it is to go on with it begins another one
//	runs:                          # the first that matches the prompt plays
//	  - match: "text of the prompt"
//	    unless_exists: /tmp/second # does not match once that file is there
//	    once: /tmp/first           # matches only who makes that file
//	    recall: "key-[0-9]+"        # matches only if an earlier prompt of the session does; answers with that
//	    broken: "bad config"       # says so on standard error instead of beginning
//	    steps:                     # as in the stand-in's scripts
//	      - write: {path: a.txt, content: x}
//	      - answer: done
//
// The questions are version, help, auth, models, agents and, for codex, features
// and sandbox. An option that help does not show is refused as the real CLI does.
package fakecli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// Main impersonates the CLI that argv0 is named after and returns its exit status.
func Main(argv0 string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, err := load(argv0)
	if err != nil {
		fmt.Fprintf(stderr, "fakecli: %v\n", err)
		return 70
	}
	c := &call{scenario: s, args: args, in: stdin, out: stdout, err: stderr}
	switch name := strings.TrimSuffix(filepath.Base(argv0), ".exe"); name {
	case "claude":
		return c.claude()
	case "codex":
		return c.codex()
	default:
		fmt.Fprintf(stderr, "fakecli: no idea how to be %q; call it claude or codex\n", name)
		return 70
	}
}

// call is one invocation of the fake.
type call struct {
	scenario Scenario
	args     []string
	in       io.Reader
	out, err io.Writer
}

// question answers one probe, unless the scenario hangs it or overrides it.
func (c *call) question(name string, answer func() int) int {
	for _, h := range c.scenario.Hang {
		if h == name {
			time.Sleep(24 * time.Hour) // the supervisor ends it
		}
	}
	if text, ok := c.scenario.Answers[name]; ok {
		fmt.Fprintln(c.out, text)
		return 0
	}
	return answer()
}

// print is an answer that is a text.
func (c *call) print(text string) func() int {
	return func() int {
		fmt.Fprintln(c.out, strings.TrimRight(text, "\n"))
		return 0
	}
}

// begins says whether the arguments begin with these words.
func (c *call) begins(words ...string) bool {
	if len(c.args) < len(words) {
		return false
	}
	for i, w := range words {
		if c.args[i] != w {
			return false
		}
	}
	return true
}

func (c *call) has(flag string) bool {
	_, ok := c.value(flag)
	return ok
}

// value is that of --flag=value or --flag value; "" for a switch.
func (c *call) value(flag string) (string, bool) {
	for i, a := range c.args {
		if name, v, ok := strings.Cut(a, "="); ok && name == flag {
			return v, true
		}
		if a != flag {
			continue
		}
		if i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1], "-") {
			return c.args[i+1], true
		}
		return "", true
	}
	return "", false
}

// unknown is the first option in the arguments that help does not show.
func (c *call) unknown(help string) string {
	shown := map[string]bool{}
	for field := range strings.FieldsSeq(help) {
		shown[strings.TrimRight(field, ",")] = true
	}
	for _, a := range c.args {
		name, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(a, "-") && a != "-" && !shown[name] {
			return name
		}
	}
	return ""
}
